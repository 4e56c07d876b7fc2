#include "demo/load.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/scan.h"
#include "demo/prose.h"
#include "demo/random.h"
#include "demo/weights.h"
#include "http/address.h"
#include "http/client.h"

#include <errno.h>
#include <inttypes.h>

#define PATH          "/v1/completions"
#define LINE_MAX_SIZE 65536
#define PATIENCE_NS   (600 * PT_NS_PER_SECOND) /* for one request, if there is no other limit */

/* A client: sends one request after the other. */
struct slot {
    struct load *load;
    struct pt_buf order; /* JSON */
    struct pt_buf line;  /* the received part of the next line */
    size_t token_count;
    int64_t token_ns; /* of the last one */
    uint64_t prompt_count, completion_count;
    bool is_done;
};

struct load {
    struct pt_load_options options;
    char *url;
    const char *unix_path; /* or NULL */
    struct slot *slots;
    struct pt_http_request *requests;
    int64_t deadline_ns; /* INT64_MAX without */
    uint64_t random;
    size_t started_count;
    struct pt_samples first_token_ns, inter_token_ns, e2e_ns;
    struct pt_load_result result;
    struct pt_err first_failure;
};

static bool has(struct pt_str text, struct pt_str part) {
    return memmem(text.at, text.len, part.at, part.len) != NULL;
}

/* The number after `"name":`, 0 if there is none. */
static uint64_t number_after(struct pt_str text, struct pt_str name) {
    const char *found = memmem(text.at, text.len, name.at, name.len);
    if (!found)
        return 0;
    struct pt_scan s = { found + name.len, text.at + text.len, false };
    return pt_scan_u64(&s);
}

static void take_token(struct slot *slot, int64_t start_ns, int64_t now_ns) {
    struct load *l = slot->load;
    if (slot->token_count++ == 0)
        pt_samples_add(&l->first_token_ns, now_ns - start_ns);
    else
        pt_samples_add(&l->inter_token_ns, now_ns - slot->token_ns);
    slot->token_ns = now_ns;
    l->result.generated_count++;
}

static void take_line(struct slot *slot, struct pt_str line, int64_t start_ns, int64_t now_ns) {
    if (has(line, PT_STR("\"finish_reason\":null"))) {
        take_token(slot, start_ns, now_ns);
    } else if (has(line, PT_STR("\"usage\":{"))) {
        slot->prompt_count = number_after(line, PT_STR("\"prompt_tokens\":"));
        slot->completion_count = number_after(line, PT_STR("\"completion_tokens\":"));
    } else if (has(line, PT_STR("[DONE]"))) {
        slot->is_done = true;
    }
}

/* Pieces end anywhere, lines with a newline. */
static bool on_data(struct pt_http_request *r, struct pt_str piece) {
    struct slot *slot = r->user;
    int64_t now_ns = pt_mono_ns();
    const char *newline;
    while (piece.len > 0 && (newline = memchr(piece.at, '\n', piece.len))) {
        size_t n = (size_t)(newline - piece.at);
        pt_buf_bytes(&slot->line, piece.at, n);
        take_line(slot, pt_buf_as_str(&slot->line), r->start_ns, now_ns);
        pt_buf_clear(&slot->line);
        piece = pt_str_skip(piece, n + 1);
    }
    pt_buf_str(&slot->line, piece);
    return slot->line.len < LINE_MAX_SIZE;
}

/* Many short prompts and some long ones, in characters: a token has at least one. */
static size_t prompt_length(struct load *l) {
    size_t longest = l->options.context / 2;
    while (longest > 16 && pt_random_next(&l->random) % 2)
        longest /= 2;
    return pt_random_between(&l->random, longest / 2, longest - 1);
}

static void write_order(struct load *l, struct pt_buf *order) {
    struct pt_buf prompt = { 0 };
    struct pt_out out;
    struct pt_json j = { .out = &out };
    size_t context = l->options.context;
    pt_prose_append(&prompt, prompt_length(l), &l->random);
    pt_buf_clear(order);
    pt_out_memory(&out, order);
    pt_json_object(&j, NULL);
    pt_json_str(&j, "prompt", pt_buf_as_str(&prompt));
    pt_json_i64(&j, "max_tokens",
                (int64_t)pt_random_between(&l->random, context / 32 + 1, context / 4));
    pt_json_f64(&j, "temperature", 0.8);
    pt_json_i64(&j, "seed", (int64_t)(pt_random_next(&l->random) >> 1));
    pt_json_bool(&j, "stream", true);
    pt_json_end(&j);
    pt_out_close(&out);
    pt_buf_release(&prompt);
}

/* False when requests or time are used up. */
static bool prepare(struct slot *slot, struct pt_http_request *r) {
    struct load *l = slot->load;
    int64_t left_ns = l->deadline_ns - pt_mono_ns();
    if (l->started_count >= l->options.request_count || left_ns <= 0)
        return false;
    l->started_count++;
    write_order(l, &slot->order);
    pt_buf_clear(&slot->line);
    slot->token_count = 0;
    slot->prompt_count = slot->completion_count = 0;
    slot->is_done = false;
    r->post = pt_buf_as_str(&slot->order);
    r->timeout_ns = left_ns < PATIENCE_NS ? left_ns : PATIENCE_NS;
    return true;
}

static void fail(struct load *l, int rc, const char *words) {
    if (l->result.failed_count++ == 0)
        pt_fail(&l->first_failure, rc, "%s: %s", l->options.url, words);
}

/* A client stops after a failed request. */
static bool on_end(struct pt_http_request *r) {
    struct slot *slot = r->user;
    struct load *l = slot->load;
    bool had_until_the_end = r->timeout_ns < PATIENCE_NS; /* see prepare() */
    if (r->error == -ETIMEDOUT && had_until_the_end) {
        l->result.cut_count++;
        return false;
    }
    if (r->error || !slot->is_done || slot->completion_count != slot->token_count) {
        fail(l, r->error ? r->error : -EBADMSG, r->error ? r->words : "the answer is incomplete");
        return false;
    }
    l->result.finished_count++;
    l->result.prompt_count += slot->prompt_count;
    pt_samples_add(&l->e2e_ns, r->end_ns - r->start_ns);
    return prepare(slot, r);
}

static struct pt_load_options with_defaults(const struct pt_load_options *given) {
    struct pt_load_options o = *given;
    if (!(o.seconds > 0) && !o.request_count)
        o.seconds = 5;
    if (!o.request_count)
        o.request_count = SIZE_MAX;
    if (!o.concurrency)
        o.concurrency = 16;
    if (!o.context)
        o.context = pt_model_config_default.context;
    return o;
}

static int find_target(struct load *l, struct pt_err *err) {
    struct pt_str url = pt_str_from(l->options.url);
    if (pt_str_starts(url, PT_STR("unix:"))) {
        l->unix_path = l->options.url + strlen("unix:");
        l->url = pt_strdup("http://localhost" PATH);
        return 0;
    }
    if (!pt_http_url_is_loopback(url))
        return pt_fail(err, -EINVAL,
                       "%s is not of this machine; the load takes http://127.0.0.1:PORT or "
                       "unix:PATH",
                       l->options.url);
    while (pt_str_ends(url, PT_STR("/")))
        url.len--;
    l->url = pt_asprintf("%.*s" PATH, (int)url.len, url.at);
    return 0;
}

static void load_init(struct load *l, const struct pt_load_options *given) {
    *l = (struct load){ .options = with_defaults(given), .random = given->seed };
    l->slots = pt_calloc(l->options.concurrency, sizeof *l->slots);
    l->requests = pt_calloc(l->options.concurrency, sizeof *l->requests);
    l->deadline_ns = INT64_MAX;
    if (l->options.seconds > 0)
        l->deadline_ns = pt_mono_ns() + (int64_t)(l->options.seconds * (double)PT_NS_PER_SECOND);
}

static void load_release(struct load *l) {
    for (size_t i = 0; i < l->options.concurrency; i++) {
        pt_buf_release(&l->slots[i].order);
        pt_buf_release(&l->slots[i].line);
        pt_http_request_release(&l->requests[i]);
    }
    pt_free(l->slots);
    pt_free(l->requests);
    pt_free(l->url);
    pt_samples_release(&l->first_token_ns);
    pt_samples_release(&l->inter_token_ns);
    pt_samples_release(&l->e2e_ns);
}

static void drive(struct load *l, struct pt_http_client *client) {
    int64_t start_ns = pt_mono_ns();
    size_t count = 0;
    for (; count < l->options.concurrency; count++) {
        struct slot *slot = &l->slots[count];
        struct pt_http_request *r = &l->requests[count];
        slot->load = l;
        *r = (struct pt_http_request){ .url = l->url,
                                       .unix_path = l->unix_path,
                                       .accept = "text/event-stream",
                                       .on_data = on_data,
                                       .on_end = on_end,
                                       .user = slot };
        if (!prepare(slot, r))
            break;
    }
    pt_http_client_run(client, l->requests, count);
    l->result.seconds = (double)(pt_mono_ns() - start_ns) / (double)PT_NS_PER_SECOND;
    l->result.first_token = pt_samples_latency(&l->first_token_ns);
    l->result.inter_token = pt_samples_latency(&l->inter_token_ns);
    l->result.e2e = pt_samples_latency(&l->e2e_ns);
}

int pt_load_run(const struct pt_load_options *options, struct pt_load_result *result,
                struct pt_err *err) {
    struct load l;
    struct pt_http_client client = { 0 };
    load_init(&l, options);
    int rc = find_target(&l, err);
    if (!rc)
        rc = pt_http_client_open(&client, err);
    if (!rc) {
        drive(&l, &client);
        *result = l.result;
        if (result->failed_count > 0 && result->finished_count == 0)
            rc = pt_fail(err, -EIO, "%s", l.first_failure.text);
    }
    pt_http_client_close(&client);
    load_release(&l);
    return rc;
}

void pt_load_print(const struct pt_load_options *options, const struct pt_load_result *r,
                   struct pt_out *out) {
    struct pt_load_options o = with_defaults(options);
    pt_out_printf(out, "load         %.1f s, %zu requests at a time\n", r->seconds, o.concurrency);
    pt_out_printf(out,
                  "requests     %" PRIu64 " finished, %" PRIu64 " cut off at the end, %" PRIu64
                  " failed\n",
                  r->finished_count, r->cut_count, r->failed_count);
    pt_samples_print_rate(out, "prompt", r->prompt_count, r->seconds);
    pt_samples_print_rate(out, "generated", r->generated_count, r->seconds);
    pt_samples_print_latency(out, "first token", r->first_token);
    pt_samples_print_latency(out, "inter-token", r->inter_token);
    pt_samples_print_latency(out, "end to end", r->e2e);
}
