/* source/engine/scraper.h -- finds inference engines and scrapes them, on its own thread.
 *
 * The sampler takes the latest complete readings and never waits: a hanging, slow or huge endpoint
 * only makes its reading older. The HTTP client (libcurl, a module) is loaded when the first engine
 * is found. */
#ifndef PT_SOURCE_ENGINE_SCRAPER_H
#define PT_SOURCE_ENGINE_SCRAPER_H

#include "base/err.h"
#include "base/fs.h"
#include "source/engine/bucket_growth.h"

#include <sys/types.h>

#define PT_SCRAPE_ENGINES    16
#define PT_SCRAPE_URL_BYTES  256
#define PT_SCRAPE_UNIX_BYTES 108 /* of sockaddr_un */

struct pt_scrape_options {
    const struct pt_fs *fs;
    bool must_discover;      /* look for engines on the loopback interface */
    const char *const *urls; /* given by the user; borrowed for the life of the scraper */
    size_t url_count;
    const pid_t *roots; /* of the recorded tree, borrowed; none: ports of all processes */
    int root_count;
    int64_t period_ns; /* between two scrapes of an engine */
    bool wants_raw;    /* keep series not used by a field */
};

enum pt_scrape_state {
    PT_SCRAPE_ASKED, /* no answer yet */
    PT_SCRAPE_UP,
    PT_SCRAPE_FAILING, /* known, but the last scrape failed */
    PT_SCRAPE_GONE,    /* has not answered for a while */
    PT_SCRAPE_LOADING, /* it answers that it is not ready: 503 */
};

/* One engine, as the sampler takes it: no pointers into the scraper. */
struct pt_scraped {
    char url[PT_SCRAPE_URL_BYTES];
    char model[128];
    char config[2048]; /* what describes it, "key=value, ..." */
    char problem[128]; /* of the last scrape; "" if it went well */
    char note[256];    /* effects of reading it, and how Pitot avoids them; "" if there are none */
    bool is_local;     /* it runs on this machine */
    enum pt_scrape_state state;
    enum pt_engine_kind kind;
    int64_t mono_ns; /* when the answer was complete; 0: never */
    int64_t took_ns;
    uint64_t present; /* bit per field */
    double values[PT_ENGINE_FIELD_COUNT];
    struct pt_quantile quantiles[PT_ENGINE_LATENCY_COUNT][PT_ENGINE_QUANTILE_COUNT];
};

/* A series that is not a field; its texts, without secrets, are in the buffer of
 * pt_scraper_take_raw(). */
struct pt_scraped_raw {
    uint32_t engine; /* index */
    uint32_t name, name_len, labels, labels_len;
    double value;
};

struct pt_scraper; /* opaque */

/* Starts the thread. -ENODATA: there is nothing to scrape. */
int pt_scraper_new(struct pt_scraper **scraper, const struct pt_scrape_options *o,
                   struct pt_err *err) PT_MUST_CHECK;
/* Call once, before the last take: scrapes the engines that are up once more. Waits at most
 * `patience_ns`, and not at all if none is up. An engine that does not answer keeps its last
 * values. */
void pt_scraper_finish(struct pt_scraper *s, int64_t patience_ns);
/* Ends the thread; waits at most half a second for a scrape in progress. */
void pt_scraper_free(struct pt_scraper *s);

/* Copies the latest readings; returns how many. `*all` is all engines combined; if none is up, its
 * `mono_ns` is 0. An engine that started during the run is first copied as it was before its first
 * request: all counters 0. */
size_t pt_scraper_take(struct pt_scraper *s, struct pt_scraped engines[PT_SCRAPE_ENGINES],
                       struct pt_scraped *all);

/* Raw series of scrapes since the last call; swaps `rows` and `text` with those given, for reuse.
 * Returns how many. */
size_t pt_scraper_take_raw(struct pt_scraper *s, struct pt_scraped_raw **rows, size_t *capacity,
                           struct pt_buf *text);

/* Growth of histogram buckets in all scrapes since the last call, each once; swaps with `growths`,
 * for reuse. Call before pt_scraper_take(), so that every engine is listed. */
void pt_scraper_take_growths(struct pt_scraper *s, struct pt_bucket_growths *growths);

/* "localhost:8000" -> "http://localhost:8000/metrics"; "8000" is a port of this machine,
 * "unix:/path" a socket. False: too long, or another protocol. */
bool pt_scrape_url(const char *given, char *url, size_t capacity, char *unix_path,
                   size_t unix_capacity);

#endif
