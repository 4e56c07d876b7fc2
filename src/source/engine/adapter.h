/* source/engine/adapter.h -- what engines say besides their metrics: read-only JSON pages.
 *
 *     GET /v1/models   {"data": [{"id": "Qwen/Qwen3-0.6B", "max_model_len": 40960}]}
 *     GET /version     {"version": "0.11.2"}
 *     GET /slots       [{"id": 0, "n_ctx": 4096, "is_processing": true, ...}]
 *
 * One table says which engine has which page, how often it is read, and which pages do something
 * besides answering; another one which members describe the engine. Asked on this machine only. */
#ifndef PT_SOURCE_ENGINE_ADAPTER_H
#define PT_SOURCE_ENGINE_ADAPTER_H

#include "base/attr.h"
#include "source/engine/alias.h"

enum pt_engine_page_id {
    PT_PAGE_MODELS,      /* the models of the OpenAI interface */
    PT_PAGE_VERSION,     /* vLLM, TensorRT-LLM */
    PT_PAGE_SERVER_INFO, /* SGLang */
    PT_PAGE_TGI_INFO,
    PT_PAGE_PROPS, /* llama.cpp */
    PT_PAGE_SLOTS, /* llama.cpp: source/engine/slots.h reads it */
    PT_PAGE_COUNT
};

struct pt_engine_page {
    const char *path;
    uint32_t kinds;     /* one bit per enum pt_engine_kind that has it */
    bool is_live;       /* read at every scrape; otherwise once */
    const char *gives;  /* for the documentation */
    const char *effect; /* what it does besides answering, or NULL */
};

extern const struct pt_engine_page pt_engine_pages[PT_PAGE_COUNT];

/* What a scrape of /metrics does besides answering; NULL: nothing. */
const char *pt_engine_metrics_effect(enum pt_engine_kind kind);

/* What the pages and the command line say about an engine; {0} is empty. */
struct pt_engine_facts {
    char model[128];
    char text[1024];         /* "version=0.11.2, max_model_len=40960" */
    double request_capacity; /* requests it processes at once; 0: unknown */
    bool is_sleeping;        /* and must not be woken */
    bool may_sleep;          /* the command line says that it sleeps when it is idle */
    bool has_one_cache;      /* llama.cpp: all slots share the cells of the KV cache */
};

/* Adds the members of a page that describe the engine. 0, or -EINVAL: not JSON. */
int pt_engine_page_read(enum pt_engine_page_id page, struct pt_str body,
                        struct pt_engine_facts *facts) PT_MUST_CHECK;

/* Adds "key=value", unless the key is known or the text is full. */
void pt_engine_facts_add(struct pt_engine_facts *facts, const char *key, struct pt_str value);

/* Adds the arguments that describe the engine, from the words of its command line, each ended by a
 * NUL as in /proc/PID/cmdline. Others, such as keys, are not kept. */
void pt_engine_facts_add_arguments(struct pt_engine_facts *facts, enum pt_engine_kind kind,
                                   struct pt_str words);

#endif
