#include "push/sender.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define FIRST_WAIT_NS  (PT_NS_PER_SECOND / 10)
#define LAST_WAIT_NS   (30 * PT_NS_PER_SECOND)
#define RETRY_AFTER_NS (3600 * PT_NS_PER_SECOND) /* longer delays are ignored */
#define ANSWER_BYTES   ((size_t)64 << 10)

static const char *name_of(const struct pt_push_sender *s) {
    return s->options.protocol->name;
}

/* ---- the list in memory ---- */

void pt_push_sender_put(struct pt_push_sender *s, const struct pt_push_request *request) {
    pthread_mutex_lock(&s->lock);
    if (s->handover_count == PT_PUSH_HANDOVER_MAX) {
        s->refused_points += request->point_count;
    } else {
        size_t at = (s->handover_first + s->handover_count++) % PT_PUSH_HANDOVER_MAX;
        s->handover[at].request = *request;
        pt_buf_clear(&s->handover[at].bytes);
        pt_buf_str(&s->handover[at].bytes, request->bytes);
        pthread_cond_signal(&s->is_changed);
    }
    pthread_mutex_unlock(&s->lock);
}

/* Packs the oldest one into s->packed; false: there is none. */
static bool take(struct pt_push_sender *s, struct pt_push_request *request) {
    pthread_mutex_lock(&s->lock);
    bool is_there = s->handover_count > 0;
    size_t at = s->handover_first;
    pthread_mutex_unlock(&s->lock);
    if (!is_there)
        return false;
    /* It belongs to us until handover_first moves. */
    struct pt_buf *bytes = &s->handover[at].bytes;
    *request = s->handover[at].request;
    pt_buf_clear(&s->packed);
    s->options.protocol->pack(s->options.protocol_state, pt_buf_as_str(bytes), &s->packed);
    request->bytes = pt_buf_as_str(&s->packed);
    pthread_mutex_lock(&s->lock);
    /* An empty list starts at its first place again: few places ever take memory. */
    s->handover_first = --s->handover_count > 0 ? (at + 1) % PT_PUSH_HANDOVER_MAX : 0;
    pthread_mutex_unlock(&s->lock);
    return true;
}

static void to_queue(struct pt_push_sender *s) {
    struct pt_push_request request;
    uint64_t dropped = s->queue.counts.dropped_points;
    while (take(s, &request)) {
        int rc = pt_push_queue_put(&s->queue, &request);
        s->lost_points += rc ? request.point_count : 0;
        if (rc && rc != s->queue_error)
            pt_log(PT_LOG_ERROR,
                   "%s: cannot write to %s: %s (samples that cannot be stored are not sent)",
                   name_of(s), s->options.directory, strerror(-rc));
        else if (!rc && s->queue_error)
            pt_log(PT_LOG_WARNING, "%s: writing to %s works again", name_of(s),
                   s->options.directory);
        s->queue_error = rc;
    }
    pt_push_queue_sync(&s->queue);
    if (dropped == 0 && s->queue.counts.dropped_points > 0)
        pt_log(PT_LOG_WARNING, "%s: push queue for %s is full; dropping the oldest samples",
               name_of(s), s->url);
}

static void publish(struct pt_push_sender *s) {
    const struct pt_push_queue *q = &s->queue;
    pthread_mutex_lock(&s->lock);
    s->counts.waiting_requests = q->waiting_requests;
    s->counts.waiting_points = q->waiting_points;
    s->counts.queue_bytes = q->waiting_requests > 0 ? q->bytes : 0;
    s->counts.oldest_ns = pt_push_queue_oldest_ns(q);
    s->counts.dropped_points = q->counts.dropped_points + s->lost_points;
    pthread_mutex_unlock(&s->lock);
}

void pt_push_sender_counts(struct pt_push_sender *s, struct pt_push_counts *counts) {
    pthread_mutex_lock(&s->lock);
    *counts = s->counts;
    counts->dropped_points += s->refused_points;
    pthread_mutex_unlock(&s->lock);
}

/* ---- sending ---- */

static int64_t deadline_of(struct pt_push_sender *s) {
    pthread_mutex_lock(&s->lock);
    int64_t deadline_ns = s->deadline_ns;
    pthread_mutex_unlock(&s->lock);
    return deadline_ns;
}

static bool is_over(struct pt_push_sender *s) {
    int64_t deadline_ns = deadline_of(s);
    return deadline_ns > 0 && pt_mono_ns() >= deadline_ns;
}

/* Samples keep coming while a receiver is slow. */
static bool on_wait(struct pt_http_request *r) {
    struct pt_push_sender *s = r->user;
    to_queue(s);
    publish(s);
    return !is_over(s);
}

static int add_token(struct pt_push_sender *s, struct pt_push_post *post) {
    if (!s->options.settings->token_file)
        return 0;
    /* Tokens are renewed while we run: read it for each request. */
    char line[sizeof s->token - 32];
    int rc = pt_fs_read_line(AT_FDCWD, s->options.settings->token_file, line, sizeof line);
    if (rc)
        return rc;
    snprintf(s->token, sizeof s->token, "Authorization: Bearer %s", line);
    post->headers[post->header_count++] = s->token;
    return 0;
}

static void set_retry(struct pt_push_sender *s, int64_t asked_ns) {
    s->wait_ns = s->wait_ns == 0 ? FIRST_WAIT_NS : s->wait_ns * 2;
    if (s->wait_ns > LAST_WAIT_NS)
        s->wait_ns = LAST_WAIT_NS;
    /* The jitter spreads the machines of a fleet. */
    s->seed = s->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double jitter = 0.75 + 0.5 * (double)(s->seed >> 40) / (double)(1 << 24);
    int64_t wait_ns = (int64_t)((double)s->wait_ns * jitter);
    if (asked_ns > 0)
        wait_ns = asked_ns < RETRY_AFTER_NS ? asked_ns : RETRY_AFTER_NS;
    s->retry_ns = pt_mono_ns() + wait_ns;
}

static void note_failure(struct pt_push_sender *s, const char *words) {
    if (!s->is_failing)
        pt_log(PT_LOG_WARNING, "%s: %s: %s; samples are queued in %s", name_of(s), s->url, words,
               s->options.directory);
    s->is_failing = true;
    pthread_mutex_lock(&s->lock);
    s->counts.failed_tries++;
    pthread_mutex_unlock(&s->lock);
}

static void note_accepted(struct pt_push_sender *s, const struct pt_push_request *request,
                          const struct pt_push_judgement *j) {
    if (s->is_failing)
        pt_log(PT_LOG_WARNING, "%s: %s works again; %llu requests queued", name_of(s), s->url,
               (unsigned long long)s->queue.waiting_requests);
    s->is_failing = false;
    s->retry_ns = s->wait_ns = 0;
    uint64_t rejected =
        j->rejected_points < request->point_count ? j->rejected_points : request->point_count;
    pthread_mutex_lock(&s->lock);
    bool is_first = rejected > 0 && s->counts.rejected_points == 0;
    s->counts.accepted_requests++;
    s->counts.accepted_points += request->point_count - rejected;
    s->counts.rejected_points += rejected;
    pthread_mutex_unlock(&s->lock);
    if (is_first || (rejected == 0 && j->words.len > 0))
        pt_log(PT_LOG_WARNING, "%s: %s accepted a request except for %llu points: %.*s", name_of(s),
               s->url, (unsigned long long)rejected, (int)j->words.len, j->words.at);
}

static void note_rejected(struct pt_push_sender *s, const struct pt_push_request *request,
                          const char *why, struct pt_str words) {
    /* The first line of the receiver's answer, if it is text. */
    size_t length = 0;
    while (length < words.len && length < 200 && words.at[length] >= ' ')
        length++;
    struct pt_str line = { words.at, length };
    pthread_mutex_lock(&s->lock);
    bool is_first = s->counts.rejected_points == 0;
    s->counts.rejected_points += request->point_count;
    pthread_mutex_unlock(&s->lock);
    pt_log(is_first ? PT_LOG_WARNING : PT_LOG_INFO, "%s: %s refused %u points: %s%s%.*s",
           name_of(s), s->url, request->point_count, why, line.len > 0 ? ": " : "", (int)line.len,
           line.at);
}

static void post(struct pt_push_sender *s, const struct pt_push_post *p) {
    struct pt_http_request *r = &s->http;
    const struct pt_push_settings *settings = s->options.settings;
    r->url = s->options.protocol->url(settings);
    r->post = p->body;
    r->post_type = p->type;
    r->headers = p->headers;
    r->header_count = p->header_count;
    r->answer_header = p->answer_header;
    r->timeout_ns = s->options.protocol->timeout_ns(settings);
    r->body_max_bytes = ANSWER_BYTES;
    r->on_wait = on_wait;
    r->user = s;
    pt_http_client_run(&s->client, r, 1);
    pthread_mutex_lock(&s->lock);
    s->counts.last_status = r->status;
    pthread_mutex_unlock(&s->lock);
}

/* Tries the oldest request once. False: nothing more to do for now. */
static bool send_one(struct pt_push_sender *s) {
    struct pt_push_request request;
    struct pt_push_post p = { .header_count = 0 };
    if (!pt_push_queue_peek(&s->queue, &request))
        return false;
    pt_buf_clear(&s->body);
    pt_buf_str(&s->body, request.bytes); /* the queue may change while it is sent */
    const struct pt_push_protocol *protocol = s->options.protocol;
    if (protocol->prepare(s->options.protocol_state, pt_buf_as_str(&s->body), request.time_ns,
                          &p)) {
        note_rejected(s, &request, "damaged on disk", PT_STR(""));
        pt_push_queue_pop(&s->queue, request.id);
        return true;
    }
    int rc = add_token(s, &p);
    if (rc) {
        char words[512];
        snprintf(words, sizeof words, "cannot read the token in %s: %s",
                 s->options.settings->token_file, strerror(-rc));
        note_failure(s, words);
        set_retry(s, 0);
        return false;
    }
    post(s, &p);
    struct pt_push_judgement j = protocol->judge(s->options.protocol_state, &s->http);
    switch (j.verdict) {
    case PT_PUSH_ACCEPTED:
        note_accepted(s, &request, &j);
        pt_push_queue_pop(&s->queue, request.id);
        return true;
    case PT_PUSH_AGAIN:
        return true;
    case PT_PUSH_REJECTED:
        note_rejected(s, &request, s->http.words, j.words);
        pt_push_queue_pop(&s->queue, request.id);
        return true;
    case PT_PUSH_RETRY:
        break;
    }
    if (s->http.error != -ECANCELED)
        note_failure(s, s->http.words);
    set_retry(s, s->http.retry_after_ns);
    return false;
}

/* ---- the thread ---- */

/* Until a request comes, a retry is due, or the end. */
static void wait_for_work(struct pt_push_sender *s) {
    int64_t until_ns = s->queue.waiting_requests > 0 ? s->retry_ns : INT64_MAX;
    pthread_mutex_lock(&s->lock);
    while (s->handover_count == 0 && s->deadline_ns == 0 && pt_mono_ns() < until_ns) {
        if (until_ns == INT64_MAX) {
            pthread_cond_wait(&s->is_changed, &s->lock);
            continue;
        }
        struct timespec until = { until_ns / PT_NS_PER_SECOND, until_ns % PT_NS_PER_SECOND };
        pthread_cond_timedwait(&s->is_changed, &s->lock, &until);
    }
    pthread_mutex_unlock(&s->lock);
}

/* At the end a failing receiver gets one more try, the others the whole time. */
static void send_last(struct pt_push_sender *s) {
    bool was_failing = s->is_failing;
    to_queue(s);
    s->retry_ns = 0;
    while (!is_over(s) && s->queue.waiting_requests > 0) {
        bool goes_on = send_one(s);
        publish(s);
        if (goes_on)
            continue;
        if (was_failing || s->queue.waiting_requests == 0)
            return;
        int64_t left_ns = s->retry_ns - pt_mono_ns();
        struct timespec wait = { left_ns / PT_NS_PER_SECOND, left_ns % PT_NS_PER_SECOND };
        if (left_ns > 0 && s->retry_ns < deadline_of(s))
            nanosleep(&wait, NULL);
        else if (left_ns > 0)
            return;
    }
}

static void *run(void *arg) {
    struct pt_push_sender *s = arg;
    while (deadline_of(s) == 0) {
        wait_for_work(s);
        to_queue(s);
        bool goes_on = true;
        while (goes_on && deadline_of(s) == 0 && pt_mono_ns() >= s->retry_ns) {
            publish(s);
            goes_on = send_one(s);
            to_queue(s);
        }
        publish(s);
    }
    send_last(s);
    publish(s);
    return NULL;
}

int pt_push_sender_open(struct pt_push_sender *s, const struct pt_push_sender_options *options,
                        struct pt_err *err) {
    *s = (struct pt_push_sender){ .options = *options, .seed = (uint64_t)pt_wall_ns() };
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->is_changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&s->lock, NULL);
    pt_push_url_shown(options->protocol->url(options->settings), s->url, sizeof s->url);
    const char *token_file = options->settings->token_file;
    struct stat status;
    if (token_file && !stat(token_file, &status) && (status.st_mode & S_IROTH))
        pt_log(PT_LOG_WARNING, "%s is readable by everyone", token_file);
    int rc = pt_http_client_open(&s->client, err);
    if (!rc)
        rc = pt_push_queue_open(&s->queue, options->directory, &options->settings->bounds, err);
    if (!rc && s->queue.waiting_requests > 0)
        pt_log(PT_LOG_INFO, "%s: resuming: %llu queued requests for %s", name_of(s),
               (unsigned long long)s->queue.waiting_requests, s->url);
    if (!rc) {
        rc = pt_thread_start(&s->thread, run, s);
        s->has_thread = rc == 0;
        if (rc)
            pt_fail(err, rc, "cannot start a thread: %s", strerror(-rc));
    }
    if (rc)
        pt_push_sender_close(s, 0);
    return rc;
}

void pt_push_sender_close(struct pt_push_sender *s, int64_t deadline_ns) {
    if (s->has_thread) {
        pthread_mutex_lock(&s->lock);
        s->deadline_ns = deadline_ns > 0 ? deadline_ns : 1;
        pthread_cond_signal(&s->is_changed);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->thread, NULL);
        if (s->queue.waiting_requests > 0)
            pt_log(PT_LOG_WARNING,
                   "%s: %llu requests with %llu points stay queued in %s for %s; the next run "
                   "sends them",
                   name_of(s), (unsigned long long)s->queue.waiting_requests,
                   (unsigned long long)s->queue.waiting_points, s->options.directory, s->url);
    }
    pt_push_queue_close(&s->queue);
    pt_http_client_close(&s->client);
    pt_http_request_release(&s->http);
    for (size_t i = 0; i < PT_PUSH_HANDOVER_MAX; i++)
        pt_buf_release(&s->handover[i].bytes);
    pt_buf_release(&s->packed);
    pt_buf_release(&s->body);
    pthread_cond_destroy(&s->is_changed);
    pthread_mutex_destroy(&s->lock);
    *s = (struct pt_push_sender){ 0 };
}
