/* Parts of a recording of samples: rings, files and their places, what is profiled. */
#include "test.h"

#include "profile/sample/perf_ring.h"
#include "profile/sample/preload_replay.h"
#include "profile/unwind/image.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* A ring is as large as the kernel allows: half as large where there is no memory for it. */
static void test_ring_map(void **state) {
    (void)state;
    const size_t too_large = (size_t)1 << 48; /* more than there are addresses */
    struct pt_perf_ring ring = { 0 };
    int fd = memfd_create("ring", MFD_CLOEXEC);
    assert_true(fd >= 0);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(ftruncate(fd, (off_t)(3 * page)), 0);
    assert_int_equal(pt_perf_ring_map(&ring, fd, 2 * page, page), 0);
    assert_int_equal(ring.size, 2 * page);
    assert_ptr_equal(ring.data, (uint8_t *)ring.page + page);
    pt_perf_ring_unmap(&ring);
    assert_null(ring.page);
    assert_int_equal(pt_perf_ring_map(&ring, fd, too_large, too_large / 2 + 1), -ENOMEM);
    assert_int_equal(pt_perf_ring_map(&ring, fd, too_large, page), 0);
    assert_in_range(ring.size, page, too_large / 2);
    assert_int_equal(ring.size & (ring.size - 1), 0);
    pt_perf_ring_unmap(&ring);
    assert_int_equal(pt_perf_ring_map(&ring, fd, page, 2 * page), -ENOMEM);
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int read_only = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pt_perf_ring_map(&ring, read_only, 2 * page, page), -EACCES); /* no smaller */
    assert_null(ring.page);
    close(read_only);
    close(fd);
}

/* Files are told apart by path and build id. */
static void test_images(void **state) {
    (void)state;
    struct pt_fs fs;
    struct pt_profile p;
    struct pt_images images;
    const uint8_t one[] = { 1, 2, 0xab }, other[] = { 1, 2, 0xac };
    assert_int_equal(pt_fs_open(&fs, "/proc", "/sys", "/", NULL), 0);
    pt_profile_init(&p, &(struct pt_profile_value_type){ "cpu", PT_PROFILE_SAMPLES }, 1);
    pt_images_init(&images, &fs, &p);
    struct pt_image *a = pt_images_find(&images, PT_STR("/a"), one, sizeof one);
    struct pt_image *rebuilt = pt_images_find(&images, PT_STR("/a"), other, sizeof other);
    struct pt_image *copy = pt_images_find(&images, PT_STR("/b"), one, sizeof one);
    assert_true(a != rebuilt && a != copy && rebuilt != copy);
    assert_ptr_equal(pt_images_find(&images, PT_STR("/a"), one, sizeof one), a);
    assert_ptr_equal(pt_images_find(&images, PT_STR("/a"), other, sizeof other), rebuilt);
    assert_ptr_equal(pt_images_find(&images, PT_STR("/b"), one, sizeof one), copy);
    assert_str_eq(pt_profile_text(&p, p.modules.at[a->module].build_id), "0102ab");
    assert_str_eq(pt_profile_text(&p, p.modules.at[copy->module].path), "/b");
    pt_images_release(&images);
    pt_profile_release(&p);
    pt_fs_close(&fs);
}

/* Every address has one place, however many there are; a table that is too large starts over. */
static void test_places(void **state) {
    (void)state;
    struct pt_fs fs;
    struct pt_profile p;
    struct pt_images images;
    assert_int_equal(pt_fs_open(&fs, "/proc", "/sys", "/", NULL), 0);
    pt_profile_init(&p, &(struct pt_profile_value_type){ "cpu", PT_PROFILE_SAMPLES }, 1);
    pt_images_init(&images, &fs, &p);
    struct pt_image *image = pt_images_find(&images, PT_STR("/nonexistent"), NULL, 0);
    assert_null(pt_image_known_place(image, 0));
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t address = i * 64;
        assert_null(pt_image_known_place(image, address));
        uint32_t frame = pt_image_place(&images, image, address)->frame;
        assert_int_equal(p.frames.at[frame].address, address);
        assert_int_equal(p.frames.at[frame].module, image->module);
    }
    assert_int_equal(image->place_count, 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        const struct pt_place *place = pt_image_known_place(image, i * 64);
        assert_non_null(place);
        assert_int_equal(p.frames.at[place->frame].address, i * 64);
        assert_ptr_equal(pt_image_place(&images, image, i * 64), place);
    }
    assert_int_equal(image->place_count, 1000);
    assert_null(pt_image_known_place(image, 1));
    assert_int_equal(p.frames.count, 1001);     /* and that of signals */
    image->place_count = image->place_capacity; /* as if it were full */
    assert_non_null(pt_image_place(&images, image, 1));
    assert_non_null(pt_image_known_place(image, 999 * 64));
    image->place_count = PT_IMAGE_PLACES_MAX;
    assert_non_null(pt_image_place(&images, image, 2));
    assert_int_equal(image->place_count, 1);
    assert_null(pt_image_known_place(image, 999 * 64));
    assert_non_null(pt_image_known_place(image, 2));
    pt_images_release(&images);
    pt_profile_release(&p);
    pt_fs_close(&fs);
}

/* What is profiled, if it is not a command. */
static void test_profiled_processes(void **state) {
    (void)state;
    struct pt_fs fs;
    struct pt_recording r;
    assert_int_equal(pt_fs_open(&fs, "/proc", "/sys", "/", NULL), 0);
    pt_recording_init(&r, &fs, NULL, false, 1000);
    char *const command[] = { (char[]){ "train" }, (char[]){ "--fast" }, NULL };
    pt_recording_finish(&r, command, (const pid_t[]){ 7 }, 1);
    assert_string_equal(r.profile.meta.command, "train --fast");
    pt_recording_finish(&r, NULL, (const pid_t[]){ 7, 42 }, 2);
    assert_string_equal(r.profile.meta.command, "pid 7, 42");
    pid_t many[1000];
    for (int i = 0; i < 1000; i++)
        many[i] = 100000 + i;
    pt_recording_finish(&r, NULL, many, 1000); /* as many as fit */
    assert_int_equal(strlen(r.profile.meta.command), sizeof r.profile.meta.command - 1);
    pt_recording_finish(&r, NULL, many, 0);
    assert_string_equal(r.profile.meta.command, "");
    pt_recording_release(&r);
    pt_fs_close(&fs);
}

/* A process that runs another program has none of its old mappings. */
static void test_another_program(void **state) {
    (void)state;
    struct pt_fs fs;
    struct pt_recording r;
    struct pt_preload_event e = { .thread = 5, .name = "first" };
    e.maps = PT_STR("1000-3000 r-xp 00000000 00:00 0 /nonexistent/a.so\n");
    assert_int_equal(pt_fs_open(&fs, "/proc", "/sys", "/", NULL), 0);
    pt_recording_init(&r, &fs, NULL, false, 1000);
    struct pt_perf_record sample = { .kind = PT_PERF_SAMPLE, .pid = 5, .tid = 5, .time_ns = 1 };
    sample.sample.has_registers = true;
    for (size_t i = 0; i < PT_COUNT(sample.sample.registers); i++)
        sample.sample.registers[i] = 0x1010;
    pt_preloaded_begin(&r, 5);
    pt_preloaded_maps(&r, 5, &e);
    pt_recording_take(&r, &sample, NULL);
    char buffer[PT_PROFILE_NAME_BYTES];
    assert_str_eq(pt_profile_frame_name(&r.profile, r.frames[0], buffer), "a.so+0x1010");
    pt_preloaded_begin(&r, 5);
    pt_recording_take(&r, &sample, NULL);
    assert_true(
        !pt_str_eq(pt_profile_frame_name(&r.profile, r.frames[0], buffer), PT_STR("a.so+0x1010")));
    pt_recording_release(&r);
    pt_fs_close(&fs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_ring_map, "C241: a ring is as large as the kernel allows"),
        PT_TEST(test_images, "C241: files are told apart by path and build id"),
        PT_TEST(test_places, "C241: every address has one place, however many there are"),
        PT_TEST(test_profiled_processes, "C241: a profile says which processes it is of"),
        PT_TEST(test_another_program, "C241: a process that runs another program has its mappings"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
