#include "top/meters.h"

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

struct meter {
    const char *label;
    enum kind kind;
    enum pt_figure_id figure, other;
    const char *words[2]; /* before the two numbers of a pair */
    bool is_always;       /* else only if it was known recently */
};

#define ONE(figure)                           \
    PT_FIGURE_##figure, PT_FIGURE_##figure, { \
        0                                     \
    }

static const struct meter meters[] = {
    { "CPUs", BAR, ONE(CPU_BUSY), true },
    { "Mem", BAR, ONE(MEM_USED), true },
    { "Disk", PAIR, PT_FIGURE_DISK_READ, PT_FIGURE_DISK_WRITTEN, { "r", "w" }, true },
    { "Net", PAIR, PT_FIGURE_NET_RECEIVED, PT_FIGURE_NET_SENT, { "in", "out" }, true },
    { "Tree", BAR, ONE(OWN_CPU), false },
    { "Token", NUMBER, ONE(ENGINE_TOKENS), false },
    { "TTFT", NUMBER, ONE(ENGINE_TTFT_P50), false },
    { "ITL", NUMBER, ONE(ENGINE_INTER_TOKEN_P50), false },
    { "Req", PAIR, PT_FIGURE_ENGINE_RUNNING, PT_FIGURE_ENGINE_WAITING, { "run", "wait" }, false },
    { "KV", BAR, ONE(ENGINE_KV), false },
    { "Good", NUMBER, ONE(ENGINE_GOODPUT), false },
    { "Step", NUMBER, ONE(TRAIN_STEP_TIME), false },
    { "Waits",
      PAIR,
      PT_FIGURE_TRAIN_DATA_WAIT,
      PT_FIGURE_TRAIN_COLLECTIVE_WAIT,
      { "data", "collective" },
      false },
};

struct item {
    const struct meter *meter; /* NULL: a GPU */
    uint32_t gpu;
};

static enum pt_style level_style(double share) {
    return share >= HIGH ? PT_STYLE_HIGH : share >= MIDDLE ? PT_STYLE_MIDDLE : PT_STYLE_LOW;
}

/* [|||||||     43.2%]; letters on the filled part have its colour */
static void draw_bar(struct pt_canvas *c, int row, int column, int width, double share,
                     const char *text) {
    int inner = width - 2, length = (int)strlen(text);
    int start = length < inner ? inner - length : 0;
    int filled = isnan(share) ? 0 : (int)(fmin(fmax(share, 0), 1) * inner + 0.5);
    pt_canvas_set(c, row, column, PT_STYLE_PLAIN, '[');
    for (int i = 0; i < filled; i++)
        pt_canvas_set(c, row, column + 1 + i, level_style(share), '|');
    int covered = filled > start ? (filled < inner ? filled : inner) - start : 0;
    pt_canvas_put(c, row, column + 1 + start, covered, level_style(share), pt_str_from(text));
    pt_canvas_put(c, row, column + 1 + start + covered, inner - start - covered, PT_STYLE_PLAIN,
                  pt_str_skip(pt_str_from(text), (size_t)(covered < length ? covered : length)));
    pt_canvas_set(c, row, column + 1 + inner, PT_STYLE_PLAIN, ']');
}

static double value_of(const struct pt_top_model *m, enum pt_figure_id id) {
    return m->figures.now[id].value;
}

/* The value of a full bar and of the top of a curve; 0: not known in advance. */
static double full_of(const struct pt_top_model *m, enum pt_figure_id id) {
    int limit = pt_figure_limit(id);
    double full = limit >= 0 ? value_of(m, (enum pt_figure_id)limit) : 0;
    return pt_figures[id].form == PT_FORM_SHARE ? 1 : fmax(0, full); /* skips NAN */
}

static void print_known(const struct pt_top_model *m, enum pt_figure_id f, char *into,
                        size_t capacity) {
    pt_form_print_short(pt_figures[f].form, value_of(m, f), into, capacity);
}

/* What the title says after a comma: " of the machine", " p50". */
static const char *words_of(enum pt_figure_id id) {
    const char *comma = strchr(pt_figures[id].title, ',');
    return comma ? comma + 1 : "";
}

/* [||||      25.0% of the machine], [||||      1.75 / 2.00 cores]; a third of the bar stays free,
 * so in a narrow one [|||||  1.75 cores]. Words that say what it is a share of are left out only if
 * they do not fit: [||||      25.0%]. */
static void draw_meter_bar(const struct pt_top_model *m, const struct meter *meter,
                           struct pt_canvas *c, int row, int column, int width) {
    enum pt_form form = pt_figures[meter->figure].form;
    const char *unit = form == PT_FORM_CORES ? " cores" : "";
    char used[32], full[40] = "", text[128];
    double whole = full_of(m, meter->figure);
    print_known(m, meter->figure, used, sizeof used);
    bool is_known = pt_figure_is_known(&m->figures, meter->figure);
    if (pt_figure_limit(meter->figure) >= 0 && whole > 0) {
        memcpy(full, " / ", sizeof " / ");
        pt_form_print_short(form, whole, full + 3, sizeof full - 3);
    }
    snprintf(text, sizeof text, "%s%s%s%s", used, full, unit, words_of(meter->figure));
    if ((int)strlen(text) * 3 > (width - 2) * 2 || !is_known)
        snprintf(text, sizeof text, "%s%s%s", used, is_known ? unit : "",
                 is_known ? words_of(meter->figure) : "");
    if ((int)strlen(text) > width - 2)
        snprintf(text, sizeof text, "%s%s", used, is_known ? unit : "");
    draw_bar(c, row, column, width, whole > 0 ? value_of(m, meter->figure) / whole : NAN, text);
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
        snprintf(text, sizeof text, "%s%s", first, words_of(meter->figure));
        pt_canvas_put(c, row, x, field, PT_STYLE_PLAIN, pt_str_from(text));
    }
    pt_trail_draw(&m->curves[meter->figure], c, row, column + width - curve, curve,
                  full_of(m, meter->figure));
}

/* " 60/80G 512W 61C" */
static void print_gpu(const struct pt_top_model *m, uint32_t row, char *into, size_t capacity) {
    const double gigabyte = 1073741824;
    double used = pt_top_model_value(m, PT_FIELD_GPU_MEMORY, row),
           total = pt_top_model_value(m, PT_FIELD_GPU_MEMORY_TOTAL, row);
    double power = pt_top_model_value(m, PT_FIELD_GPU_POWER, row),
           heat = pt_top_model_value(m, PT_FIELD_GPU_TEMPERATURE, row);
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
    double index = pt_top_model_value(m, PT_FIELD_GPU_INDEX, gpu);
    double share = pt_top_model_value(m, PT_FIELD_GPU_BUSY, gpu);
    snprintf(label, sizeof label, "GPU%.0f", isnan(index) ? gpu : index);
    if (!isnan(share))
        pt_form_print_short(PT_FORM_SHARE, share, busy, sizeof busy);
    print_gpu(m, gpu, text, sizeof text);
    pt_canvas_put(c, row, column, LABEL_WIDTH, PT_STYLE_LABEL, pt_str_from(label));
    draw_bar(c, row, column + LABEL_WIDTH, GPU_BAR_WIDTH, share, busy);
    int x = LABEL_WIDTH + GPU_BAR_WIDTH;
    pt_canvas_put(c, row, column + x, width - x, PT_STYLE_PLAIN, pt_str_from(text));
    x += GPU_TEXT_WIDTH + 1;
    if (x < width && gpu < PT_TOP_GPUS)
        pt_trail_draw(&m->gpus[gpu], c, row, column + x, width - x, 1);
}

static bool is_shown(const struct pt_top_model *m, const struct meter *meter) {
    return meter->is_always || pt_trail_is_known(&m->curves[meter->figure]);
}

static int list_items(const struct pt_top_model *m, struct item items[ITEMS_MAX]) {
    int count = 0;
    for (size_t i = 0; i < PT_COUNT(meters); i++)
        if (is_shown(m, &meters[i]))
            items[count++] = (struct item){ .meter = &meters[i] };
    uint32_t gpus = pt_top_model_rows(m, PT_FIELD_GPU_BUSY);
    for (uint32_t gpu = 0; gpu < gpus && count < ITEMS_MAX; gpu++)
        items[count++] = (struct item){ .gpu = gpu };
    return count;
}

static void draw_core_bar(const struct pt_top_model *m, uint32_t core, struct pt_canvas *c, int row,
                          int column, int width) {
    char label[16], text[32] = "-";
    double busy = pt_figure_core_busy(&m->figures, core);
    double number = pt_top_model_value(m, PT_FIELD_CORE_NUMBER, core);
    snprintf(label, sizeof label, "%3.0f", isnan(number) ? core : number);
    if (!isnan(busy))
        snprintf(text, sizeof text, "%.0f%%", busy * 100);
    pt_canvas_put(c, row, column, 3, PT_STYLE_LABEL, pt_str_from(label));
    draw_bar(c, row, column + 3, width - 4, busy, text);
}

/* Too many for bars: one mark per CPU, or per group of CPUs for the busiest. */
static void draw_core_marks(const struct pt_top_model *m, uint32_t count, struct pt_canvas *c,
                            int row) {
    uint32_t room = (uint32_t)(c->columns - LABEL_WIDTH);
    uint32_t marks = count < room ? count : room;
    pt_canvas_put(c, row, 0, LABEL_WIDTH, PT_STYLE_LABEL, PT_STR("Cores"));
    for (uint32_t i = 0; i < marks; i++) {
        double busiest = NAN;
        for (uint64_t core = (uint64_t)i * count / marks; core < (uint64_t)(i + 1) * count / marks;
             core++)
            busiest = fmax(busiest, pt_figure_core_busy(&m->figures, (uint32_t)core));
        if (!isnan(busiest))
            pt_canvas_set(c, row, LABEL_WIDTH + (int)i, level_style(busiest),
                          pt_trail_mark(c, busiest));
    }
}

static int draw_cores(const struct pt_top_model *m, struct pt_canvas *c, int row, int rows_max) {
    uint32_t count = pt_top_model_rows(m, PT_FIELD_CORE_NUMBER);
    if (count == 0 || rows_max < 1 || c->columns < CORE_WIDTH)
        return 0;
    int per_row = c->columns / CORE_WIDTH, rows = ((int)count + per_row - 1) / per_row;
    if (rows > rows_max) {
        draw_core_marks(m, count, c, row);
        return 1;
    }
    if (per_row > (int)count)
        per_row = (int)count;
    int width = c->columns / per_row;
    for (int i = 0; i < (int)count; i++)
        draw_core_bar(m, (uint32_t)i, c, row + i / per_row, i % per_row * width, width);
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
