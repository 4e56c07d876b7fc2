/* cmd/main.c -- finds the command, reads its options, runs it. */
#include "base/log.h"
#include "base/place.h"
#include "cmd/command.h"
#include "model/sample.h"

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_help(const struct pt_option_table *table, const struct pt_command *command,
                       bool with_overview) {
    struct pt_out out;
    pt_out_show(&out, STDOUT_FILENO);
    if (with_overview) {
        pt_out_text(&out, "Pitot records what a machine does while a workload runs.\n\n"
                          "  pitot [OPTION...] [-- COMMAND ARGUMENT...]     short for pitot "
                          "record\n\nCommands:\n");
        for (int i = 0; i < PT_COMMAND_COUNT; i++)
            pt_out_printf(&out, "  %-9s %s\n", pt_commands[i].name, pt_commands[i].summary);
        pt_out_text(&out, "\n'pitot COMMAND --help' lists a command's options.\n\n");
    }
    pt_out_printf(&out, "pitot %s [OPTION...]%s%s\n  %s\n\nOptions:\n", command->name,
                  *command->operands ? " " : "", command->operands, command->summary);
    pt_options_help(table, &out);
    if (command->details)
        pt_out_printf(&out, "\n%s", command->details);
    pt_out_text(&out,
                "\nEach option can also be set in the environment (PITOT_INTERVAL=100ms), and "
                "in\n~/.config/pitot/pitot.conf or /etc/pitot/pitot.conf (interval = 100ms).\n");
    pt_out_close(&out);
}

static int run_command(int id, bool is_implied, int argc, char **argv, char **whole_argv) {
    const struct pt_command *command = &pt_commands[id];
    struct pt_option_table table = { pt_command_option_list, pt_command_option_count, 1u << id,
                                     command->name, id == PT_COMMAND_RECORD };
    struct pt_command_options values = { 0 };
    struct pt_err err = { "" };
    int first;
    bool has_dashes;
    if (pt_options_parse(&table, &values, argc, argv, &first, &has_dashes, &err)) {
        pt_log(PT_LOG_ERROR, "%s", err.text);
        pt_options_release(&table, &values);
        return command->usage_exit;
    }
    pt_log_level = values.is_quiet         ? PT_LOG_ERROR
                   : values.verbosity == 0 ? PT_LOG_WARNING
                   : values.verbosity == 1 ? PT_LOG_INFO
                                           : PT_LOG_DEBUG;
    int code = 0;
    if (values.wants_help)
        print_help(&table, command, is_implied);
    else
        code = command->run(&values, argv + first, has_dashes, whole_argv);
    pt_options_release(&table, &values);
    return code;
}

/* Without this, a file of the recording could get the number of a closed standard stream, and
 * messages would go into it. The replacement closes at exec: the command inherits Pitot's state. */
static void hold_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", O_RDWR | O_CLOEXEC); /* takes the lowest number: fd */
}

int main(int argc, char **argv) {
    hold_standard_streams();
    setlocale(LC_CTYPE, "");
    pt_files_are_private = geteuid() == 0;
    pt_schema_install(pt_known_schema());
    if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0))
        return pt_cmd_version(NULL, argv + 2, false, argv);
    if (argc < 2 || argv[1][0] == '-')
        return run_command(PT_COMMAND_RECORD, true, argc, argv, argv);
    for (int id = 0; id < PT_COMMAND_COUNT; id++)
        if (strcmp(pt_commands[id].name, argv[1]) == 0)
            return run_command(id, false, argc - 1, argv + 1, argv);
    pt_log(PT_LOG_ERROR, "unknown command '%s' (to record it: pitot -- %s; see pitot --help)",
           argv[1], argv[1]);
    return 2;
}
