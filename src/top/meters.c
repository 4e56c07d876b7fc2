#include "top/meters.h"

#include "analyze/value.h"

#include <math.h>
#include <stdio.h>

#define LABEL_WIDTH    6
#define GPU_BAR_WIDTH  15
#define GPU_TEXT_WIDTH 19
#define CORE_WIDTH     16 /* at least, for each */
#define ITEMS_MAX      (16 + PT_TOP_GPUS)
#define HIGH           0.85
#define MIDDLE         0.60

enum kind { BAR, PAIR, NUMBER };

/* The value of a full bar and of the top of a curve. */
enum scale { LARGEST, HUNDRED, CORES, MEMORY };

struct meter {
    const char *label;
    enum kind kind;
    enum scale scale;
    enum pt_figure_id figure, other;
    const char *words[2]; /* before the two numbers of a pair */
    bool is_always;       /* else only if it was known recently */
};

static const struct meter meters[] = {
    { "CPU", BAR, HUNDRED, PT_FIGURE_CPU, PT_FIGURE_CPU, { 0 }, true },
    { "Mem", BAR, MEMORY, PT_FIGURE_MEMORY, PT_FIGURE_MEMORY, { 0 }, true },
    { "Disk", PAIR, LARGEST, PT_FIGURE_DISK_READ, PT_FIGURE_DISK_WRITE, { "r", "w" }, true },
    { "Net", PAIR, LARGEST, PT_FIGURE_NET_RECEIVED, PT_FIGURE_NET_SENT, { "in", "out" }, true },
    { "Tree", BAR, CORES, PT_FIGURE_COMMAND_CPU, PT_FIGURE_COMMAND_CPU, { 0 }, false },
    { "Token", NUMBER, LARGEST, PT_FIGURE_TOKENS, PT_FIGURE_TOKENS, { 0 }, false },
    { "TTFT", NUMBER, LARGEST, PT_FIGURE_TTFT, PT_FIGURE_TTFT, { 0 }, false },
    { "ITL", NUMBER, LARGEST, PT_FIGURE_INTER_TOKEN, PT_FIGURE_INTER_TOKEN, { 0 }, false },
    { "Req", PAIR, LARGEST, PT_FIGURE_RUNNING, PT_FIGURE_WAITING, { "run", "wait" }, false },
    { "KV", BAR, HUNDRED, PT_FIGURE_KV_CACHE, PT_FIGURE_KV_CACHE, { 0 }, false },
};

struct item {
    const struct meter *meter; /* NULL: a GPU */
    uint32_t gpu;
};

static enum pt_style level_style(double share) {
    return share >= HIGH ? PT_STYLE_HIGH : share >= MIDDLE ? PT_STYLE_MIDDLE : PT_STYLE_LOW;
}

/* [|||||||     43.2 %] */
static void draw_bar(struct pt_canvas *c, int row, int column, int width, double share,
                     const char *text) {
    int inner = width - 2;
    int filled = isnan(share) ? 0 : (int)(fmin(fmax(share, 0), 1) * inner + 0.5);
    pt_canvas_set(c, row, column, PT_STYLE_PLAIN, '[');
    for (int i = 0; i < filled; i++)
        pt_canvas_set(c, row, column + 1 + i, level_style(share), '|');
    pt_canvas_put_right(c, row, column + 1, inner, PT_STYLE_PLAIN, pt_str_from(text));
    pt_canvas_set(c, row, column + 1 + inner, PT_STYLE_PLAIN, ']');
}

static uint32_t core_count(const struct pt_top_model *m) {
    int table = pt_schema_find(m->rates.schema, "core");
    return table < 0 ? 0 : pt_rates_rows(&m->rates, table)->row_count;
}

/* 0: not known in advance. */
static double full_of(const struct pt_top_model *m, enum scale scale) {
    switch (scale) {
    case HUNDRED:
        return 100;
    case CORES:
        return 100.0 * fmax(1, core_count(m));
    case MEMORY:
        return fmax(0, pt_rates_find(&m->rates, "mem", "vMemoryTotal"));
    case LARGEST:
        break;
    }
    return 0;
}

static void print_known(const struct pt_top_model *m, enum pt_figure_id f, char *into,
                        size_t capacity) {
    double value = m->now[f];
    if (isnan(value))
        snprintf(into, capacity, "-");
    else if (pt_figures[f].format == PT_FORMAT_PLAIN && value == floor(value))
        snprintf(into, capacity, "%.0f", value);
    else
        pt_value_figure(pt_figures[f].format, value, into, capacity);
}

static void draw_meter_bar(const struct pt_top_model *m, const struct meter *meter,
                           struct pt_canvas *c, int row, int column, int width) {
    char used[32], full[32] = "", text[72];
    double whole = full_of(m, meter->scale), share = NAN;
    print_known(m, meter->figure, used, sizeof used);
    if (whole > 0)
        share = m->now[meter->figure] / whole;
    if (meter->scale == MEMORY && whole > 0)
        pt_value_figure(pt_figures[meter->figure].format, whole, full, sizeof full);
    snprintf(text, sizeof text, "%s%s%s", used, full[0] ? " / " : "", full);
    draw_bar(c, row, column, width, share, text);
}

static void draw_meter(const struct pt_top_model *m, const struct meter *meter, struct pt_canvas *c,
                       int row, int column, int width) {
    int curve = width / 5, field = width - LABEL_WIDTH - curve - 1, x = column + LABEL_WIDTH;
    char first[32], second[32], text[96];
    pt_canvas_put(c, row, column, LABEL_WIDTH, PT_STYLE_LABEL, pt_str_from(meter->label));
    print_known(m, meter->figure, first, sizeof first);
    print_known(m, meter->other, second, sizeof second);
    if (meter->kind == BAR) {
        draw_meter_bar(m, meter, c, row, x, field);
    } else if (meter->kind == PAIR) {
        snprintf(text, sizeof text, "%s %-8s %s %s", meter->words[0], first, meter->words[1],
                 second);
        pt_canvas_put(c, row, x, field, PT_STYLE_PLAIN, pt_str_from(text));
    } else {
        pt_canvas_put(c, row, x, field, PT_STYLE_PLAIN, pt_str_from(first));
    }
    pt_trail_draw(&m->curves[meter->figure], c, row, column + width - curve, curve,
                  full_of(m, meter->scale));
}

static double gpu_value(const struct pt_top_model *m, uint32_t row, const char *name) {
    int table = pt_schema_find(m->rates.schema, "gpu");
    int column = table < 0 ? -1 : pt_table_find(m->rates.schema->tables[table], name);
    return column < 0 ? NAN : pt_rates_at(&m->rates, table, row, column);
}

/* " 60/80G 512W 61C" */
static void print_gpu(const struct pt_top_model *m, uint32_t row, char *into, size_t capacity) {
    const double gigabyte = 1073741824;
    double used = gpu_value(m, row, "gMemoryUsedMb"), total = gpu_value(m, row, "gMemoryTotalMb");
    double power = gpu_value(m, row, "gPowerDrawW"), heat = gpu_value(m, row, "gTemperatureC");
    size_t n = 0;
    into[0] = 0;
    if (!isnan(used) && !isnan(total))
        n += (size_t)snprintf(into + n, capacity - n, " %.0f/%.0fG", used / gigabyte,
                              total / gigabyte);
    if (!isnan(power))
        n += (size_t)snprintf(into + n, capacity - n, " %.0fW", power);
    if (!isnan(heat))
        snprintf(into + n, capacity - n, " %.0fC", heat);
}

static void draw_gpu(const struct pt_top_model *m, uint32_t gpu, struct pt_canvas *c, int row,
                     int column, int width) {
    char label[16], busy[32] = "-", text[96];
    double index = gpu_value(m, gpu, "gGpuIndex"), share = gpu_value(m, gpu, "gUtilizationGpu");
    snprintf(label, sizeof label, "GPU%.0f", isnan(index) ? gpu : index);
    if (!isnan(share))
        pt_value_figure(PT_FORMAT_PERCENT, share * 100, busy, sizeof busy);
    print_gpu(m, gpu, text, sizeof text);
    pt_canvas_put(c, row, column, LABEL_WIDTH, PT_STYLE_LABEL, pt_str_from(label));
    draw_bar(c, row, column + LABEL_WIDTH, GPU_BAR_WIDTH, share, busy);
    int x = LABEL_WIDTH + GPU_BAR_WIDTH;
    pt_canvas_put(c, row, column + x, width - x, PT_STYLE_PLAIN, pt_str_from(text));
    x += GPU_TEXT_WIDTH + 1;
    if (x < width && gpu < PT_TOP_GPUS)
        pt_trail_draw(&m->gpus[gpu], c, row, column + x, width - x, 1);
}

/* Without a command or --pid, the recorded tree is Pitot's own cgroup: not of interest. */
static bool is_shown(const struct pt_top_model *m, const struct meter *meter) {
    if (meter->figure == PT_FIGURE_COMMAND_CPU &&
        isnan(pt_rates_find(&m->rates, "process_totals", "pTreeNumProcesses")))
        return false;
    return meter->is_always || pt_trail_is_known(&m->curves[meter->figure]);
}

static int list_items(const struct pt_top_model *m, struct item items[ITEMS_MAX]) {
    int table = pt_schema_find(m->rates.schema, "gpu"), count = 0;
    for (size_t i = 0; i < PT_COUNT(meters); i++)
        if (is_shown(m, &meters[i]))
            items[count++] = (struct item){ .meter = &meters[i] };
    uint32_t gpus = table < 0 ? 0 : pt_rates_rows(&m->rates, table)->row_count;
    for (uint32_t gpu = 0; gpu < gpus && count < ITEMS_MAX; gpu++)
        items[count++] = (struct item){ .gpu = gpu };
    return count;
}

static double core_busy(const struct pt_top_model *m, int table, uint32_t core) {
    static const char *const parts[] = { "cpuTimeUserMode", "cpuTimeKernelMode",  "cpuNice",
                                         "cpuTimeIntSrvc",  "cpuTimeSoftIntSrvc", "cpuSteal",
                                         "cpuIdleTime",     "cpuTimeIOWait" };
    const size_t first_idle = 6;
    double busy = 0, all = 0;
    for (size_t i = 0; i < PT_COUNT(parts); i++) {
        int column = pt_table_find(m->rates.schema->tables[table], parts[i]);
        double value = column < 0 ? NAN : pt_rates_at(&m->rates, table, core, column);
        if (isnan(value))
            continue;
        all += value;
        busy += i < first_idle ? value : 0;
    }
    return all > 0 ? busy / all : NAN;
}

static void draw_core_bar(const struct pt_top_model *m, int table, uint32_t core,
                          struct pt_canvas *c, int row, int column, int width) {
    char label[16], text[32] = "-";
    double busy = core_busy(m, table, core);
    double number = pt_rates_find(&m->rates, "core", "cpuNumber");
    int key = pt_table_find(m->rates.schema->tables[table], "cpuNumber");
    if (key >= 0)
        number = pt_rates_at(&m->rates, table, core, key);
    snprintf(label, sizeof label, "%3.0f", isnan(number) ? core : number);
    if (!isnan(busy))
        snprintf(text, sizeof text, "%.0f%%", busy * 100);
    pt_canvas_put(c, row, column, 3, PT_STYLE_LABEL, pt_str_from(label));
    draw_bar(c, row, column + 3, width - 4, busy, text);
}

/* Too many for bars: one mark per CPU, or per group of CPUs for the busiest. */
static void draw_core_marks(const struct pt_top_model *m, int table, uint32_t count,
                            struct pt_canvas *c, int row) {
    uint32_t room = (uint32_t)(c->columns - LABEL_WIDTH);
    uint32_t marks = count < room ? count : room;
    pt_canvas_put(c, row, 0, LABEL_WIDTH, PT_STYLE_LABEL, PT_STR("Cores"));
    for (uint32_t i = 0; i < marks; i++) {
        double busiest = NAN;
        for (uint64_t core = (uint64_t)i * count / marks; core < (uint64_t)(i + 1) * count / marks;
             core++)
            busiest = fmax(busiest, core_busy(m, table, (uint32_t)core));
        if (!isnan(busiest))
            pt_canvas_set(c, row, LABEL_WIDTH + (int)i, level_style(busiest),
                          pt_trail_mark(c, busiest));
    }
}

static int draw_cores(const struct pt_top_model *m, struct pt_canvas *c, int row, int rows_max) {
    int table = pt_schema_find(m->rates.schema, "core");
    uint32_t count = core_count(m);
    if (count == 0 || rows_max < 1 || c->columns < CORE_WIDTH)
        return 0;
    int per_row = c->columns / CORE_WIDTH, rows = ((int)count + per_row - 1) / per_row;
    if (rows > rows_max) {
        draw_core_marks(m, table, count, c, row);
        return 1;
    }
    if (per_row > (int)count)
        per_row = (int)count;
    int width = c->columns / per_row;
    for (int i = 0; i < (int)count; i++)
        draw_core_bar(m, table, (uint32_t)i, c, row + i / per_row, i % per_row * width, width);
    return rows;
}

int pt_meters_draw(const struct pt_top_model *m, struct pt_canvas *c, int row, int rows_max,
                   bool with_cores) {
    struct item items[ITEMS_MAX];
    int count = list_items(m, items);
    int per_row = c->columns >= 150 ? 3 : c->columns >= 76 ? 2 : 1;
    int width = (c->columns - 2 * (per_row - 1)) / per_row;
    int rows = (count + per_row - 1) / per_row;
    if (rows > rows_max)
        rows = rows_max;
    for (int i = 0; i < count && i < rows * per_row; i++) {
        int column = i % per_row * (width + 2);
        if (items[i].meter)
            draw_meter(m, items[i].meter, c, row + i / per_row, column, width);
        else
            draw_gpu(m, items[i].gpu, c, row + i / per_row, column, width);
    }
    if (with_cores)
        rows += draw_cores(m, c, row + rows, rows_max - rows);
    return rows;
}
