/* source/engine/page_set.h -- the pages of one engine (source/engine/adapter.h): which to ask now,
 * and what their answers mean. */
#ifndef PT_SOURCE_ENGINE_PAGE_SET_H
#define PT_SOURCE_ENGINE_PAGE_SET_H

#include "http/client.h"
#include "source/engine/adapter.h"
#include "source/engine/slots.h"

/* {0} asks nothing. */
struct pt_page_set {
    struct pt_http_request requests[PT_PAGE_COUNT];
    char urls[PT_PAGE_COUNT][256];
    bool is_over[PT_PAGE_COUNT]; /* read, or the engine does not have it */
    int try_count[PT_PAGE_COUNT];
    bool is_local;
    bool has_slots; /* /slots answers, apart from a failure now and then */
    struct pt_engine_facts facts;
    struct pt_slots slots; /* of that answer */
    struct pt_slots_live live;
};

/* `url` is that of the metrics; `unix_path`, or NULL, must stay valid. Engines of other machines
 * are not asked. */
void pt_page_set_init(struct pt_page_set *set, const char *url, const char *unix_path);
void pt_page_set_release(struct pt_page_set *set);

/* Should this page be asked now? `is_busy`: /metrics says that requests run. */
bool pt_page_set_is_due(const struct pt_page_set *set, enum pt_engine_page_id page,
                        enum pt_engine_kind kind, bool is_busy);

/* Takes the answer in requests[page]: 0, or -errno if there is none. */
int pt_page_set_take(struct pt_page_set *set, enum pt_engine_page_id page);

/* Is the URL one of this machine: a loopback address, its own name or a UNIX socket? */
bool pt_url_is_local(const char *url, const char *unix_path);

#endif
