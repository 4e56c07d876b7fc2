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

static void write_error(void *user, struct pt_json *j) {
    pt_json_object(j, NULL);
    pt_json_text(j, "error", user);
    pt_json_end(j);
}

void pt_answer_error(struct pt_http_exchange *x, unsigned status, const char *words) {
    pt_answer_json(x, status, write_error, (void *)(uintptr_t)words);
}
