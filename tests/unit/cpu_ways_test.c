/* What the ways of sampling CPU time without perf are made of; tests/profile/ladder.py tries them
 * whole. */
#include "test.h"

#include "profile/run/cpu_sampling.h"
#include "launch/environment.h"
#include "base/fs.h"
#include "profile/unwind/loader.h"
#include "profile/sample/preload_replay.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The head of a program with these program headers. */
struct made_program {
    Elf64_Ehdr file;
    Elf64_Phdr parts[2];
    char loader[64];
};

static struct made_program make_program(const char *loader) {
    struct made_program p = { .file = { .e_ident = ELFMAG,
                                        .e_phoff = offsetof(struct made_program, parts),
                                        .e_phentsize = sizeof(Elf64_Phdr),
                                        .e_phnum = 2 } };
    p.file.e_ident[EI_CLASS] = ELFCLASS64;
    p.file.e_ident[EI_DATA] = ELFDATA2LSB;
    p.parts[0].p_type = PT_LOAD;
    p.parts[1].p_type = loader ? PT_INTERP : PT_NOTE;
    p.parts[1].p_offset = offsetof(struct made_program, loader);
    p.parts[1].p_filesz = loader ? strlen(loader) + 1 : 0;
    snprintf(p.loader, sizeof p.loader, "%s", loader ? loader : "");
    return p;
}

static enum pt_loader parse(const void *head, size_t size, struct pt_str *name) {
    return pt_loader_parse((struct pt_str){ head, size }, name);
}

static void test_loader(void **state) {
    (void)state;
    struct pt_str name;
    struct made_program p = make_program("/lib64/ld-linux-x86-64.so.2");
    assert_int_equal(parse(&p, sizeof p, &name), PT_LOADER_DYNAMIC);
    assert_str_eq(name, "/lib64/ld-linux-x86-64.so.2");
    p = make_program("/lib/ld-musl-x86_64.so.1");
    assert_int_equal(parse(&p, sizeof p, &name), PT_LOADER_MUSL);
    p = make_program(NULL);
    assert_int_equal(parse(&p, sizeof p, &name), PT_LOADER_STATIC);
    p.file.e_ident[EI_CLASS] = ELFCLASS32;
    assert_int_equal(parse(&p, sizeof p, &name), PT_LOADER_UNKNOWN);
}

static void test_loader_cut(void **state) {
    (void)state;
    struct pt_str name;
    struct made_program p = make_program("/lib64/ld-linux-x86-64.so.2");
    for (size_t size = 0; size < offsetof(struct made_program, loader); size++)
        assert_int_equal(parse(&p, size, &name), PT_LOADER_UNKNOWN);
    p.file.e_phoff = UINT64_MAX - 8;
    assert_int_equal(parse(&p, sizeof p, &name), PT_LOADER_UNKNOWN);
}

static void test_script(void **state) {
    (void)state;
    static const char text[] = "#! /usr/bin/env python3\nimport torch\n";
    struct pt_str name;
    assert_int_equal(parse(text, strlen(text), &name), PT_LOADER_SCRIPT);
    assert_str_eq(name, "/usr/bin/env");
    assert_int_equal(parse("#!", 2, &name), PT_LOADER_UNKNOWN);
    assert_int_equal(parse("#!\n", 3, &name), PT_LOADER_SCRIPT);
    assert_int_equal(name.len, 0);
}

static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static void test_check(void **state) {
    (void)state;
    char directory[] = "/tmp/pitot-loader-XXXXXX", program[64], script[64], text[128];
    struct made_program p = make_program(NULL);
    struct pt_err err = { "" };
    assert_non_null(mkdtemp(directory));
    snprintf(program, sizeof program, "%s/program", directory);
    snprintf(script, sizeof script, "%s/script", directory);
    snprintf(text, sizeof text, "#!%s -x\n", program);
    write_file(program, &p, sizeof p);
    write_file(script, text, strlen(text));
    assert_int_equal(pt_loader_check(script, &err), -ENOEXEC);
    assert_non_null(strstr(err.text, "program is statically linked"));
    assert_int_equal(pt_loader_check("sh", &err), 0);
    assert_int_equal(pt_loader_check("no program of this name", &err), 0);
    /* a script that is its own interpreter comes to an end */
    snprintf(text, sizeof text, "#!%s\n", script);
    write_file(script, text, strlen(text));
    assert_int_equal(pt_loader_check(script, &err), 0);
    unlink(program);
    unlink(script);
    rmdir(directory);
}

/* Only the first 4 KiB of a program are read: where its headers end later, nothing is known. */
static void test_head(void **state) {
    (void)state;
    char path[] = "/tmp/pitot-loader-XXXXXX";
    struct pt_err err = { "" };
    struct {
        Elf64_Ehdr file;
        uint8_t bytes[8192];
    } p = { .file = make_program(NULL).file };
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t late = 0; late < 2; late++) {
        p.file.e_phoff = 4096 + late - p.file.e_phnum * sizeof(Elf64_Phdr);
        assert_int_equal(pwrite(fd, &p, sizeof p, 0), sizeof p);
        assert_int_equal(pt_loader_check(path, &err), late ? 0 : -ENOEXEC);
    }
    close(fd);
    unlink(path);
}

/* Programs that gain privileges do not take a library; those that gain none do. */
static void test_privileges(void **state) {
    (void)state;
    char path[] = "/tmp/pitot-loader-XXXXXX";
    struct made_program p = make_program("/lib64/ld-linux-x86-64.so.2");
    struct pt_err err = { "" };
    int fd = mkstemp(path);
    assert_int_equal(write(fd, &p, sizeof p), sizeof p);
    assert_int_equal(pt_loader_check(path, &err), 0);
    assert_int_equal(fchmod(fd, 06755), 0); /* of our own user and group */
    assert_int_equal(pt_loader_check(path, &err), 0);
    if (geteuid() == 0) {
        /* file capabilities: CAP_NET_RAW permitted. Root has them already. */
        const uint32_t capabilities[] = { 0x02000001, 1u << 13, 0, 0, 0 };
        if (!setxattr(path, "security.capability", capabilities, sizeof capabilities, 0))
            assert_int_equal(pt_loader_check(path, &err), 0);
        assert_int_equal(fchown(fd, 1, (gid_t)-1), 0);
        assert_int_equal(fchmod(fd, 04755), 0);
        assert_int_equal(pt_loader_check(path, &err), -ENOEXEC);
        assert_non_null(strstr(err.text, "gains privileges"));
        assert_non_null(strstr(err.text, path));
        assert_int_equal(fchmod(fd, 0755), 0);
        assert_int_equal(pt_loader_check(path, &err), 0);
        assert_int_equal(fchown(fd, 0, 1), 0);
        assert_int_equal(fchmod(fd, 02755), 0);
        assert_int_equal(pt_loader_check(path, &err), -ENOEXEC);
    }
    close(fd);
    unlink(path);
}

static void test_path(void **state) {
    (void)state;
    char directory[] = "/tmp/pitot-loader-XXXXXX", program[64], path[128], before[4096];
    struct made_program p = make_program("/lib/ld-musl-x86_64.so.1");
    struct pt_err err = { "" };
    assert_non_null(mkdtemp(directory));
    snprintf(before, sizeof before, "%s", getenv("PATH"));
    snprintf(program, sizeof program, "%s/musl-program", directory);
    write_file(program, &p, sizeof p);
    snprintf(path, sizeof path, "/nonexistent:%s", directory);
    setenv("PATH", path, 1);
    assert_int_equal(pt_loader_check("musl-program", &err), 0); /* cannot be executed */
    assert_int_equal(chmod(program, 0755), 0);
    assert_int_equal(pt_loader_check("musl-program", &err), -ENOEXEC);
    assert_non_null(strstr(err.text, "musl"));
    assert_int_equal(pt_loader_check("musl-progra", &err), 0);
    setenv("PATH", "/nonexistent", 1);
    assert_int_equal(pt_loader_check("musl-program", &err), 0);
    unsetenv("PATH");
    assert_int_equal(pt_loader_check("musl-program", &err), 0);
    /* an empty part is the current directory */
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(chdir(directory), 0);
    setenv("PATH", "/nonexistent:", 1);
    int rc = pt_loader_check("musl-program", &err);
    assert_int_equal(fchdir(here), 0);
    assert_int_equal(rc, -ENOEXEC);
    setenv("PATH", before, 1);
    close(here);
    unlink(program);
    rmdir(directory);
}

/* The value of a variable; NULL: it is not there, or twice. */
static const char *value_of(const struct pt_environment *e, const char *name) {
    const char *value = NULL;
    for (size_t i = 0; e->at[i]; i++)
        if (strncmp(e->at[i], name, strlen(name)) == 0 && e->at[i][strlen(name)] == '=') {
            if (value)
                return NULL;
            value = e->at[i] + strlen(name) + 1;
        }
    return value;
}

static void test_preload(void **state) {
    (void)state;
    struct pt_environment e;
    setenv("LD_PRELOAD", "", 1);
    pt_environment_init(&e);
    pt_environment_preload(&e, "/lib/first.so");
    assert_string_equal(value_of(&e, "LD_PRELOAD"), "/lib/first.so");
    pt_environment_preload(&e, "/lib/second.so");
    assert_string_equal(value_of(&e, "LD_PRELOAD"), "/lib/second.so:/lib/first.so");
    pt_environment_release(&e);
    unsetenv("LD_PRELOAD");
}

static void test_methods(void **state) {
    (void)state;
    enum pt_cpu_method method;
    struct pt_err err;
    const char *name;
    size_t count = 0;
    for (; (name = pt_cpu_method_name(count)); count++) {
        assert_int_equal(pt_cpu_method_parse(name, &method, &err), 0);
        assert_int_equal(method, count);
    }
    assert_int_equal(count, PT_CPU_METHODS);
    assert_int_equal(pt_cpu_method_parse("ptrace", &method, &err), -EINVAL);
    assert_non_null(strstr(err.text, "'ptrace'"));
}

/* What is refused before anything is sampled, with the reason of each method that was asked for. */
static void test_refused(void **state) {
    (void)state;
    static const struct {
        enum pt_cpu_method method;
        struct pt_perf_options how;
        bool is_command;
        int rc;
        const char *text;
    } cases[] = {
        { PT_CPU_TIMER,
          { .rate_hz = 99 },
          false,
          -ENOTSUP,
          "cannot sample CPU time: timer: only for commands, not for running processes" },
        { PT_CPU_PYTHON, { .rate_hz = 99 }, false, -ENOTSUP, "cannot sample CPU time: " },
        { PT_CPU_TIMER,
          { .rate_hz = 99, .is_off_cpu = true },
          false,
          -ENOTSUP,
          "cannot sample CPU time: " },
        { PT_CPU_TIMER, { .rate_hz = 99 }, true, -ENOEXEC, "is statically linked" },
        { PT_CPU_PYTHON, { .rate_hz = 99 }, true, -ENOTSUP, "cannot sample CPU time: " },
    };
    char path[] = "/tmp/pitot-python-XXXXXX";
    struct made_program p = make_program(NULL);
    struct pt_fs fs;
    struct pt_err err;
    close(mkstemp(path));
    write_file(path, &p, sizeof p);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(pt_fs_open(&fs, "/proc", "/sys", "/", &err), 0);
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_cpu_sampling s;
        struct pt_cpu_sampling_options o = { .fs = &fs,
                                             .how = cases[i].how,
                                             .method = cases[i].method,
                                             .program = cases[i].is_command ? path : NULL };
        pid_t pid = getppid(); /* Pitot itself is left out */
        int rc = cases[i].is_command ? pt_cpu_sampling_choose(&s, &o, &err)
                                     : pt_cpu_sampling_attach(&s, &o, &pid, 1, &err);
        assert_int_equal(rc, cases[i].rc);
        if (!strstr(err.text, cases[i].text))
            fail_msg("%s is not in %s", cases[i].text, err.text);
        assert_false(s.helper.is_started);
        pt_cpu_sampling_release(&s);
    }
    struct pt_cpu_sampling s;
    struct pt_cpu_sampling_options o = { .fs = &fs, .method = PT_CPU_AUTO };
    assert_int_equal(pt_cpu_sampling_attach(&s, &o, &(pid_t){ getpid() }, 1, &err), -ESRCH);
    assert_string_equal(err.text, "no process to profile");
    assert_false(s.helper.is_started);
    pt_cpu_sampling_release(&s);
    pt_fs_close(&fs);
    unlink(path);
}

static void start_recording(struct pt_recording *r, struct pt_fs *fs, struct pt_pythons *pythons) {
    struct pt_err err;
    assert_int_equal(pt_fs_open(fs, "/proc", "/sys", "/", &err), 0);
    pt_pythons_init(pythons);
    pt_recording_init(r, fs, pythons, false, 1000);
}

static void end_recording(struct pt_recording *r, struct pt_fs *fs, struct pt_pythons *pythons) {
    pt_recording_release(r);
    pt_pythons_release(pythons);
    pt_fs_close(fs);
}

static void test_missed(void **state) {
    (void)state;
    struct pt_recording r;
    struct pt_fs fs;
    struct pt_pythons pythons;
    struct pt_perf_record sample = { .kind = PT_PERF_SAMPLE, .pid = 5, .tid = 5, .time_ns = 1 };
    sample.sample.missed = 3;
    start_recording(&r, &fs, &pythons);
    pt_recording_take(&r, &sample, NULL);
    assert_int_equal(r.profile.samples.count, 1);
    assert_int_equal(pt_profile_value(&r.profile, 0, 0), 4);
    assert_int_equal(pt_profile_value(&r.profile, 0, 1), 4000);
    assert_int_equal(r.profile.samples.at[0].stack, PT_PROFILE_NONE);
    end_recording(&r, &fs, &pythons);
}

static void test_rest(void **state) {
    (void)state;
    char buffer[PT_PROFILE_NAME_BYTES];
    struct pt_recording r;
    struct pt_fs fs;
    struct pt_pythons pythons;
    struct pt_perf_record sample = { .kind = PT_PERF_SAMPLE, .pid = 5, .tid = 6, .time_ns = 1 };
    struct pt_perf_record rest = sample;
    rest.sample.is_rest = true;
    rest.sample.missed = 8;
    start_recording(&r, &fs, &pythons);
    r.bare_frame = pt_profile_marker(&r.profile, PT_STR("[seen]"));
    pt_recording_take(&r, &sample, NULL);
    pt_recording_take(&r, &rest, NULL);
    const struct pt_profile_sample *samples = r.profile.samples.at;
    assert_int_equal(samples[1].stack, samples[0].stack);
    assert_int_equal(samples[1].thread, samples[0].thread);
    assert_int_equal(samples[1].gil, 0); /* nobody looked */
    assert_int_equal(r.profile.meta.gil_known, 0);
    assert_int_equal(pt_profile_value(&r.profile, 1, 0), 9);
    /* its thread has ended: another one of that number was never seen */
    pt_recording_take(&r, &rest, NULL);
    uint32_t stack = r.profile.samples.at[2].stack;
    assert_str_eq(pt_profile_frame_name(&r.profile, r.profile.stacks.at[stack].frame, buffer),
                  "[not sampled]");
    end_recording(&r, &fs, &pythons);
}

static void test_bare(void **state) {
    (void)state;
    char buffer[PT_PROFILE_NAME_BYTES];
    struct pt_recording r;
    struct pt_fs fs;
    struct pt_pythons pythons;
    struct pt_perf_record sample = { .kind = PT_PERF_SAMPLE, .pid = 5, .tid = 5, .time_ns = 1 };
    start_recording(&r, &fs, &pythons);
    r.bare_frame = pt_profile_marker(&r.profile, PT_STR("[not Python]"));
    pt_recording_take(&r, &sample, NULL);
    uint32_t stack = r.profile.samples.at[0].stack;
    assert_int_not_equal(stack, PT_PROFILE_NONE);
    assert_str_eq(pt_profile_frame_name(&r.profile, r.profile.stacks.at[stack].frame, buffer),
                  "[not Python]");
    end_recording(&r, &fs, &pythons);
}

/* Frames without native ones are certain if whoever read them says so. */
static void test_python_alone(void **state) {
    (void)state;
    struct pt_recording r;
    struct pt_fs fs;
    struct pt_pythons pythons;
    struct pt_python_entry entries[] = { { UINT32_MAX, 0, 0 },
                                         { UINT32_MAX, 0, PT_PYTHON_IS_LAST } };
    struct pt_perf_record sample = { .kind = PT_PERF_SAMPLE, .pid = 5, .tid = 5, .time_ns = 1 };
    struct pt_perf_record python = { .kind = PT_PERF_PYTHON, .is_certain = true };
    python.python = (struct pt_str){ (const char *)entries, sizeof entries };
    start_recording(&r, &fs, &pythons);
    pt_recording_take(&r, &sample, &python);
    python.is_certain = false;
    pt_recording_take(&r, &sample, &python);
    assert_int_equal(r.profile.meta.python_wanted, 2);
    assert_int_equal(r.profile.meta.python_matched, 1);
    end_recording(&r, &fs, &pythons);
}

/* A file without a build id is the same image for every process, also once the id is known. */
static void test_one_image(void **state) {
    (void)state;
    struct pt_recording r;
    struct pt_fs fs;
    struct pt_pythons pythons;
    start_recording(&r, &fs, &pythons);
    struct pt_image *first = pt_images_find(&r.images, PT_STR("/bin/sh"), NULL, 0);
    (void)pt_image_open(&r.images, first, (int32_t)getpid());
    assert_ptr_equal(pt_images_find(&r.images, PT_STR("/bin/sh"), NULL, 0), first);
    end_recording(&r, &fs, &pythons);
}

static void test_known_mapping(void **state) {
    (void)state;
    struct pt_image image = { .path = NULL }, other = { .path = NULL };
    struct pt_space space = { .pid = 1 };
    struct pt_mapping m = { .start = 0x1000, .end = 0x3000, .file_offset = 0, .image = &image };
    assert_false(pt_space_has(&space, &m));
    pt_space_map(&space, m);
    assert_true(pt_space_has(&space, &m));
    struct pt_mapping longer = m, of_other = m;
    longer.end = 0x4000;
    of_other.image = &other;
    assert_false(pt_space_has(&space, &longer));
    assert_false(pt_space_has(&space, &of_other));
    pt_space_release(&space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_loader, "C241: a program says whether it takes a preloaded library"),
        PT_TEST(test_loader_cut, "a program that is cut short says nothing"),
        PT_TEST(test_script, "of a script the interpreter counts"),
        PT_TEST(test_check, "C241: a script of a static interpreter takes no library"),
        PT_TEST(test_head, "C241: a program is judged by its first 4 KiB"),
        PT_TEST(test_privileges, "C241: a program that gains privileges takes no library"),
        PT_TEST(test_path, "C241: a program is looked for in PATH"),
        PT_TEST(test_preload, "libraries are preloaded one before the other"),
        PT_TEST(test_methods, "C241: every way has a name, and another name is refused"),
        PT_TEST(test_refused, "C241: methods that cannot be used are refused with their reasons"),
        PT_TEST(test_missed, "C241: a sample stands for the periods that had none"),
        PT_TEST(test_rest, "C241: what a thread used behind its last sample belongs to its stack"),
        PT_TEST(test_bare, "C241: what has no frames of Python is shown as that"),
        PT_TEST(test_python_alone,
                "C241: Python's frames alone are as certain as their reader says"),
        PT_TEST(test_one_image, "a file without a build id is opened once"),
        PT_TEST(test_known_mapping, "a mapping that is there already is known"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
