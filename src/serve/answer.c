#include "serve/answer.h"

#include "base/buf.h"

void pt_answer_json(struct pt_http_exchange *x, unsigned status, pt_answer_function *write,
                    void *user) {
    struct pt_buf body = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &body);
    struct pt_json j = { .out = &out };
    write(user, &j);
    pt_out_char(&out, '\n');
    (void)pt_out_close(&out);
    pt_http_reply(x, status, PT_TYPE_JSON, pt_buf_as_str(&body));
    pt_buf_release(&body);
}

void pt_answer_buf(struct pt_http_exchange *x, const char *type, struct pt_buf *body,
                   const struct pt_http_header *headers, size_t count) {
    /* read it now: the exchange is gone after the reply */
    const struct pt_http_server_interface *module = x->module;
    struct pt_http_content *content = module->content_new(200, type, body, headers, count);
    pt_buf_release(body);
    if (!content) {
        pt_answer_error(x, 500, "out of memory");
        return;
    }
    pt_http_reply_content(x, content);
    module->content_free(content);
}

static void write_error(void *user, struct pt_json *j) {
    pt_json_object(j, NULL);
    pt_json_text(j, "error", user);
    pt_json_end(j);
}

void pt_answer_error(struct pt_http_exchange *x, unsigned status, const char *words) {
    pt_answer_json(x, status, write_error, (void *)(uintptr_t)words);
}
