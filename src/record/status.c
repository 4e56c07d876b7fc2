#include "record/status.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define REDRAW_NS (500 * PT_NS_PER_MS)

static void wipe(void) {
    (void)!write(STDERR_FILENO, "\r\033[K", 4);
}

void pt_status_init(struct pt_status *s, const struct pt_schema *schema, bool is_wanted,
                    bool has_command) {
    const char *term = getenv("TERM");
    *s = (struct pt_status){ .start_ns = pt_mono_ns() };
    s->is_on =
        is_wanted && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0 && !has_command;
    if (!s->is_on)
        return;
    pt_figure_stream_init(&s->figures, schema);
    pt_log_hook = wipe;
}

static void figure(const struct pt_status *s, enum pt_figure_id id, char *into, size_t capacity) {
    pt_form_print(pt_figures[id].form, s->figures.now[id].value, into, capacity);
}

static void draw(struct pt_status *s, int64_t now_ns) {
    char cpu[32], memory[32], disk_read[32], disk_write[32], received[32], sent[32];
    figure(s, PT_FIGURE_CPU_BUSY, cpu, sizeof cpu);
    figure(s, PT_FIGURE_MEM_USED, memory, sizeof memory);
    figure(s, PT_FIGURE_DISK_READ, disk_read, sizeof disk_read);
    figure(s, PT_FIGURE_DISK_WRITTEN, disk_write, sizeof disk_write);
    figure(s, PT_FIGURE_NET_RECEIVED, received, sizeof received);
    figure(s, PT_FIGURE_NET_SENT, sent, sizeof sent);
    long seconds = (long)((now_ns - s->start_ns) / PT_NS_PER_SECOND);
    char line[256];
    int n = snprintf(line, sizeof line,
                     "%ld:%02ld:%02ld  %llu samples  cpu %s  mem %s  disk r %s w %s  net in %s "
                     "out %s",
                     seconds / 3600, seconds / 60 % 60, seconds % 60,
                     (unsigned long long)s->sample_count, cpu, memory, disk_read, disk_write,
                     received, sent);
    struct winsize size;
    int columns =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
    if (n >= columns)
        n = columns - 1;
    char whole[300];
    int length = snprintf(whole, sizeof whole, "\r\033[K%.*s", n, line);
    (void)!write(STDERR_FILENO, whole, (size_t)length);
}

void pt_status_see(struct pt_status *s, const struct pt_sample *sample) {
    s->sample_count++;
    if (!s->is_on)
        return;
    /* Figures are rates since the last call, so rare calls average over longer times. */
    int64_t now_ns = pt_mono_ns();
    if ((s->drawn_ns && now_ns - s->drawn_ns < REDRAW_NS) || !pt_log_is_ready(0))
        return;
    if (!pt_figure_stream_add(&s->figures, sample))
        return;
    draw(s, now_ns);
    s->drawn_ns = now_ns;
}

void pt_status_release(struct pt_status *s) {
    if (!s->is_on)
        return;
    if (pt_log_is_ready(0))
        wipe();
    pt_log_hook = NULL;
    pt_figure_stream_release(&s->figures);
    s->is_on = false;
}
