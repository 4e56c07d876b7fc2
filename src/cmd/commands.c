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
#define TOP          (1u << PT_COMMAND_TOP)
#define MARK         (1u << PT_COMMAND_MARK)
#define SCHEMA       (1u << PT_COMMAND_SCHEMA)
#define SERVE        (1u << PT_COMMAND_SERVE)
#define DOCTOR       (1u << PT_COMMAND_DOCTOR)
#define DEMO         (1u << PT_COMMAND_DEMO)
#define ALL          ((1u << PT_COMMAND_COUNT) - 1)

#define AT(member)   offsetof(struct pt_command_options, member)
#define DEMO_ROW(name, kind, field, default_text, argument, help) \
    { name, 0, kind, DEMO, AT(demo.field), default_text, argument, help },

const struct pt_option pt_command_option_list[] = {
    { "output", 'o', PT_OPTION_TEXT, RECORD, AT(output), "./profiler-output", "DIR",
      "directory for the files of the run" },
    { "output", 'o', PT_OPTION_TEXT, EXPORT, AT(output), NULL, "DIR",
      "directory for the files; beside the journal if not given; with --profile a file" },
    { "output", 'o', PT_OPTION_TEXT, REPORT, AT(output), NULL, "FILE",
      "the page; <uuid>.html beside the journal if not given" },
    { "output", 'o', PT_OPTION_TEXT, MERGE, AT(output), "./profiler-output", "WHERE",
      "directory for the merged run; or FILE.html: its report, with the run beside it" },
    { "profile", 0, PT_OPTION_TEXT, REPORT, AT(profile), NULL, "FILE",
      "profile of CPU time taken meanwhile; <uuid>.cpu.pitotprof beside the journal if not given" },
    { "interval", 't', PT_OPTION_MS, RECORD | SERVE, AT(interval_ns), "1000", "MS",
      "time between samples: 1000, 100ms, 1s" },
    { "interval", 't', PT_OPTION_MS, TOP, AT(interval_ns), "1000", "MS",
      "time between screens: 1000, 100ms, 2s" },
    { "iterations", 'n', PT_OPTION_I64, TOP, AT(top_count), "0", "N",
      "end after so many screens; 0 = no limit" },
    { "pid", 0, PT_OPTION_LIST, TOP, AT(pids), NULL, "PID",
      "only this process and what it starts; repeatable" },
    { "panel", 0, PT_OPTION_TEXT, TOP, AT(panel), NULL, "NAME",
      "what is shown first: processes, containers, GPUs, engines, disks, ..., or any table" },
    { "sort", 0, PT_OPTION_TEXT, TOP, AT(sort), NULL, "COLUMN",
      "sort by this column: a heading, or its name" },
    { "filter", 0, PT_OPTION_TEXT, TOP, AT(filter), NULL, "TEXT", "only lines with this text" },
    { "tree", 0, PT_OPTION_FLAG, TOP, AT(as_tree), NULL, NULL, "show processes as a tree" },
    { "at", 0, PT_OPTION_S, TOP, AT(start_ns), NULL, "TIME",
      "begin so far into the run: 90, 90s, 5m" },
    { "format", 'f', PT_OPTION_TEXT, RECORD | EXPORT, AT(formats), "parquet", "LIST",
      "formats of the files, a comma list", pt_sink_name },
    { "processes", 'p', PT_OPTION_FLAG, RECORD | SERVE, AT(processes), NULL, NULL,
      "record every process too" },
    { "report", 0, PT_OPTION_FLAG, RECORD, AT(wants_report), NULL, NULL,
      "write the page of `pitot report` at the end" },
    { "duration", 'd', PT_OPTION_S, RECORD_ALONE | CPU, AT(duration_ns), NULL, "TIME",
      "end the recording after 60, 90s, 5m" },
    { "pid", 0, PT_OPTION_LIST, RECORD_ALONE, AT(pids), NULL, "PID",
      "watch a running process and what it starts; repeatable" },
    { "pid", 0, PT_OPTION_LIST, CPU, AT(pids), NULL, "PID",
      "profile a running process with all its threads, and what they start" },
    { "output", 'o', PT_OPTION_LIST, CPU | HEAP, AT(profile_outputs), NULL, "FILE",
      "file for the profile, pitot-*.html if not given; its ending is the format; repeatable",
      pt_profile_ending },
    { "rate", 0, PT_OPTION_I64, CPU, AT(rate_hz), "99", "HZ", "samples a second, up to 9999" },
    { "stack", 0, PT_OPTION_I64, CPU | HEAP, AT(stack_kib), "32", "KIB",
      "how much of the stack goes with a sample: 8, 16, 32, 64" },
    { "off-cpu", 0, PT_OPTION_FLAG, CPU, AT(wants_off_cpu), NULL, NULL,
      "profile waiting instead of running: how long, and where" },
    { "python", 0, PT_OPTION_FLAG, CPU, AT(wants_python), "true", NULL,
      "show Python's functions instead of its interpreter" },
    { "top", 0, PT_OPTION_I64, CPU | HEAP, AT(top_rows), "20", "N",
      "functions in the table at the end; 0 = none" },
    { "heap", 0, PT_OPTION_TEXT, HEAP, AT(heap_mean), "512k", "SIZE",
      "bytes between samples, on average: 512k, 64k, 2m; all: every allocation" },
    { "heap", 0, PT_OPTION_TEXT, RECORD_ALONE, AT(heap_mean), NULL, "SIZE",
      "profile the memory of the command too, a sample each 512k or so many bytes; all: every "
      "allocation",
      NULL, NULL, "512k" },
    { "metric", 0, PT_OPTION_TEXT, HEAP, AT(heap_metric), NULL, "NAME",
      "what is shown first; live if not given", pt_heap_metric_name },
    { "metric", 0, PT_OPTION_TEXT, EXPORT, AT(heap_metric), NULL, "NAME",
      "with --profile heap: what comes first", pt_heap_metric_name },
    { "tool", 0, PT_OPTION_TEXT, GPU, AT(gpu_tool), "auto", "NAME",
      "profiler of GPUs to use; auto: that of the vendor, else torch's for Python",
      pt_gpu_tool_name },
    { "top", 0, PT_OPTION_I64, GPU, AT(top_rows), "10", "N", "rows of each table at the end" },
    { "debug-dir", 0, PT_OPTION_LIST, SYMBOLIZE, AT(debug_directories), NULL, "DIR",
      "where debug files are, by any name or as .build-id/ab/cdef.debug; repeatable" },
    { "output", 'o', PT_OPTION_TEXT, SYMBOLIZE, AT(output), NULL, "FILE",
      "write there instead; its ending is the format", pt_profile_ending },
    { "leaks", 0, PT_OPTION_FLAG, HEAP, AT(wants_leaks), NULL, NULL,
      "list the stacks whose live bytes rise throughout the run" },
    { "mmap", 0, PT_OPTION_FLAG, HEAP, AT(counts_mmap), NULL, NULL,
      "count anonymous mmap too: arenas of a program's own allocators" },
    { "heap-mmap", 0, PT_OPTION_FLAG, RECORD_ALONE, AT(counts_mmap), NULL, NULL,
      "with --heap: count anonymous mmap too, arenas of a program's own allocators" },
    { "python", 0, PT_OPTION_FLAG, HEAP, AT(wants_python_malloc), NULL, NULL,
      "see Python's small objects too (PYTHONMALLOC=malloc): Python then runs 10 to 30 % slower" },
    { "heap-python", 0, PT_OPTION_FLAG, RECORD_ALONE, AT(wants_python_malloc), NULL, NULL,
      "with --heap: see Python's small objects too (PYTHONMALLOC=malloc), which then runs 10 to "
      "30 % slower" },
    { "lines", 0, PT_OPTION_TEXT, CPU | HEAP, AT(lines), NULL, "FILE:FUNC",
      "print the lines of this function with what each took" },
    { "cpu", 0, PT_OPTION_I64, RECORD, AT(cpu_hz), NULL, "HZ",
      "profile the CPU time of the command or process too, 99 samples a second or so many", NULL,
      NULL, "99" },
    { "method", 0, PT_OPTION_TEXT, CPU, AT(cpu_method), "auto", "NAME",
      "how CPU time is sampled; auto: the best that is allowed", pt_cpu_method_name },
    { "method", 0, PT_OPTION_TEXT, RECORD, AT(cpu_method), "auto", "NAME",
      "how --cpu samples; auto: the best that is allowed", pt_cpu_method_name },
    { "profile", 0, PT_OPTION_TEXT, EXPORT, AT(profile), NULL, "KIND",
      "write this profile of the run to the file -o, whose ending is the format",
      pt_run_profile_kind },
    { "container", 0, PT_OPTION_TEXT, RECORD_ALONE, AT(container), NULL, "ID",
      "watch a running container: id, start of id, name or cgroup path" },
    { "collect", 0, PT_OPTION_TEXT, RECORD | SERVE, AT(collect), NULL, "LIST",
      "record only these, a comma list", pt_collector_name },
    { "no-collect", 0, PT_OPTION_TEXT, RECORD | SERVE, AT(no_collect), NULL, "LIST",
      "leave these out, a comma list" },
    { "engine", 0, PT_OPTION_LIST, RECORD | SERVE | TOP, AT(engines), NULL, "URL",
      "scrape this inference engine: PORT, URL, unix:PATH; repeatable; auto (the default): find "
      "them, off: none" },
    { "engine-raw", 0, PT_OPTION_FLAG, RECORD | SERVE, AT(wants_raw_engine), NULL, NULL,
      "keep the engine's series that have no column too" },
    { "alerts", 0, PT_OPTION_TEXT, RECORD | SERVE | TOP, AT(alerts), NULL, "FILE",
      "rules of alerts; without it GPUs are watched: use below 10 % or above 90 %, memory above "
      "80 %, 85 degrees" },
    { "alert-command", 0, PT_OPTION_TEXT, RECORD | SERVE, AT(alert_command), NULL, "COMMAND",
      "run this by the shell when an alert goes on or off; PITOT_ALERT_* say which" },
    { "blackbox", 0, PT_OPTION_BYTES, RECORD_ALONE, AT(blackbox_bytes), NULL, "SIZE",
      "record for days into a ring of this size, and keep what was before a mishap: 512M" },
    { "blackbox-keep", 0, PT_OPTION_S, RECORD_ALONE, AT(blackbox_keep_ns), "10m", "TIME",
      "how far what is kept goes back" },
    { "tag", 0, PT_OPTION_LIST, RECORD, AT(tags), NULL, "K=V", "label the run; repeatable" },
    { "max-overhead", 0, PT_OPTION_PERCENT, RECORD | SERVE, AT(max_overhead_percent), "5",
      "PERCENT", "thin collectors above this share of one CPU; 0 = never" },
    { "remote-write", 0, PT_OPTION_TEXT, RECORD | SERVE, AT(remote_write), NULL, "URL",
      "send every sample to this receiver of Prometheus remote-write" },
    { "otlp", 0, PT_OPTION_TEXT, RECORD | SERVE, AT(otlp), NULL, "URL",
      "send every sample to this receiver of OpenTelemetry, by OTLP/HTTP; if not given, where "
      "OTEL_EXPORTER_OTLP_ENDPOINT says; off: nowhere" },
    { "push-label", 0, PT_OPTION_LIST, RECORD | SERVE, AT(push_labels), NULL, "K=V",
      "label of all series that are sent, besides job and instance; repeatable" },
    { "push-token-file", 0, PT_OPTION_TEXT, RECORD | SERVE, AT(push_token_file), NULL, "FILE",
      "file with the bearer token for receivers" },
    { "push-processes", 0, PT_OPTION_FLAG, RECORD | SERVE, AT(pushes_processes), NULL, NULL,
      "send the series of single processes too" },
    { "push-native", 0, PT_OPTION_FLAG, RECORD | SERVE, AT(pushes_native), NULL, NULL,
      "send native histograms by remote-write, to a receiver that has them switched on" },
    { "state-dir", 0, PT_OPTION_TEXT, RECORD, AT(state_directory), NULL, "DIR",
      "where requests wait for receivers; pitot in $XDG_STATE_HOME or ~/.local/state" },
    /* PITOT_REGION is taken: it is where programs with libpitot leave what they record. */
    { "region", 0, PT_OPTION_TEXT, RECORD | ENERGY | REPORT, AT(region), NULL, "COUNTRY",
      "country whose electricity is used: DE, US, France", NULL, "PITOT_CARBON_REGION" },
    { "carbon-intensity", 0, PT_OPTION_TEXT, RECORD | ENERGY | REPORT, AT(carbon_intensity), NULL,
      "G", "grams of CO2e a kilowatt-hour, instead of --region" },
    { "pue", 0, PT_OPTION_TEXT, RECORD | ENERGY | REPORT, AT(pue), NULL, "X",
      "energy of the data centre over that of its machines" },
    { "price-kwh", 0, PT_OPTION_TEXT, RECORD | ENERGY | REPORT, AT(price_kwh), NULL, "PRICE",
      "price of a kilowatt-hour" },
    { "price-hour", 0, PT_OPTION_TEXT, RECORD | ENERGY | REPORT, AT(price_hour), NULL, "PRICE",
      "price of an hour of this machine" },
    { "currency", 0, PT_OPTION_TEXT, RECORD | ENERGY | REPORT, AT(currency), NULL, "NAME",
      "of the prices: EUR" },
    { "gate", 0, PT_OPTION_LIST, DIFF, AT(gates), NULL, "GATE",
      "fail if a metric changed more: 'tokens_per_second<-3%', 'cpu_time>+10%'; repeatable" },
    { "baseline", 0, PT_OPTION_LIST, DIFF, AT(baselines), NULL, "RUN",
      "instead of A: a run, or a directory for all runs in it; repeatable; then all others are B" },
    { "output", 'o', PT_OPTION_TEXT, DIFF, AT(output), NULL, "FILE",
      "differential flame graph, of runs that were recorded with --cpu; its ending is the format" },
    { "min-change", 0, PT_OPTION_PERCENT, DIFF, AT(minimum_change_percent), "2", "PERCENT",
      "smaller changes are not told" },
    { "run", 0, PT_OPTION_TEXT, MARK, AT(run), NULL, "RUN",
      "recording to mark; the one around this command, else the newest here" },
    { "keep", 0, PT_OPTION_FLAG, MARK, AT(must_keep), NULL, NULL,
      "keep what a recording with --blackbox has of the minutes before" },
    PT_DEMO_OPTIONS(DEMO_ROW){ "listen", 0, PT_OPTION_TEXT, SERVE, AT(listen),
                               "127.0.0.1:" PT_SERVICE_PORT, "ADDRESS",
                               "where to listen: PORT, ADDRESS:PORT, [::1]:PORT, unix:PATH; others "
                               "than this machine need a "
                               "token" },
    { "token-file", 0, PT_OPTION_TEXT, SERVE, AT(token_file), NULL, "FILE",
      "a line that clients send as Authorization: Bearer; nobody else may read the file" },
    { "tls-cert", 0, PT_OPTION_TEXT, SERVE, AT(tls_certificate), NULL, "FILE",
      "certificates in PEM: speak TLS, beside a token" },
    { "tls-key", 0, PT_OPTION_TEXT, SERVE, AT(tls_key), NULL, "FILE", "their key, in PEM" },
    { "state-dir", 0, PT_OPTION_TEXT, SERVE, AT(state_directory), NULL, "DIR",
      "for the history and what waits for receivers; $STATE_DIRECTORY, $XDG_STATE_HOME/pitot or "
      "~/.local/state/pitot if not "
      "given, of root /var/lib/pitot" },
    { "history", 0, PT_OPTION_BYTES, SERVE, AT(history_bytes), "512M", "SIZE",
      "how much of it is kept; 0 = none" },
    { "history-age", 0, PT_OPTION_S, SERVE, AT(history_age_ns), "7d", "TIME",
      "how long it is kept" },
    { "runs", 0, PT_OPTION_TEXT, SERVE, AT(runs), NULL, "DIR",
      "show the runs of this directory, and record into it" },
    { "alert-webhook", 0, PT_OPTION_TEXT, SERVE, AT(webhook), NULL, "URL",
      "post each alert that goes on or off there, as JSON" },
    { "allow-private-webhook", 0, PT_OPTION_FLAG, SERVE, AT(allows_private_webhook), NULL, NULL,
      "also to this machine and private networks" },
    { "probe", 0, PT_OPTION_TEXT, SERVE, AT(probe), NULL, "URL",
      "send a test generation to this engine, for /health: http://127.0.0.1:8000" },
    { "probe-interval", 0, PT_OPTION_S, SERVE, AT(probe_interval_ns), "30s", "TIME",
      "time between two of them" },
    { "json", 0, PT_OPTION_FLAG, ENERGY | EXPLAIN | DIFF | SCHEMA | DOCTOR, AT(as_json), NULL, NULL,
      "print JSON" },
    { "json", 0, PT_OPTION_FLAG, HEAP, AT(as_json), NULL, NULL, "with show: print JSON" },
    { "markdown", 0, PT_OPTION_FLAG, DIFF, AT(as_markdown), NULL, NULL,
      "print Markdown for a pull request" },
    { "markdown", 0, PT_OPTION_FLAG, SCHEMA, AT(as_markdown), NULL, NULL,
      "print Markdown (docs/METRICS.md)" },
    { "path.procfs", 0, PT_OPTION_TEXT, RECORD | SERVE | TOP | CPU | HEAP | DOCTOR, AT(procfs),
      "/proc", "DIR", "where /proc is" },
    { "path.sysfs", 0, PT_OPTION_TEXT, RECORD | SERVE | TOP | CPU | HEAP | DOCTOR, AT(sysfs),
      "/sys", "DIR", "where /sys is" },
    { "path.rootfs", 0, PT_OPTION_TEXT, RECORD | SERVE | TOP | CPU | HEAP | DOCTOR, AT(rootfs), "/",
      "DIR", "where the root of the host is" },
    { "quiet", 'q', PT_OPTION_FLAG, ALL, AT(is_quiet), NULL, NULL, "only errors" },
    { "verbose", 'v', PT_OPTION_COUNT, ALL, AT(verbosity), NULL, NULL,
      "say more; -vv for debugging" },
    { "help", 'h', PT_OPTION_FLAG, ALL, AT(wants_help), NULL, NULL, "this text" },
};
const size_t pt_command_option_count = PT_COUNT(pt_command_option_list);

static const char record_details[] =
    "Without a command the machine is recorded until Ctrl+C or -d. `record` may be left out:\n"
    "  pitot -- python serve.py\n"
    "  pitot -t 100 -f parquet,csv -p -- ./train --epochs 3\n"
    "  pitot --pid 4242 -d 60s\n"
    "  pitot --cpu --heap -- python train.py\n"
    "\n"
    "The exit code is the command's own (128 + n when signal n ended it); 125 if Pitot itself\n"
    "failed, 126 or 127 if the command could not be run. Watched processes and containers are\n"
    "never signalled or stopped.\n";

static const char export_details[] =
    "RUN is a directory (the newest run in it is taken), a journal (*.pitot), or the start of a\n"
    "uuid of a run in ./profiler-output. It may still be recording, or have been killed.\n"
    "  pitot export profiler-output -f csv,parquet\n"
    "  pitot export profiler-output --profile cpu -o flame.html\n"
    "  pitot export profiler-output --profile heap --metric peak -o peak.folded\n";

static const char energy_details[] =
    "Every figure says whether it was measured, modelled or assumed, and its range. What was "
    "given\n"
    "when recording is kept; options change it for this report only.\n"
    "  pitot energy profiler-output --region DE --price-kwh 0.30 --currency EUR\n";

static const char report_details[] = "RUN as for export. The page needs nothing but a browser; the "
                                     "numbers in it are thinned out so\n"
                                     "that every peak stays, and the journal keeps them all.\n"
                                     "  pitot report profiler-output -o report.html\n";

static const char cpu_details[] =
    "  pitot cpu -- python train.py\n"
    "  pitot cpu --pid 4242 -d 30s -o profile.folded\n"
    "  pitot cpu --off-cpu -- ./server\n"
    "  pitot cpu show profile.pitotprof --lines train.py:step\n"
    "  pitot cpu diff before.pitotprof after.pitotprof -o diff.html\n"
    "\n"
    "Native stacks are unwound without frame pointers; the target is never stopped. Taken is the\n"
    "first of these that is allowed, and it is printed: perf events (kernel.perf_event_paranoid "
    "up\n"
    "to 2, or CAP_PERFMON); timers inside the command, by a preloaded library; the frames of "
    "Python\n"
    "alone, read from outside. Exit codes are those of `pitot record`; 125 if there is no way.\n";

static const char heap_details[] =
    "  pitot heap -- python train.py\n"
    "  pitot heap --heap all --leaks -o heap.folded -- ./server\n"
    "  pitot heap --python --lines train.py:step -- python train.py\n"
    "  pitot heap show heap.pitotprof --leaks\n"
    "\n"
    "A library is preloaded into the command and all it starts; it samples allocations and does\n"
    "not stop them. Sums are estimates with their standard error, unless --heap all. \"Not "
    "freed\"\n"
    "may still be in use. Static and setuid programs, and those that bring a malloc of their own,\n"
    "cannot be recorded: exit code 125 if nothing was. Other exit codes are those of `pitot\n"
    "record`.\n";

static const char gpu_details[] =
    "  pitot gpu -- python train.py\n"
    "  pitot gpu --tool ncu -- ./infer\n"
    "  pitot gpu import report.sqlite profiler-output\n"
    "\n"
    "A recording whose command runs under the profiler of the GPU's vendor: nsys (a timeline) or\n"
    "ncu --set full (kernels in depth) for NVIDIA, rocprofv3 for AMD; or under torch's own. "
    "Kernels,\n"
    "copies, calls, ranges and gaps become tables of the run, on its clock; the tool's own files\n"
    "stay beside it. `import` does that with files made elsewhere. The exit code is the one the "
    "tool\n"
    "hands on from the command; 125 if there is no tool, or it left nothing.\n";

static const char symbolize_details[] =
    "Profiles keep the build ids of files and addresses in them, so that names, lines and inlined\n"
    "functions can be added on a machine that has the debug files. PROFILE is written anew; of a\n"
    "RUN (as for export) it is the profile beside the journal. Files are looked for by build id "
    "in\n"
    "--debug-dir, in /usr/lib/debug, and at the servers of DEBUGINFOD_URLS if that is set.\n"
    "  pitot symbolize server.pitotprof --debug-dir ./symbols\n";

static const char explain_details[] =
    "Says what held a run back, how much of the time, with the numbers that show it, what speaks\n"
    "against it and what to do: docs/EXPLAIN.md lists the answers. \"Nothing\" and "
    "\"inconclusive\"\n"
    "are answers too. It knows more of a run that was recorded with -p.\n"
    "  pitot explain profiler-output\n"
    "  pitot explain profiler-output --json | jq -r '.verdicts[].id'\n";

static const char diff_details[] =
    "Compares two runs metric by metric: what was configured differently, then what changed "
    "beyond\n"
    "noise, with its 95 % interval. Counters are compared as rates, the beginning of each run is\n"
    "cut off until it is steady. docs/DIFF.md says how, and which names gates take.\n"
    "  pitot diff before after\n"
    "  pitot diff --baseline main-runs after --gate 'tokens_per_second<-3%' --markdown\n"
    "  pitot diff --baseline a1 --baseline a2 b1 b2 -o diff.html\n"
    "\n"
    "Exit code: 0 no gate failed, 1 a gate failed, 2 an error, 3 a gate could not be decided.\n";

static const char serve_details[] =
    "Shows this machine now: a dashboard for browsers at /, /metrics for Prometheus, /health, and "
    "an\n"
    "API under /api/. docs/SERVE.md lists the routes. It listens for this machine only, unless "
    "there\n"
    "is a token. SIGHUP reads alert rules and token anew.\n"
    "  pitot serve\n"
    "  pitot serve --listen 0.0.0.0:9477 --token-file /etc/pitot/token --tls-cert c.pem --tls-key "
    "k.pem\n"
    "  pitot serve --probe http://127.0.0.1:8000 --alerts rules.conf\n";

static const char doctor_details[] =
    "Exit code: 0 all fine, 1 something is limited, 2 recording would not work.\n";

static const char demo_details[] =
    "  pitot -- pitot demo --serve --self-load\n"
    "  pitot demo --serve --listen 8000\n"
    "  pitot demo --load http://127.0.0.1:8000 --requests 100\n"
    "\n"
    "The server prints where it listens, and listens for this machine only.\n";

static const char merge_details[] =
    "Runs of several ranks or hosts become one, with a column that says whose a row is; report,\n"
    "explain, export and diff read it as any other. A directory stands for all runs in it.\n"
    "PITOT_RANK, SLURM_PROCID, RANK or OMPI_COMM_WORLD_RANK label a run while it is recorded.\n"
    "Ranks of one machine share a clock; clocks of others are aligned by what both saw, and how\n"
    "far off they may be is said: docs/MERGE.md.\n"
    "  srun pitot -o runs -- python train.py\n"
    "  pitot merge runs -o merged.html\n";

static const char top_details[] =
    "Without RUN the machine as it is now; with RUN (as for export) that run is played again, "
    "also\n"
    "while it is being recorded. Keys are on its help page: press ?. When standard output is no\n"
    "terminal, screens are printed as text.\n"
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
    [PT_COMMAND_EXPORT] = { "export", "RUN", "make Parquet, CSV, ... from a recorded run",
                            pt_cmd_export, export_details, 2 },
    [PT_COMMAND_ENERGY] = { "energy", "RUN", "say what a run cost in joules, CO2 and money",
                            pt_cmd_energy, energy_details, 2 },
    [PT_COMMAND_REPORT] = { "report", "RUN",
                            "write a run as one HTML page, to look at and to share", pt_cmd_report,
                            report_details, 2 },
    [PT_COMMAND_CPU] = { "cpu", "[-- COMMAND ARGUMENT...] | show FILE | diff FILE FILE",
                         "profile where a command or a process spends its CPU time", pt_cmd_cpu,
                         cpu_details, PT_EXIT_OWN_FAILURE },
    [PT_COMMAND_HEAP] = { "heap", "-- COMMAND ARGUMENT... | show FILE",
                          "profile what a command allocates, keeps and leaks", pt_cmd_heap,
                          heap_details, PT_EXIT_OWN_FAILURE },
    [PT_COMMAND_GPU] = { "gpu", "-- COMMAND ARGUMENT... | import FILE... RUN",
                         "record a command with the timeline of its GPUs", pt_cmd_gpu, gpu_details,
                         PT_EXIT_OWN_FAILURE },
    [PT_COMMAND_SYMBOLIZE] = { "symbolize", "PROFILE | RUN",
                               "add names and lines to a profile that was taken without",
                               pt_cmd_symbolize, symbolize_details, 2 },
    [PT_COMMAND_EXPLAIN] = { "explain", "RUN", "say what held a run back, and what to do about it",
                             pt_cmd_explain, explain_details, 2 },
    [PT_COMMAND_DIFF] = { "diff", "A B | --baseline RUN... B...",
                          "compare runs; gates for continuous integration", pt_cmd_diff,
                          diff_details, 2 },
    [PT_COMMAND_MERGE] = { "merge", "RUN...", "make one run of those of several ranks or hosts",
                           pt_cmd_merge, merge_details, 2 },
    [PT_COMMAND_TOP] = { "top", "[RUN]", "watch the machine, or a recorded run, in the terminal",
                         pt_cmd_top, top_details, 2 },
    [PT_COMMAND_MARK] = { "mark", "TEXT", "put a mark on the time axis of a running recording",
                          pt_cmd_mark, mark_details, 2 },
    [PT_COMMAND_SCHEMA] = { "schema", "", "list every table and column that is recorded",
                            pt_cmd_schema, NULL, 2 },
    [PT_COMMAND_SERVE] = { "serve", "", "show the machine now: dashboard, Prometheus metrics, API",
                           pt_cmd_serve, serve_details, 2 },
    [PT_COMMAND_DOCTOR] = { "doctor", "", "say what this machine offers and what is missing",
                            pt_cmd_doctor, doctor_details, 2 },
    [PT_COMMAND_DEMO] = { "demo", "", "run the demo workload: a small transformer decoder",
                          pt_cmd_demo, demo_details, 2 },
    [PT_COMMAND_DOCS] = { "docs", "man|bash|metrics|otel|grafana|rules|explain",
                          "print a page that is made of the program's tables", pt_cmd_docs, NULL,
                          2 },
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
        pt_log(PT_LOG_WARNING, "%d runs there, taking the newest: %s", other_count + 1, journal);
    return rc;
}

int pt_command_open_fs(const struct pt_command_options *o, struct pt_fs *fs) {
    struct pt_err err;
    int rc = pt_fs_open(fs, o->procfs, o->sysfs, o->rootfs, &err);
    if (rc)
        pt_log(PT_LOG_ERROR, "%s", err.text);
    return rc;
}
