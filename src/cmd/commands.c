#include "cmd/command.h"

#include "launch/child.h"
#include "profile/run/cpu_sampling.h"
#include "gputrace/gpu_tool.h"
#include "profile/run/run_cpu.h"
#include "base/fs.h"
#include "base/log.h"
#include "profile/heap/heap.h"
#include "profile/files/profile_writers.h"
#include "serve/service.h"
#include "format/rows/sink.h"
#include "store/run.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define RECORD_ALONE (1u << PT_COMMAND_RECORD)
#define GPU          (1u << PT_COMMAND_GPU)
#define RECORD       (RECORD_ALONE | GPU) /* its command runs under another tool */
#define EXPORT       (1u << PT_COMMAND_EXPORT)
#define ENERGY       (1u << PT_COMMAND_ENERGY)
#define REPORT       (1u << PT_COMMAND_REPORT)
#define CPU          (1u << PT_COMMAND_CPU)
#define HEAP         (1u << PT_COMMAND_HEAP)
#define SYMBOLIZE    (1u << PT_COMMAND_SYMBOLIZE)
#define EXPLAIN      (1u << PT_COMMAND_EXPLAIN)
#define DIFF         (1u << PT_COMMAND_DIFF)
#define MERGE        (1u << PT_COMMAND_MERGE)
#define REPAIR       (1u << PT_COMMAND_REPAIR)
#define TOP          (1u << PT_COMMAND_TOP)
#define MARK         (1u << PT_COMMAND_MARK)
#define SCHEMA       (1u << PT_COMMAND_SCHEMA)
#define SERVE        (1u << PT_COMMAND_SERVE)
#define DOCTOR       (1u << PT_COMMAND_DOCTOR)
#define DEMO         (1u << PT_COMMAND_DEMO)
#define ALL          ((1u << PT_COMMAND_COUNT) - 1)

#define AT(member)   offsetof(struct pt_command_options, member)
#define DEMO_ROW(name, kind, field, default_text, argument, help) \
    { name, 0, kind, DEMO, AT(demo.field), default_text, argument, help }

const struct pt_option pt_command_option_list[] = {
    { "output", 'o', PT_OPTION_TEXT, RECORD, AT(output), "./profiler-output", "DIR",
      "directory for the run's files" },
    { "output", 'o', PT_OPTION_TEXT, EXPORT, AT(output), NULL, "DIR",
      "output directory; with --profile, output file [directory of the journal]" },
    { "output", 'o', PT_OPTION_TEXT, REPORT, AT(output), NULL, "FILE",
      "output file [<uuid>.html next to the journal]" },
    { "output", 'o', PT_OPTION_TEXT, MERGE, AT(output), "./profiler-output", "WHERE",
      "directory for the merged run; with FILE.html, write the report there and the run next to "
      "it" },
    { "output", 'o', PT_OPTION_TEXT, REPAIR, AT(output), NULL, "DIR",
      "directory for the repaired journal [replace the journal; the damaged one is kept as "
      "*.damaged]" },
    { "profile", 0, PT_OPTION_TEXT, REPORT, AT(profile), NULL, "FILE",
      "CPU profile of the run [<uuid>.cpu.pitotprof next to the journal]" },
    { "interval", 't', PT_OPTION_MS, RECORD | SERVE, AT(interval_ns), "1000", "MS",
      "sampling interval: 1000, 100ms, 1s", .minimum = "1ms" },
    { "interval", 't', PT_OPTION_MS, TOP, AT(interval_ns), "1000", "MS",
      "time between updates: 1000, 100ms, 2s" },
    { "iterations", 'n', PT_OPTION_I64, TOP, AT(top_count), "0", "N",
      "exit after N updates; 0 = no limit" },
    { "pid", 0, PT_OPTION_LIST, TOP, AT(pids), NULL, "PID",
      "show only this process and its descendants; repeatable" },
    { "panel", 0, PT_OPTION_TEXT, TOP, AT(panel), NULL, "NAME",
      "panel to show first: processes, containers, GPUs, engines, disks, ..., or any table" },
    { "sort", 0, PT_OPTION_TEXT, TOP, AT(sort), NULL, "COLUMN",
      "sort by this column (heading or name)" },
    { "filter", 0, PT_OPTION_TEXT, TOP, AT(filter), NULL, "TEXT",
      "show only rows containing TEXT" },
    { "tree", 0, PT_OPTION_FLAG, TOP, AT(as_tree), NULL, NULL, "show processes as a tree" },
    { "at", 0, PT_OPTION_S, TOP, AT(start_ns), NULL, "TIME",
      "start TIME into the run: 90, 90s, 5m" },
    { "format", 'f', PT_OPTION_TEXT, RECORD | EXPORT, AT(formats), "parquet", "LIST",
      "output formats, comma-separated", pt_sink_name },
    { "processes", 'p', PT_OPTION_FLAG, RECORD | SERVE, AT(processes), NULL, NULL,
      "also record every process" },
    { "report", 0, PT_OPTION_FLAG, RECORD, AT(wants_report), NULL, NULL,
      "write the HTML report at the end, as `pitot report` does" },
    { "duration", 'd', PT_OPTION_S, RECORD_ALONE | CPU, AT(duration_ns), NULL, "TIME",
      "stop after TIME (60, 90s, 5m), and end the command", .minimum = "1ms" },
    { "grace", 0, PT_OPTION_S, RECORD_ALONE | CPU | HEAP, AT(grace_ns), "10s", "TIME",
      "time to exit for a command that Pitot ends (-d, lost terminal), before it is killed" },
    { "grace", 0, PT_OPTION_S, GPU, AT(grace_ns), "10m", "TIME",
      "time to exit for a command that Pitot ends (lost terminal), before it is killed" },
    { "pid", 0, PT_OPTION_LIST, RECORD_ALONE, AT(pids), NULL, "PID",
      "record a running process and its descendants; repeatable" },
    { "pid", 0, PT_OPTION_LIST, CPU, AT(pids), NULL, "PID",
      "profile a running process, all its threads and the processes it starts" },
    { "output", 'o', PT_OPTION_LIST, CPU | HEAP, AT(profile_outputs), NULL, "FILE",
      "profile file [pitot-*.html]; repeatable; the extension selects the format",
      pt_profile_extension },
    { "rate", 0, PT_OPTION_I64, CPU, AT(rate_hz), "99", "HZ", "samples per second, at most 9999" },
    { "stack", 0, PT_OPTION_I64, CPU | HEAP, AT(stack_kib), "32", "KIB",
      "KiB of the stack to copy with each sample: 8, 16, 32, 64" },
    { "off-cpu", 0, PT_OPTION_FLAG, CPU, AT(wants_off_cpu), NULL, NULL,
      "profile waiting instead of running: how long and where threads wait" },
    { "python", 0, PT_OPTION_FLAG, CPU, AT(wants_python), "true", NULL,
      "show Python functions instead of interpreter frames" },
    { "top", 0, PT_OPTION_I64, CPU | HEAP, AT(top_rows), "20", "N",
      "functions in the table at the end; 0 = none" },
    { "heap", 0, PT_OPTION_TEXT, HEAP, AT(heap_mean), "512k", "SIZE",
      "one sample per SIZE bytes allocated on average (64k, 2m); 'all' = every allocation" },
    { "heap", 0, PT_OPTION_TEXT, RECORD_ALONE, AT(heap_mean), NULL, "SIZE",
      "also profile the command's memory: one sample per SIZE bytes allocated on average [512k]; "
      "'all' = every allocation",
      NULL, NULL, "512k" },
    { "metric", 0, PT_OPTION_TEXT, HEAP, AT(heap_metric), NULL, "NAME",
      "value to show first [live], one of", pt_heap_metric_name },
    { "metric", 0, PT_OPTION_TEXT, EXPORT, AT(heap_metric), NULL, "NAME",
      "with --profile heap: value to put first [live], one of", pt_heap_metric_name },
    { "tool", 0, PT_OPTION_TEXT, GPU, AT(gpu_tool), "auto", "NAME",
      "GPU profiler to use; auto = the vendor's, else torch's for Python; one of",
      pt_gpu_tool_name },
    { "top", 0, PT_OPTION_I64, GPU, AT(top_rows), "10", "N", "rows of each table at the end" },
    { "debug-dir", 0, PT_OPTION_LIST, SYMBOLIZE, AT(debug_directories), NULL, "DIR",
      "directory of debug files, under any name or as .build-id/ab/cdef.debug; repeatable" },
    { "output", 'o', PT_OPTION_TEXT, SYMBOLIZE, AT(output), NULL, "FILE",
      "write to FILE instead; the extension selects the format", pt_profile_extension },
    { "leaks", 0, PT_OPTION_FLAG, HEAP, AT(wants_leaks), NULL, NULL,
      "list the call stacks with live bytes that grow throughout the run" },
    { "mmap", 0, PT_OPTION_FLAG, HEAP, AT(counts_mmap), NULL, NULL,
      "also count anonymous mmap (arenas of a program's own allocators)" },
    { "heap-mmap", 0, PT_OPTION_FLAG, RECORD_ALONE, AT(counts_mmap), NULL, NULL,
      "with --heap: also count anonymous mmap (arenas of a program's own allocators)" },
    { "python", 0, PT_OPTION_FLAG, HEAP, AT(wants_python_malloc), NULL, NULL,
      "also sample Python's small objects (PYTHONMALLOC=malloc; Python runs 10 to 30 % slower)" },
    { "heap-python", 0, PT_OPTION_FLAG, RECORD_ALONE, AT(wants_python_malloc), NULL, NULL,
      "with --heap: also sample Python's small objects (PYTHONMALLOC=malloc; Python runs 10 to 30 "
      "% slower)" },
    { "lines", 0, PT_OPTION_TEXT, CPU | HEAP, AT(lines), NULL, "FILE:FUNC",
      "print the source lines of this function with the cost of each" },
    { "cpu", 0, PT_OPTION_I64, RECORD, AT(cpu_hz), NULL, "HZ",
      "also profile the CPU time of the command or process: samples per second [99]", NULL, NULL,
      "99" },
    { "method", 0, PT_OPTION_TEXT, CPU, AT(cpu_method), "auto", "NAME",
      "sampling method; auto = the first permitted one; one of", pt_cpu_method_name },
    { "method", 0, PT_OPTION_TEXT, RECORD, AT(cpu_method), "auto", "NAME",
      "sampling method for --cpu; auto = the first permitted one; one of", pt_cpu_method_name },
    { "profile", 0, PT_OPTION_TEXT, EXPORT, AT(profile), NULL, "KIND",
      "write this profile of the run to the file of -o; the extension selects the format; one of",
      pt_run_profile_kind },
    { "container", 0, PT_OPTION_TEXT, RECORD_ALONE, AT(container), NULL, "ID",
      "record a running container: id, start of the id, name or cgroup path" },
    { "collect", 0, PT_OPTION_TEXT, RECORD | SERVE, AT(collect), NULL, "LIST",
      "use only these collectors, comma-separated", pt_collector_name },
    { "no-collect", 0, PT_OPTION_TEXT, RECORD | SERVE, AT(no_collect), NULL, "LIST",
      "collectors to leave out, comma-separated" },
    { "engine", 0, PT_OPTION_LIST, RECORD | SERVE | TOP, AT(engines), NULL, "URL",
      "inference engine to scrape: PORT, URL, unix:PATH; repeatable; 'auto' = detect local "
      "engines, 'off' = none [auto]" },
    { "engine-raw", 0, PT_OPTION_FLAG, RECORD | SERVE, AT(wants_raw_engine), NULL, NULL,
      "also keep the engine's metrics that have no column" },
    { "slo-ttft", 0, PT_OPTION_MS, RECORD | SERVE | TOP, AT(ttft_objective_ns), "500ms", "TIME",
      "objective of goodput: time to first token" },
    { "slo-inter-token", 0, PT_OPTION_MS, RECORD | SERVE | TOP, AT(inter_token_objective_ns),
      "50ms", "TIME", "objective of goodput: time between tokens" },
    { "alerts", 0, PT_OPTION_TEXT, RECORD | SERVE | TOP, AT(alerts), NULL, "FILE",
      "file of alert rules [GPU utilization below 10 % or above 90 %, GPU memory above 80 %, "
      "temperature above 85 C]" },
    { "alert-command", 0, PT_OPTION_TEXT, RECORD | SERVE, AT(alert_command), NULL, "COMMAND",
      "shell command to run when an alert fires or clears; PITOT_ALERT_* describe it" },
    { "blackbox", 0, PT_OPTION_BYTES, RECORD_ALONE, AT(blackbox_bytes), NULL, "SIZE",
      "record continuously into a ring of SIZE (512M); on failure, keep the last minutes",
      .minimum = "4M" },
    { "blackbox-keep", 0, PT_OPTION_S, RECORD_ALONE, AT(blackbox_keep_ns), "10m", "TIME",
      "how much history to keep", .minimum = "1s" },
    { "tag", 0, PT_OPTION_LIST, RECORD, AT(tags), NULL, "K=V", "label for the run; repeatable" },
    { "max-overhead", 0, PT_OPTION_PERCENT, RECORD | SERVE, AT(max_overhead_percent), "5",
      "PERCENT", "reduce sampling when overhead exceeds PERCENT of one CPU; 0 = never" },
    { "remote-write", 0, PT_OPTION_TEXT, RECORD | SERVE, AT(remote_write), NULL, "URL",
      "push samples to this Prometheus remote-write URL" },
    { "otlp", 0, PT_OPTION_TEXT, RECORD | SERVE, AT(otlp), NULL, "URL",
      "push samples to this OpenTelemetry receiver by OTLP/HTTP; 'off' = none "
      "[OTEL_EXPORTER_OTLP_ENDPOINT]" },
    { "push-label", 0, PT_OPTION_LIST, RECORD | SERVE, AT(push_labels), NULL, "K=V",
      "label to add to all pushed series, besides job and instance; repeatable" },
    { "push-token-file", 0, PT_OPTION_TEXT, RECORD | SERVE, AT(push_token_file), NULL, "FILE",
      "file with the bearer token for receivers" },
    { "push-processes", 0, PT_OPTION_FLAG, RECORD | SERVE, AT(pushes_processes), NULL, NULL,
      "also push the series of each process" },
    { "push-native", 0, PT_OPTION_FLAG, RECORD | SERVE, AT(pushes_native), NULL, NULL,
      "push native histograms by remote write; the receiver must have them enabled" },
    { "state-dir", 0, PT_OPTION_TEXT, RECORD, AT(state_directory), NULL, "DIR",
      "directory of the push queue [pitot in $XDG_STATE_HOME or ~/.local/state]" },
    /* PITOT_REGION is already used: it names the shared memory of libpitot. */
    { "region", 0, PT_OPTION_TEXT, RECORD | ENERGY | REPORT, AT(region), NULL, "COUNTRY",
      "country of the electricity supply: DE, US, France", NULL, "PITOT_CARBON_REGION" },
    { "carbon-intensity", 0, PT_OPTION_TEXT, RECORD | ENERGY | REPORT, AT(carbon_intensity), NULL,
      "G", "carbon intensity, g CO2e per kWh, instead of --region" },
    { "pue", 0, PT_OPTION_TEXT, RECORD | ENERGY | REPORT, AT(pue), NULL, "X",
      "power usage effectiveness (PUE) of the data centre" },
    { "price-kwh", 0, PT_OPTION_TEXT, RECORD | ENERGY | REPORT, AT(price_kwh), NULL, "PRICE",
      "price per kWh" },
    { "price-hour", 0, PT_OPTION_TEXT, RECORD | ENERGY | REPORT, AT(price_hour), NULL, "PRICE",
      "price per hour of this machine" },
    { "currency", 0, PT_OPTION_TEXT, RECORD | ENERGY | REPORT, AT(currency), NULL, "NAME",
      "currency of the prices: EUR" },
    { "gate", 0, PT_OPTION_LIST, DIFF, AT(gates), NULL, "GATE",
      "fail if a metric changes by more: 'tokens_per_second<-3%', 'cpu_time>+10%'; repeatable" },
    { "baseline", 0, PT_OPTION_LIST, DIFF, AT(baselines), NULL, "RUN",
      "run, or directory of runs, to use as A; repeatable; all other runs are then B" },
    { "output", 'o', PT_OPTION_TEXT, DIFF, AT(output), NULL, "FILE",
      "file for the differential flame graph of runs recorded with --cpu; the extension selects "
      "the format" },
    { "min-change", 0, PT_OPTION_PERCENT, DIFF, AT(minimum_change_percent), "2", "PERCENT",
      "hide changes below PERCENT" },
    { "run", 0, PT_OPTION_TEXT, MARK, AT(run), NULL, "RUN",
      "recording to add the note to [the recording that started this command, else the newest "
      "here]" },
    { "keep", 0, PT_OPTION_FLAG, MARK, AT(must_keep), NULL, NULL,
      "keep the last minutes of a recording with --blackbox" },
    PT_DEMO_OPTIONS(DEMO_ROW),
    { "listen", 0, PT_OPTION_TEXT, SERVE, AT(listen), "127.0.0.1:" PT_SERVICE_PORT, "ADDRESS",
      "address to listen on: PORT, ADDRESS:PORT, [::1]:PORT, unix:PATH; beyond loopback a token is "
      "required" },
    { "token-file", 0, PT_OPTION_TEXT, SERVE, AT(token_file), NULL, "FILE",
      "file with the token that clients send as Authorization: Bearer; other users must not be "
      "able to read it" },
    { "tls-cert", 0, PT_OPTION_TEXT, SERVE, AT(tls_certificate), NULL, "FILE",
      "certificates in PEM: enables TLS, in addition to a token" },
    { "tls-key", 0, PT_OPTION_TEXT, SERVE, AT(tls_key), NULL, "FILE",
      "private key of --tls-cert, in PEM" },
    { "state-dir", 0, PT_OPTION_TEXT, SERVE, AT(state_directory), NULL, "DIR",
      "directory of the history and the push queue [$STATE_DIRECTORY, $XDG_STATE_HOME/pitot or "
      "~/.local/state/pitot; for root, /var/lib/pitot]" },
    { "history", 0, PT_OPTION_BYTES, SERVE, AT(history_bytes), "512M", "SIZE",
      "maximum size of the history; 0 = no history" },
    { "history-age", 0, PT_OPTION_S, SERVE, AT(history_age_ns), "7d", "TIME",
      "maximum age of the history" },
    { "runs", 0, PT_OPTION_TEXT, SERVE, AT(runs), NULL, "DIR",
      "show the runs in this directory, and record into it" },
    { "alert-webhook", 0, PT_OPTION_TEXT, SERVE, AT(webhook), NULL, "URL",
      "URL to post each alert to, as JSON, when it fires or clears" },
    { "allow-private-webhook", 0, PT_OPTION_FLAG, SERVE, AT(allows_private_webhook), NULL, NULL,
      "allow webhooks on this machine and in private networks" },
    { "probe", 0, PT_OPTION_TEXT, SERVE, AT(probe), NULL, "URL",
      "engine to send test generations to, for /health: http://127.0.0.1:8000" },
    { "probe-interval", 0, PT_OPTION_S, SERVE, AT(probe_interval_ns), "30s", "TIME",
      "time between test generations" },
    { "json", 0, PT_OPTION_FLAG, ENERGY | EXPLAIN | DIFF | SCHEMA | DOCTOR, AT(as_json), NULL, NULL,
      "print JSON" },
    { "json", 0, PT_OPTION_FLAG, HEAP, AT(as_json), NULL, NULL, "with show: print JSON" },
    { "markdown", 0, PT_OPTION_FLAG, DIFF, AT(as_markdown), NULL, NULL,
      "print Markdown for a pull request" },
    { "markdown", 0, PT_OPTION_FLAG, SCHEMA, AT(as_markdown), NULL, NULL,
      "print Markdown (docs/METRICS.md)" },
    { "path.procfs", 0, PT_OPTION_TEXT, RECORD | SERVE | TOP | CPU | HEAP | DOCTOR, AT(procfs),
      "/proc", "DIR", "location of /proc" },
    { "path.sysfs", 0, PT_OPTION_TEXT, RECORD | SERVE | TOP | CPU | HEAP | DOCTOR, AT(sysfs),
      "/sys", "DIR", "location of /sys" },
    { "path.rootfs", 0, PT_OPTION_TEXT, RECORD | SERVE | TOP | CPU | HEAP | DOCTOR, AT(rootfs), "/",
      "DIR", "location of the host's root file system" },
    { "quiet", 'q', PT_OPTION_FLAG, ALL, AT(is_quiet), NULL, NULL, "print errors only" },
    { "verbose", 'v', PT_OPTION_COUNT, ALL, AT(verbosity), NULL, NULL,
      "print more; -vv for debugging" },
    { "help", 'h', PT_OPTION_FLAG, ALL, AT(wants_help), NULL, NULL, "print this help" },
};
const size_t pt_command_option_count = PT_COUNT(pt_command_option_list);

static const char record_details[] =
    "Without a command, Pitot records the machine until Ctrl+C or -d. `record` may be omitted:\n"
    "  pitot -- python serve.py\n"
    "  pitot -t 100 -f parquet,csv -p -- ./train --epochs 3\n"
    "  pitot --pid 4242 -d 60s\n"
    "  pitot --cpu --heap -- python train.py\n"
    "\n"
    "The exit code is that of the command (128 + n if signal n ended it); 125 if Pitot itself "
    "failed,\n"
    "126 or 127 if the command failed to start. Pitot never signals or stops the processes of "
    "--pid and\n"
    "--container.\n"
    "\n"
    "A signal to Pitot reaches the command once, and the command has all the time it needs: after "
    "a\n"
    "second SIGINT or SIGTERM Pitot sends SIGTERM, and the third kills the command and all "
    "processes it\n"
    "started. --grace applies only after -d and after the loss of the terminal.\n";

static const char export_details[] =
    "RUN is a directory (Pitot uses the newest run in it), a journal (*.pitot), or the start of "
    "the\n"
    "uuid of a run in ./profiler-output. It may still be recording, or have been killed.\n"
    "  pitot export profiler-output -f csv,parquet\n"
    "  pitot export profiler-output --profile cpu -o flame.html\n"
    "  pitot export profiler-output --profile heap --metric peak -o peak.folded\n";

static const char energy_details[] =
    "Each figure is marked as measured, modelled or assumed, and has a range. Prices and "
    "assumptions\n"
    "given at recording time apply; options override them for this report only.\n"
    "  pitot energy profiler-output --region DE --price-kwh 0.30 --currency EUR\n";

static const char report_details[] = "RUN is as for export. The page needs only a browser. It "
                                     "holds fewer points than the journal, but\n"
                                     "every peak.\n"
                                     "  pitot report profiler-output -o report.html\n";

static const char cpu_details[] =
    "  pitot cpu -- python train.py\n"
    "  pitot cpu --pid 4242 -d 30s -o profile.folded\n"
    "  pitot cpu --off-cpu -- ./server\n"
    "  pitot cpu show profile.pitotprof --lines train.py:step\n"
    "  pitot cpu diff before.pitotprof after.pitotprof -o diff.html\n"
    "\n"
    "Native stacks are unwound without frame pointers; the target is never stopped. Pitot uses "
    "the\n"
    "first permitted method and prints which: perf events (kernel.perf_event_paranoid up to 2, or\n"
    "CAP_PERFMON); timers inside the command, set by a preloaded library; Python frames only, read "
    "from\n"
    "outside. Exit codes are those of `pitot record`; 125 if no method is permitted.\n";

static const char heap_details[] =
    "  pitot heap -- python train.py\n"
    "  pitot heap --heap all --leaks -o heap.folded -- ./server\n"
    "  pitot heap --python --lines train.py:step -- python train.py\n"
    "  pitot heap show heap.pitotprof --leaks\n"
    "\n"
    "Pitot preloads a library into the command and all processes it starts. It samples allocations "
    "and\n"
    "never blocks them. Sums are estimates with a standard error, unless --heap all is given. "
    "Memory\n"
    "that is \"not freed\" may still be in use. Static and setuid programs, and programs with "
    "their own\n"
    "malloc, cannot be recorded: a message says so. Exit codes are those of `pitot record`.\n";

static const char gpu_details[] =
    "  pitot gpu -- python train.py\n"
    "  pitot gpu --tool ncu -- ./infer\n"
    "  pitot gpu import report.sqlite profiler-output\n"
    "\n"
    "Records the command under the profiler of the GPU's vendor: nsys (a timeline) or ncu --set "
    "full\n"
    "(kernels in depth) for NVIDIA, rocprofv3 for AMD; or under torch's own profiler. Kernels, "
    "copies,\n"
    "calls, ranges and gaps become tables of the run, aligned with its clock; the tool's own files "
    "stay\n"
    "next to the run. `import` does the same with existing files. The exit code is that of the "
    "command,\n"
    "as the tool reports it; 125 if there is no tool, or it wrote nothing.\n";

static const char symbolize_details[] =
    "Profiles keep build ids and addresses, so that symbols, source lines and inlined functions "
    "can be\n"
    "added later, on a machine that has the debug files. PROFILE is overwritten; for a RUN (as "
    "for\n"
    "export), the profile next to the journal. Debug files are searched by build id in "
    "--debug-dir, in\n"
    "/usr/lib/debug, and on the servers of DEBUGINFOD_URLS if that is set.\n"
    "  pitot symbolize server.pitotprof --debug-dir ./symbols\n";

static const char explain_details[] =
    "Prints the bottleneck of a run: its share of the time, the numbers that show it, evidence "
    "against\n"
    "it, and a fix. docs/EXPLAIN.md lists the verdicts. \"Nothing\" and \"inconclusive\" are "
    "verdicts too.\n"
    "Record with -p for more detailed answers.\n"
    "  pitot explain profiler-output\n"
    "  pitot explain profiler-output --json | jq -r '.verdicts[].id'\n";

static const char diff_details[] =
    "Compares two runs metric by metric: settings that differ, then changes beyond noise, with "
    "their\n"
    "95 % confidence intervals. Counters are compared as rates; each run is compared from where "
    "it\n"
    "becomes steady. docs/DIFF.md describes the method and the names that gates take.\n"
    "  pitot diff before after\n"
    "  pitot diff --baseline main-runs after --gate 'tokens_per_second<-3%' --markdown\n"
    "  pitot diff --baseline a1 --baseline a2 b1 b2 -o diff.html\n"
    "\n"
    "Exit code: 0 no gate failed, 1 a gate failed, 2 an error, 3 a gate was inconclusive.\n";

static const char serve_details[] =
    "Shows this machine now: a dashboard at /, /metrics for Prometheus, /health, and an API under "
    "/api/.\n"
    "docs/SERVE.md lists the routes. Listens on loopback only, unless a token is set. SIGHUP "
    "reloads\n"
    "the alert rules and the token.\n"
    "  pitot serve\n"
    "  pitot serve --listen 0.0.0.0:9477 --token-file /etc/pitot/token --tls-cert c.pem --tls-key "
    "k.pem\n"
    "  pitot serve --probe http://127.0.0.1:8000 --alerts rules.conf\n";

static const char doctor_details[] =
    "Exit code: 0 all fine, 1 something is limited, 2 recording would fail.\n";

static const char demo_details[] =
    "  pitot -- pitot demo --serve --self-load\n"
    "  pitot demo --serve --listen 8000\n"
    "  pitot demo --load http://127.0.0.1:8000 --requests 100\n"
    "\n"
    "The server prints where it listens, and listens for this machine only.\n";

static const char merge_details[] = "Merges the runs of several ranks or hosts into one run with a "
                                    "'rank' column. report, explain,\n"
                                    "export and diff read it like any other run. A directory "
                                    "stands for all runs in it. PITOT_RANK,\n"
                                    "SLURM_PROCID, RANK or OMPI_COMM_WORLD_RANK label a run while "
                                    "it is recorded. Ranks on one machine\n"
                                    "share a clock; other clocks are aligned by events that both "
                                    "machines recorded, and Pitot prints\n"
                                    "the remaining uncertainty: see docs/MERGE.md.\n"
                                    "  srun pitot -o runs -- python train.py\n"
                                    "  pitot merge runs -o merged.html\n";

static const char repair_details[] =
    "Saves everything that can be read of a damaged journal, or of one that was cut off, to a "
    "journal\n"
    "that is whole, and prints what was lost. RUN is as for export. Other commands read damaged "
    "journals\n"
    "too; a repaired one can also be extended (pitot gpu import).\n"
    "  pitot repair profiler-output\n"
    "  pitot repair 3f2a.pitot -o saved\n";

static const char top_details[] = "Without RUN, shows the machine now; with RUN (as for export), "
                                  "replays that run, also while it is\n"
                                  "being recorded. Press ? for the list of keys. If standard "
                                  "output is not a terminal, screens are\n"
                                  "printed as text.\n"
                                  "  pitot top\n"
                                  "  pitot top --pid 4242 --tree\n"
                                  "  pitot top profiler-output --at 90s\n"
                                  "  pitot top -n 1 --panel containers --sort mem | head -40\n";

static const char mark_details[] = "  pitot mark \"warm-up over\"\n"
                                   "  pitot mark --run ./out \"deployed v2\"\n";

const struct pt_command pt_commands[PT_COMMAND_COUNT] = {
    [PT_COMMAND_RECORD] = { "record", "[-- COMMAND ARGUMENT...]",
                            "record a command, a process, or the machine", pt_cmd_record,
                            record_details, PT_EXIT_OWN_FAILURE },
    [PT_COMMAND_EXPORT] = { "export", "RUN", "convert a recorded run to Parquet, CSV, ...",
                            pt_cmd_export, export_details, 2 },
    [PT_COMMAND_ENERGY] = { "energy", "RUN", "report the energy, CO2 and cost of a run",
                            pt_cmd_energy, energy_details, 2 },
    [PT_COMMAND_REPORT] = { "report", "RUN",
                            "write an HTML report of a run: one file, easy to share", pt_cmd_report,
                            report_details, 2 },
    [PT_COMMAND_CPU] = { "cpu", "[-- COMMAND ARGUMENT...] | show FILE | diff FILE FILE",
                         "profile where a command or process spends CPU time", pt_cmd_cpu,
                         cpu_details, PT_EXIT_OWN_FAILURE },
    [PT_COMMAND_HEAP] = { "heap", "-- COMMAND ARGUMENT... | show FILE",
                          "profile the memory that a command allocates, keeps and leaks",
                          pt_cmd_heap, heap_details, PT_EXIT_OWN_FAILURE },
    [PT_COMMAND_GPU] = { "gpu", "-- COMMAND ARGUMENT... | import FILE... RUN",
                         "run under nsys, ncu or rocprofv3 and align its timeline", pt_cmd_gpu,
                         gpu_details, PT_EXIT_OWN_FAILURE },
    [PT_COMMAND_SYMBOLIZE] = { "symbolize", "PROFILE | RUN", "add symbols to a profile",
                               pt_cmd_symbolize, symbolize_details, 2 },
    [PT_COMMAND_EXPLAIN] = { "explain", "RUN", "find the bottleneck of a run and suggest a fix",
                             pt_cmd_explain, explain_details, 2 },
    [PT_COMMAND_DIFF] = { "diff", "A B | --baseline RUN... B...",
                          "compare runs; check gates in continuous integration", pt_cmd_diff,
                          diff_details, 2 },
    [PT_COMMAND_MERGE] = { "merge", "RUN...", "merge the runs of several ranks or hosts",
                           pt_cmd_merge, merge_details, 2 },
    [PT_COMMAND_REPAIR] = { "repair", "RUN", "save what can be read of a damaged run",
                            pt_cmd_repair, repair_details, 2 },
    [PT_COMMAND_TOP] = { "top", "[RUN]", "watch the machine, or replay a run, in the terminal",
                         pt_cmd_top, top_details, 2 },
    [PT_COMMAND_MARK] = { "mark", "TEXT", "add a timestamped note to a running recording",
                          pt_cmd_mark, mark_details, 2 },
    [PT_COMMAND_SCHEMA] = { "schema", "", "list all recorded tables and columns", pt_cmd_schema,
                            NULL, 2 },
    [PT_COMMAND_SERVE] = { "serve", "", "serve a dashboard, Prometheus metrics and an API",
                           pt_cmd_serve, serve_details, 2 },
    [PT_COMMAND_DOCTOR] = { "doctor", "", "check what can be recorded on this machine",
                            pt_cmd_doctor, doctor_details, 2 },
    [PT_COMMAND_DEMO] = { "demo", "", "run the demo workload: a small transformer decoder",
                          pt_cmd_demo, demo_details, 2 },
    [PT_COMMAND_DOCS] = { "docs", "man|bash|metrics|otel|grafana|rules|explain",
                          "print generated documentation (man page, completions, ...)", pt_cmd_docs,
                          NULL, 2 },
    [PT_COMMAND_VERSION] = { "version", "", "print the version", pt_cmd_version, NULL, 2 },
};

int pt_command_misused(enum pt_command_id id, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pt_log(PT_LOG_ERROR, "%s; see pitot %s --help", text, pt_commands[id].name);
    return pt_commands[id].usage_exit;
}

int pt_command_fail(const struct pt_err *err, int code) {
    pt_log(PT_LOG_ERROR, "%s", err->text);
    return code;
}

int pt_command_close(struct pt_out *out, int code) {
    int rc = pt_out_close(out);
    if (!rc)
        return code;
    pt_log(PT_LOG_ERROR, "cannot write to standard output: %s", strerror(-rc));
    return code ? code : 1;
}

int pt_command_find_run(const char *run, char *journal, struct pt_err *err) {
    int other_count, rc = pt_run_find(run, journal, &other_count, err);
    if (!rc && other_count > 0)
        pt_log(PT_LOG_WARNING, "found %d runs; using the newest: %s", other_count + 1, journal);
    return rc;
}

int pt_command_open_fs(const struct pt_command_options *o, struct pt_fs *fs) {
    struct pt_err err;
    int rc = pt_fs_open(fs, o->procfs, o->sysfs, o->rootfs, &err);
    if (rc)
        pt_log(PT_LOG_ERROR, "%s", err.text);
    return rc;
}
