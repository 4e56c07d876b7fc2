#include "serve/stream.h"

#include "base/clock.h"

#include <errno.h>

void pt_stream_init(struct pt_stream *s, const struct pt_schema *schema) {
    *s = (struct pt_stream){ .pushed_ns = pt_mono_ns() };
    s->out_buffer = pt_malloc(PT_OUT_BUFFER);
    pt_changes_init(&s->changes, schema);
    pthread_mutex_init(&s->lock, NULL);
}

/* Call with the lock held. */
static void drop(struct pt_stream_reader *r) {
    pt_http_end(r->exchange);
    *r = (struct pt_stream_reader){ .stream = r->stream };
}

void pt_stream_release(struct pt_stream *s) {
    for (size_t i = 0; i < PT_STREAM_READERS; i++)
        if (s->readers[i].exchange)
            drop(&s->readers[i]);
    pt_changes_release(&s->changes);
    pt_buf_release(&s->message);
    pt_free(s->out_buffer);
    pthread_mutex_destroy(&s->lock);
}

/* On the server's thread, which holds the lock of the exchange: the next push drops the reader. */
static void on_gone(void *user) {
    struct pt_stream_reader *r = user;
    __atomic_store_n(&r->is_gone, true, __ATOMIC_RELAXED);
}

void pt_stream_handle(struct pt_stream *s, struct pt_http_exchange *x) {
    pthread_mutex_lock(&s->lock);
    struct pt_stream_reader *place = &s->readers[0]; /* a free one has the number 0 */
    for (size_t i = 1; i < PT_STREAM_READERS; i++)
        if (s->readers[i].number < place->number)
            place = &s->readers[i];
    if (place->exchange) {
        pt_http_cut(place->exchange);
        s->shed_count++;
    }
    *place = (struct pt_stream_reader){
        .stream = s, .exchange = x, .number = ++s->arrived_count, .is_new = true
    };
    pt_http_begin(x, "text/event-stream", on_gone, place);
    pthread_mutex_unlock(&s->lock);
}

/* Call this and the following functions with the lock held. */
static void push(struct pt_stream *s, struct pt_stream_reader *r, struct pt_str message) {
    bool is_gone = __atomic_load_n(&r->is_gone, __ATOMIC_RELAXED);
    if (!is_gone && pt_http_push(r->exchange, message) == 0)
        return;
    s->shed_count += !is_gone;
    drop(r);
}

static void push_to_all(struct pt_stream *s, struct pt_str message, bool are_new) {
    for (size_t i = 0; i < PT_STREAM_READERS; i++)
        if (s->readers[i].exchange && s->readers[i].is_new == are_new)
            push(s, &s->readers[i], message);
    s->pushed_ns = pt_mono_ns();
}

static size_t count(const struct pt_stream *s, bool are_new) {
    size_t n = 0;
    for (size_t i = 0; i < PT_STREAM_READERS; i++)
        n += s->readers[i].exchange && s->readers[i].is_new == are_new;
    return n;
}

static int add_to_message(void *arg, const void *bytes, size_t n) {
    pt_buf_bytes(arg, bytes, n);
    return 0;
}

static struct pt_str message_of(struct pt_stream *s, const struct pt_latest *latest,
                                bool is_whole) {
    struct pt_out out;
    pt_buf_clear(&s->message);
    pt_out_through(&out, s->out_buffer, add_to_message, &s->message);
    pt_out_text(&out, "event: sample\ndata: ");
    pt_changes_write(&s->changes, latest, is_whole, &out);
    pt_out_text(&out, "\n\n");
    (void)pt_out_flush(&out);
    return pt_buf_as_str(&s->message);
}

void pt_stream_publish(struct pt_stream *s, const struct pt_latest *latest) {
    pthread_mutex_lock(&s->lock);
    size_t old = count(s, false), new = count(s, true);
    if (old + new > 0)
        pt_changes_update(&s->changes, latest);
    if (old > 0)
        push_to_all(s, message_of(s, latest, false), false);
    if (new > 0)
        push_to_all(s, message_of(s, latest, true), true);
    for (size_t i = 0; i < PT_STREAM_READERS; i++)
        s->readers[i].is_new = false;
    pthread_mutex_unlock(&s->lock);
}

void pt_stream_send(struct pt_stream *s, const char *event, struct pt_str json) {
    pthread_mutex_lock(&s->lock);
    pt_buf_clear(&s->message);
    pt_buf_str(&s->message, PT_STR("event: "));
    pt_buf_str(&s->message, pt_str_from(event));
    pt_buf_str(&s->message, PT_STR("\ndata: "));
    pt_buf_str(&s->message, json);
    pt_buf_str(&s->message, PT_STR("\n\n"));
    push_to_all(s, pt_buf_as_str(&s->message), false);
    pthread_mutex_unlock(&s->lock);
}

void pt_stream_tend(struct pt_stream *s, int64_t now_ns) {
    pthread_mutex_lock(&s->lock);
    if (now_ns - s->pushed_ns > PT_STREAM_SILENCE_NS)
        push_to_all(s, PT_STR(": still here\n\n"), false);
    for (size_t i = 0; i < PT_STREAM_READERS; i++)
        if (s->readers[i].exchange && __atomic_load_n(&s->readers[i].is_gone, __ATOMIC_RELAXED))
            drop(&s->readers[i]);
    pthread_mutex_unlock(&s->lock);
}

size_t pt_stream_count(struct pt_stream *s, uint64_t *shed_count) {
    pthread_mutex_lock(&s->lock);
    *shed_count = s->shed_count;
    size_t n = count(s, false) + count(s, true);
    pthread_mutex_unlock(&s->lock);
    return n;
}
