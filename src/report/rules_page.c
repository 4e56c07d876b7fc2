#include "report/rules_page.h"

#include "analyze/verdict.h"

#include <stdio.h>

static void print_limits(struct pt_out *out) {
    pt_out_text(out, "## Limits\n\n| limit | value |\n|---|---|\n");
    pt_out_printf(out, "| minimum length of a run | %.1f s, %d windows |\n", PT_EXPLAIN_SECONDS,
                  PT_EXPLAIN_WINDOWS);
    pt_out_printf(out, "| minimum length of a window | %.1f s |\n",
                  (double)PT_WINDOW_SHORTEST_NS / 1e9);
    pt_out_printf(out, "| maximum number of windows | %d |\n", PT_WINDOW_MAX);
    pt_out_printf(out, "| minimum share of the run for a verdict to be reported | %.0f %% |\n",
                  PT_VERDICT_SHARE * 100);
    pt_out_printf(out, "| minimum confidence for a verdict to be reported | %.2f |\n",
                  PT_VERDICT_REPORTED);
    pt_out_printf(out, "| minimum confidence of an answer | %.2f |\n", PT_VERDICT_CONFIDENT);
    pt_out_printf(out, "| confidence with every signal at its threshold | %.2f |\n",
                  PT_VERDICT_MIN);
    pt_out_printf(out, "| confidence with every signal certain | %.2f |\n", PT_VERDICT_MAX);
    pt_out_printf(out, "| factor for a verdict that holds in fewer than %d windows | %.2f |\n",
                  PT_VERDICT_WINDOWS, PT_VERDICT_RARE);
    pt_out_printf(out, "| factor for a verdict whose counter-evidence always holds | %.2f |\n",
                  PT_VERDICT_AGAINST);
    pt_out_printf(out, "| maximum confidence relative to a verdict that explains it | %.0f %% |\n",
                  PT_VERDICT_EXPLAINED * 100);
}

static void print_condition(struct pt_out *out, const char *lead, const struct pt_condition *c) {
    const char *name = pt_figures[c->signal].name;
    char text[128], certain[32] = "";
    pt_condition_print(c, text, sizeof text);
    if (c->certain != 0)
        pt_figure_print(c->signal, c->certain, certain, sizeof certain);
    pt_out_printf(out, "| %s | `%s` |%s | %s%s|\n", lead, name, text + strlen(name), certain,
                  *certain ? " " : "");
}

static void print_form(struct pt_out *out, const struct pt_rule *rule, int index) {
    const struct pt_rule_form *form = &rule->forms[index];
    char lead[64];
    snprintf(lead, sizeof lead, "%s", index == 0 ? "holds if" : "or if");
    if (form->ceiling > 0)
        snprintf(lead + strlen(lead), sizeof lead - strlen(lead),
                 ", confidence %s%.2f:", rule->is_event ? "" : "at most ", form->ceiling);
    int need_count = pt_condition_count(form->needs, PT_RULE_CONDITIONS);
    for (int i = 0; i < need_count; i++)
        print_condition(out, i == 0 ? lead : "and", &form->needs[i]);
    int sign_count = pt_condition_count(form->signs, PT_RULE_SIGNS);
    for (int i = 0; i < sign_count; i++)
        print_condition(out, "and one of", &form->signs[i]);
}

static void print_rule(struct pt_out *out, const struct pt_rule *rule) {
    pt_out_printf(out, "\n### %s\n\n%s.\n\n", rule->id, rule->title);
    pt_out_text(out, "| | signal | threshold | certain at |\n|---|---|---|---|\n");
    for (int f = 0; f < PT_RULE_FORMS && rule->forms[f].needs[0].direction; f++)
        print_form(out, rule, f);
    if (rule->never.direction)
        print_condition(out, "never if", &rule->never);
    int against_count = pt_condition_count(rule->against, PT_RULE_CONDITIONS);
    for (int i = 0; i < against_count; i++)
        print_condition(out, "against", &rule->against[i]);
    pt_out_char(out, '\n');
    if (rule->is_event)
        pt_out_text(out, "This is an event: the maximum of each signal counts.\n");
    else if (rule->evaluate)
        pt_out_text(out, "The conditions are checked once, for the whole run.\n");
    if (rule->note)
        pt_out_printf(out, "%s\n", rule->note);
    if (rule->is_event || rule->evaluate || rule->note)
        pt_out_char(out, '\n');
    for (int i = 0; i < (int)PT_COUNT(rule->explains) && rule->explains[i]; i++)
        pt_out_printf(out, "%s%s%s", i == 0 ? "Explains: " : ", ", rule->explains[i],
                      i + 1 < (int)PT_COUNT(rule->explains) && rule->explains[i + 1] ? ""
                                                                                     : ".\n\n");
    pt_out_printf(out, "To do: %s\n", rule->advice);
}

void pt_rules_page_print(struct pt_out *out) {
    const struct pt_rule *rule;
    print_limits(out);
    pt_out_text(out, "\n## Verdicts\n");
    for (size_t i = 0; (rule = pt_rule_at(i)); i++)
        print_rule(out, rule);
    pt_out_text(out, "\n## Signals\n\n| signal | meaning | recorded with |\n|---|---|---|\n");
    for (int id = 0; id < PT_FIGURE_COUNT; id++) {
        const char *option = pt_signal_option((enum pt_figure_id)id);
        pt_out_printf(out, option ? "| `%s` | %s | `%s` |\n" : "| `%s` | %s | |\n",
                      pt_figures[id].name, pt_figures[id].help, option);
    }
}
