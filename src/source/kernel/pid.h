/* source/kernel/pid.h -- text of the files in /proc/PID to structs.
 *
 * stat     17 (a) b) S 1 17 17 0 -1 4194560 120 0 3 0 250 50 0 0 20 0 4 0 1187 104857600 2560 ...
 * statm    25600 2560 1200 5 0 900 0
 * io       rchar: 6976
 * status   VmHWM:	   10240 kB
 * cgroup   0::/system.slice/ssh.service
 *
 * The kernel ends every one of these texts with a newline. A text without it was
 * cut, and the last number of a cut text is a wrong number: it is a failure. */
#ifndef PT_SOURCE_KERNEL_PID_H
#define PT_SOURCE_KERNEL_PID_H

#include "base/attr.h"
#include "base/fs.h"

#include <sys/types.h>

struct pt_pid_stat {
    struct pt_str name; /* borrows the text; may hold any byte, ") (" and newlines too */
    char state;
    int64_t parent, threads;
    int64_t minor_faults, major_faults;
    int64_t user_ticks, kernel_ticks, children_user_ticks, children_kernel_ticks;
    int64_t start_ticks; /* since boot; with the pid the identity of a process */
    int64_t virtual_bytes;
    int64_t last_cpu, block_delay_ticks; /* -1: this kernel does not say */
};

/* All parsers: 0 or -EINVAL, and then nothing of the result is to be used. */
int pt_pid_parse_stat(struct pt_scan text, struct pt_pid_stat *stat) PT_MUST_CHECK;
/* Reads PID/stat below the directory `proc` into `text`, which the name borrows. 0 or -errno. */
int pt_pid_read_stat(int proc, pid_t pid, struct pt_text *text,
                     struct pt_pid_stat *stat) PT_MUST_CHECK;
/* Can this process be watched? If not, the message says why: it ended, is a zombie, a thread of
 * another process, or hidden. `*start_ticks` identifies it together with its pid. */
int pt_pid_check(const struct pt_fs *fs, pid_t pid, int64_t *start_ticks,
                 struct pt_err *err) PT_MUST_CHECK;
/* The second of "1234567 8901 42": time in which the thread was runnable but did not run. */
int pt_pid_parse_schedstat(struct pt_scan text, int64_t *run_delay_ns) PT_MUST_CHECK;
int pt_pid_parse_statm(struct pt_scan text, int64_t *resident_pages) PT_MUST_CHECK;

struct pt_pid_io {
    int64_t read_chars, write_chars; /* through system calls */
    int64_t read_bytes, write_bytes; /* from and to storage */
};

int pt_pid_parse_io(struct pt_scan text, struct pt_pid_io *io) PT_MUST_CHECK;

/* Values of a file of "Key: number" lines, each of which may be missing: a
 * kernel thread has no VmHWM. Sizes are bytes. */
#define PT_PID_VALUES 9

struct pt_pid_values {
    int64_t at[PT_PID_VALUES];
    uint32_t present; /* a bit each */
};

static inline bool pt_pid_has(const struct pt_pid_values *v, int field) {
    return v->present >> field & 1;
}

enum pt_pid_status_field {
    PT_STATUS_UID,
    PT_STATUS_NS_PID, /* in the innermost pid namespace */
    PT_STATUS_PEAK_RESIDENT,
    PT_STATUS_RSS_ANON,
    PT_STATUS_RSS_FILE,
    PT_STATUS_RSS_SHMEM,
    PT_STATUS_SWAP,
    PT_STATUS_VOLUNTARY, /* context switches of this one thread */
    PT_STATUS_NONVOLUNTARY,
    PT_STATUS_COUNT
};

enum pt_pid_rollup_field {
    PT_ROLLUP_PSS,
    PT_ROLLUP_PSS_ANON,
    PT_ROLLUP_PSS_FILE,
    PT_ROLLUP_PSS_SHMEM,
    PT_ROLLUP_SWAP_PSS,
    PT_ROLLUP_COUNT
};

int pt_pid_parse_status(struct pt_scan text, struct pt_pid_values *values) PT_MUST_CHECK;
int pt_pid_parse_smaps_rollup(struct pt_scan text, struct pt_pid_values *values) PT_MUST_CHECK;

/* The path that says most about the process; borrows the text. A v2 path below
 * the root, else that of the v1 memory controller, else any below the root, else "/". */
int pt_pid_parse_cgroup(struct pt_scan text, struct pt_str *path) PT_MUST_CHECK;

#endif
