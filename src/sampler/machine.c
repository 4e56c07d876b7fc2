#include "sampler/machine.h"

#include "source/kernel/cpuinfo.h"
#include "store/static_field.h"

#include <fcntl.h>
#include <unistd.h>

static struct pt_given count_of(int count) {
    return (struct pt_given){ count > 0, count };
}

static void describe_cpu(const struct pt_fs *fs, struct pt_text *buffer,
                         struct pt_energy_basis *b) {
    struct pt_scan text;
    struct pt_cpuinfo cpu;
    if (pt_fs_read(fs->proc, "cpuinfo", buffer, &text))
        return;
    pt_cpuinfo_parse(text, &cpu);
    pt_str_copy(b->cpu_type, sizeof b->cpu_type, pt_str_from(cpu.type));
    b->cpu_threads = count_of(cpu.processor_count);
    b->cpu_sockets = count_of(cpu.socket_count);
    bool is_guest = cpu.is_guest || faccessat(fs->proc, "device-tree/hypervisor", F_OK, 0) == 0;
    b->is_guest = (struct pt_given){ is_guest || cpu.is_x86, is_guest };
}

void pt_machine_describe(const struct pt_fs *fs, struct pt_energy_basis *b) {
    struct pt_text buffer = { 0 };
    struct pt_scan text;
    int64_t bytes;
    describe_cpu(fs, &buffer, b);
    if (!pt_fs_read(fs->proc, "meminfo", &buffer, &text) &&
        !pt_static_find_kib(text, PT_STR("MemTotal:"), &bytes) && bytes > 0)
        b->memory_bytes = (struct pt_given){ true, (double)bytes };
    pt_text_release(&buffer);
}
