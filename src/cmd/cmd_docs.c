/* cmd/cmd_docs.c -- pages made of the program's own tables: man page and shell completion of
 * commands and options; metrics, dashboard and rules of the schema; the names of OpenTelemetry; the
 * conditions of verdicts. */
#include "sampler/sampler.h"
#include "analyze/watch.h"
#include "cmd/command.h"
#include "push/otel_names.h"
#include "report/grafana.h"
#include "report/prometheus_rules.h"
#include "report/rules_page.h"

#include <string.h>
#include <unistd.h>

static struct pt_option_table table_of(int id) {
    return (struct pt_option_table){ pt_command_option_list, pt_command_option_count, 1u << id,
                                     pt_commands[id].name };
}

/* In roff a minus must be \- and a line must not start with a dot. */
static void roff(struct pt_out *out, const char *text) {
    for (const char *at = text; *at; at++) {
        if (*at == '-')
            pt_out_text(out, "\\-");
        else if (*at == '\\')
            pt_out_text(out, "\\e");
        else {
            if (*at == '.' && (at == text || at[-1] == '\n'))
                pt_out_text(out, "\\&");
            pt_out_char(out, *at);
        }
    }
}

static void man_option(struct pt_out *out, const struct pt_option *o) {
    pt_out_text(out, ".TP\n.B ");
    if (o->short_name)
        pt_out_printf(out, "\\-%c, ", o->short_name);
    pt_out_text(out, "\\-\\-");
    roff(out, o->name);
    if (o->argument)
        pt_out_printf(out, o->implied ? "[=\\fI%s\\fR]" : " \\fI%s\\fR", o->argument);
    pt_out_char(out, '\n');
    char variable[64], description[512];
    pt_option_describe(o, description, sizeof description);
    roff(out, description);
    pt_option_variable(o, variable, sizeof variable);
    if (o->default_text && *o->default_text) {
        pt_out_text(out, ". Default: ");
        roff(out, o->default_text);
    }
    pt_out_printf(out, ". Environment: %s.\n", variable);
}

void pt_docs_man(struct pt_out *out) {
    pt_out_text(out, ".TH PITOT 1 \"\" \"pitot " PITOT_VERSION "\"\n.SH NAME\n"
                     "pitot \\- record what a machine does while a workload runs\n.SH SYNOPSIS\n"
                     ".B pitot\n[\\fIOPTION\\fR...] [\\-\\- \\fICOMMAND ARGUMENT\\fR...]\n");
    for (int id = 0; id < PT_COMMAND_COUNT; id++) {
        const struct pt_command *c = &pt_commands[id];
        struct pt_option_table table = table_of(id);
        pt_out_printf(out, ".SH \"PITOT %s\"\n.B pitot %s\n[\\fIOPTION\\fR...] ", c->name, c->name);
        roff(out, c->operands);
        pt_out_text(out, "\n.PP\n");
        roff(out, c->summary);
        pt_out_text(out, ".\n");
        for (size_t i = 0; i < table.option_count; i++)
            if (pt_option_applies(&table, &table.options[i]))
                man_option(out, &table.options[i]);
        if (c->details) {
            pt_out_text(out, ".PP\n.nf\n");
            roff(out, c->details);
            pt_out_text(out, ".fi\n");
        }
    }
    pt_out_text(out, ".SH FILES\n"
                     "\\fI~/.config/pitot/pitot.conf\\fR, \\fI/etc/pitot/pitot.conf\\fR: "
                     "\\fIoption = value\\fR lines; a section [record] holds for that command "
                     "only.\n.SH EXIT STATUS\n"
                     "The exit status of the recorded command, or 128 + n when signal n ended it; "
                     "125 when Pitot itself failed; 126 or 127 when the command could not be "
                     "run; 2 for wrong usage of other commands.\n");
}

void pt_docs_bash(struct pt_out *out) {
    pt_out_text(out, "# bash completion for pitot; made by `pitot docs bash`, do not edit\n"
                     "_pitot() {\n"
                     "    local word=${COMP_WORDS[COMP_CWORD]} command=record i\n"
                     "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                     "        [[ ${COMP_WORDS[i]} == -- ]] && { _command_offset $((i + 1)); "
                     "return; }\n"
                     "    done\n"
                     "    local commands='");
    for (int id = 0; id < PT_COMMAND_COUNT; id++)
        pt_out_printf(out, "%s%s", id ? " " : "", pt_commands[id].name);
    pt_out_text(out, "'\n    [[ \" $commands \" == *\" ${COMP_WORDS[1]} \"* ]] && "
                     "command=${COMP_WORDS[1]}\n    local options\n    case $command in\n");
    for (int id = 0; id < PT_COMMAND_COUNT; id++) {
        struct pt_option_table table = table_of(id);
        pt_out_printf(out, "    %s) options='", pt_commands[id].name);
        for (size_t i = 0, n = 0; i < table.option_count; i++)
            if (pt_option_applies(&table, &table.options[i]))
                pt_out_printf(out, "%s--%s", n++ ? " " : "", table.options[i].name);
        pt_out_text(out, "' ;;\n");
    }
    pt_out_text(out, "    esac\n"
                     "    if [[ $word == -* ]]; then\n"
                     "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                     "    elif ((COMP_CWORD == 1)); then\n"
                     "        COMPREPLY=($(compgen -W \"$commands\" -- \"$word\"))\n"
                     "    else\n"
                     "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
                     "    fi\n"
                     "}\n"
                     "complete -F _pitot pitot\n");
}

static void otel_name(struct pt_out *out, const struct pt_otel_name *n) {
    static const char *const kinds[] = {
        [PT_OTLP_GAUGE] = "gauge",
        [PT_OTLP_COUNTER] = "counter",
        [PT_OTLP_UP_DOWN_COUNTER] = "up-down counter",
        [PT_OTLP_HISTOGRAM] = "histogram",
        [PT_OTLP_SUMMED_HISTOGRAM] = "histogram",
    };
    static const char *const parts[] = { "", ", its sum", ", its count" };
    pt_out_printf(out, "| `%s.%s` | `%s` | %s%s | %s | %s |\n", n->table, n->column, n->name,
                  kinds[n->kind], parts[n->part], n->unit, n->attributes ? n->attributes : "");
}

void pt_docs_otel(struct pt_out *out) {
    pt_out_text(out, "# Names of OpenTelemetry\n\n"
                     "What `--otlp` calls our columns, by version " PT_OTEL_VERSION
                     " of the semantic conventions. Made by `pitot docs otel`; do not edit.\n\n"
                     "What is not listed is called `pitot.TABLE.COLUMN`, with the names of "
                     "[METRICS.md](METRICS.md), in base units. Metrics of programs with libpitot "
                     "keep their own names.\n\n"
                     "| column | name | kind | unit | attributes |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < pt_otel_name_count; i++)
        otel_name(out, &pt_otel_names[i]);
    pt_out_text(out, "\nKeys of tables are attributes of their own name, but for these:\n\n"
                     "| key | attribute |\n|---|---|\n");
    for (size_t i = 0; i < pt_otel_key_count; i++)
        pt_out_printf(out, "| `%s.%s` | `%s` |\n", pt_otel_keys[i].table, pt_otel_keys[i].column,
                      pt_otel_keys[i].attribute);
}

static void print_dashboard(struct pt_out *out) {
    const struct pt_table *tables[PT_SAMPLER_TABLES];
    pt_grafana_print(&(struct pt_schema){ tables, pt_sampler_tables(tables) }, out);
}

static void print_rules(struct pt_out *out) {
    const struct pt_table *tables[PT_SAMPLER_TABLES];
    struct pt_watch watch = { 0 };
    pt_watch_add_defaults(&watch);
    pt_prometheus_rules_print(&(struct pt_schema){ tables, pt_sampler_tables(tables) }, &watch,
                              out);
}

int pt_cmd_docs(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv) {
    static const struct {
        const char *name;
        void (*print)(struct pt_out *out);
    } pages[] = {
        { "man", pt_docs_man },
        { "bash", pt_docs_bash },
        { "metrics", pt_schema_markdown },
        { "otel", pt_docs_otel },
        { "grafana", print_dashboard },
        { "rules", print_rules },
        { "explain", pt_rules_page_print },
    };
    (void)o;
    (void)has_dashes;
    (void)argv;
    for (size_t i = 0; *operands && i < PT_COUNT(pages); i++) {
        if (strcmp(*operands, pages[i].name) != 0)
            continue;
        struct pt_out out;
        pt_out_borrow(&out, STDOUT_FILENO);
        pages[i].print(&out);
        return pt_command_close(&out, 0);
    }
    return pt_command_misused(PT_COMMAND_DOCS,
                              "give one of man, bash, metrics, otel, grafana, rules, explain");
}
