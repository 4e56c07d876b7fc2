/* demo/settings.h -- the options of `pitot demo`, in one list: the program of the demo engine
 * parses them, and `pitot` takes its help, man page and completion from it. */
#ifndef PT_DEMO_SETTINGS_H
#define PT_DEMO_SETTINGS_H

#include "base/options.h"

struct pt_demo_settings {
    int64_t seconds_ns, threads, requests, concurrency;
    bool serve, self_load;
    const char *listen, *load;
};

/* Initialisers: X(name, kind, field, default, argument, help) */
#define PT_DEMO_OPTIONS(X)                                                                       \
    X("seconds", PT_OPTION_S, seconds_ns, NULL, "TIME",                                          \
      "how long to run [5]; a server runs until Ctrl+C"),                                        \
        X("threads", PT_OPTION_I64, threads, "0", "N", "worker threads; 0 = one per CPU"),       \
        X("serve", PT_OPTION_FLAG, serve, NULL, NULL,                                            \
          "start a server with /v1/completions and vLLM's /metrics"),                            \
        X("listen", PT_OPTION_TEXT, listen, "127.0.0.1:0", "ADDRESS",                            \
          "address of the server: PORT, 127.0.0.1:PORT, [::1]:PORT, unix:PATH"),                 \
        X("load", PT_OPTION_TEXT, load, NULL, "URL",                                             \
          "send completions to a server on this machine"),                                       \
        X("self-load", PT_OPTION_FLAG, self_load, NULL, NULL,                                    \
          "with --serve: send requests to the own server, then exit"),                           \
        X("requests", PT_OPTION_I64, requests, "0", "N", "exit after N requests; 0 = no limit"), \
        X("concurrency", PT_OPTION_I64, concurrency, "16", "N", "concurrent requests, up to 64")

#endif
