#include "analyze/signal.h"

#include "base/mem.h"
#include "derive/field.h"

#include <math.h>

#define S(name) PT_FIGURE_##name

bool pt_signal_wants(const struct pt_table *table, const struct pt_column *column) {
    static const enum pt_field_id wanted[] = { PT_FIELD_GPU_CLOCK, PT_FIELD_GPU_CLOCK_GRAPHICS,
                                               PT_FIELD_ENGINE_INTER_TOKEN_P50,
                                               PT_FIELD_ENGINE_TOKENS, PT_FIELD_ENGINE_RUNNING };
    for (size_t i = 0; i < PT_COUNT(wanted); i++)
        if (pt_field_is(wanted[i], table, column))
            return true;
    return false;
}

static double highest(const struct pt_window_series *clock) {
    double highest = NAN;
    for (size_t i = 0; clock && i < clock->point_count; i++)
        highest = fmax(highest, pt_series_at(clock, i));
    return highest;
}

/* The maximum of a clock is known only at the end of a run. */
static void make_clocks(struct pt_signals *s) {
    int table = pt_field_table(s->windows->schema, PT_FIELD_GPU_CLOCK);
    const struct pt_entity *gpu;
    for (size_t place = 0; table >= 0 && (gpu = pt_windows_next(s->windows, table, &place));) {
        const struct pt_window_series *clock =
            pt_windows_series(s->windows, gpu, pt_fields[PT_FIELD_GPU_CLOCK].column);
        if (!clock || clock->point_count == 0)
            clock =
                pt_windows_series(s->windows, gpu, pt_fields[PT_FIELD_GPU_CLOCK_GRAPHICS].column);
        double most = highest(clock);
        for (size_t i = 0; i < s->count; i++) {
            double *lowest = &s->values[S(GPU_CLOCK_SHARE)][i];
            *lowest = fmin(*lowest, pt_series_at(clock, i) / most); /* fmin skips NAN */
        }
    }
}

void pt_signals_make(struct pt_signals *s, const struct pt_windows *w, double link_bytes_per_s) {
    *s = (struct pt_signals){ .windows = w, .count = w->count };
    for (int id = 0; id < PT_FIGURE_COUNT; id++) {
        s->values[id] = pt_calloc(w->count + 1, sizeof *s->values[id]);
        for (size_t i = 0; i < w->count; i++)
            s->values[id][i] = pt_windows_figure(w, (enum pt_figure_id)id, i, i + 1);
    }
    for (size_t i = 0; i < w->count; i++) {
        s->seconds += pt_window_seconds(&w->windows[i]);
        s->values[S(NET_LINK_SHARE)][i] = s->values[S(NET_BUSIEST)][i] / link_bytes_per_s;
        s->values[S(ENGINE_TOKEN_SPREAD)][i] =
            s->values[S(ENGINE_INTER_TOKEN_P99)][i] / s->values[S(ENGINE_INTER_TOKEN_P50)][i];
    }
    make_clocks(s);
}

void pt_signals_release(struct pt_signals *s) {
    for (int id = 0; id < PT_FIGURE_COUNT; id++)
        pt_free(s->values[id]);
    *s = (struct pt_signals){ 0 };
}

const char *pt_signal_option(enum pt_figure_id id) {
    static const struct {
        enum pt_figure_id signal;
        const char *option;
    } options[] = {
        { S(OWN_HOTTEST), "-p" },    { S(OWN_SWITCHES), "-p" },    { S(PYTHON_CPU), "-p" },
        { S(PYTHON_THREADS), "-p" }, { S(PYTHON_SWITCHES), "-p" }, { S(PROFILE_LOCK), "--cpu" },
        { S(PROFILE_GIL), "--cpu" },
    };
    for (size_t i = 0; i < PT_COUNT(options); i++)
        if (options[i].signal == id)
            return options[i].option;
    return NULL;
}

bool pt_signal_is_known(const struct pt_signals *s, enum pt_figure_id id) {
    for (size_t i = 0; i < s->count; i++)
        if (!isnan(s->values[id][i]))
            return true;
    return false;
}

double pt_signal_mean(const struct pt_signals *s, enum pt_figure_id id, size_t from, size_t to) {
    double value = pt_windows_figure(s->windows, id, from, to);
    double sum = 0, seconds = 0;
    if (!isnan(value))
        return value;
    for (size_t i = from; i < to; i++) { /* of a profile, or of the whole run */
        sum += s->values[id][i] * pt_window_seconds(&s->windows->windows[i]);
        seconds += pt_window_seconds(&s->windows->windows[i]);
    }
    return sum / seconds;
}
