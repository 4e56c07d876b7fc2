#include "source/kernel/rapl.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define POWERCAP "class/powercap"
/* More than any socket uses. If a reset of a counter of 262 kJ were taken for a wrap, it would mean
 * tens of kilowatts at the usual intervals. */
#define MAX_WATTS 4000

/* For a lower value: 0 if the counter wrapped. */
static int turn(const struct pt_rapl_counter *c, uint64_t raw_uj, int64_t now_ns,
                uint64_t *grown_uj) {
    if (c->raw_uj > c->range_uj)
        return -ERANGE;
    *grown_uj = c->range_uj - c->raw_uj + raw_uj;
    double elapsed_s = (double)(now_ns - c->seen_ns) / (double)PT_NS_PER_SECOND;
    return elapsed_s > 0 && (double)*grown_uj / 1e6 <= MAX_WATTS * elapsed_s ? 0 : -ERANGE;
}

uint64_t pt_rapl_counter_see(struct pt_rapl_counter *c, uint64_t raw_uj, int64_t now_ns) {
    uint64_t grown_uj = raw_uj - c->raw_uj;
    if (!c->has_seen || (raw_uj < c->raw_uj && turn(c, raw_uj, now_ns, &grown_uj)))
        c->total_uj = raw_uj;
    else
        c->total_uj += grown_uj;
    c->raw_uj = raw_uj;
    c->seen_ns = now_ns;
    c->has_seen = true;
    return c->total_uj;
}

static bool small_number(struct pt_scan *s, int *number) {
    uint64_t value = s->at < s->end && *s->at >= '0' && *s->at <= '9' ? pt_scan_u64(s) : UINT64_MAX;
    if (s->failed || value > 4095)
        return false;
    *number = (int)value;
    return true;
}

bool pt_rapl_zone_parse(struct pt_str name, int *zone, int *part) {
    struct pt_scan s = pt_scan_of(name);
    *part = -1;
    if (!pt_scan_take(&s, PT_STR("intel-rapl:")) || !small_number(&s, zone))
        return false;
    if (pt_scan_take(&s, PT_STR(":")) && !small_number(&s, part))
        return false;
    return s.at == s.end;
}

/* Parts are named after their package: "dram" of "package-0" is "dram-0". */
static void name_domain(struct pt_rapl_zone *z, const struct pt_fs *fs, int zone, int part) {
    char path[96], own[24] = "", parent[24] = "";
    const char *number = "";
    snprintf(path, sizeof path, POWERCAP "/intel-rapl:%d/name", zone);
    if (part >= 0) {
        (void)!pt_fs_read_line(fs->sys, path, parent, sizeof parent);
        number = strchrnul(parent, '-');
        snprintf(path, sizeof path, POWERCAP "/intel-rapl:%d:%d/name", zone, part);
    }
    if (pt_fs_read_line(fs->sys, path, own, sizeof own) || !own[0])
        snprintf(own, sizeof own, "zone%d", zone);
    snprintf(z->domain, sizeof z->domain, "%s%s", own, number);
}

static void add_zone(struct pt_rapl *r, const struct pt_fs *fs, int zone, int part) {
    char directory[48], path[96];
    int64_t range_uj;
    if (!pt_try_grow(&r->zones, &r->zone_capacity, r->zone_count + 1, sizeof *r->zones))
        return;
    struct pt_rapl_zone *z = &r->zones[r->zone_count++];
    *z = (struct pt_rapl_zone){ 0 };
    if (part < 0)
        snprintf(directory, sizeof directory, POWERCAP "/intel-rapl:%d", zone);
    else
        snprintf(directory, sizeof directory, POWERCAP "/intel-rapl:%d:%d", zone, part);
    snprintf(z->path, sizeof z->path, "%s/energy_uj", directory);
    snprintf(path, sizeof path, "%s/max_energy_range_uj", directory);
    if (!pt_fs_read_i64(fs->sys, path, &range_uj) && range_uj > 0)
        z->counter.range_uj = (uint64_t)range_uj;
    name_domain(z, fs, zone, part);
}

static int by_number(const void *a, const void *b) {
    return strverscmp(((const struct pt_rapl_zone *)a)->path,
                      ((const struct pt_rapl_zone *)b)->path);
}

int pt_rapl_open(struct pt_rapl *r, const struct pt_fs *fs) {
    *r = (struct pt_rapl){ 0 };
    DIR *entries = pt_fs_list(fs->sys, POWERCAP);
    if (!entries)
        return -ENODATA;
    int zone, part;
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
        if (pt_rapl_zone_parse(pt_str_from(entry->d_name), &zone, &part))
            add_zone(r, fs, zone, part);
    closedir(entries);
    if (r->zone_count == 0)
        return -ENODATA;
    qsort(r->zones, r->zone_count, sizeof *r->zones, by_number);
    return 0;
}

void pt_rapl_close(struct pt_rapl *r) {
    for (size_t i = 0; i < r->zone_count; i++)
        pt_file_close(&r->zones[i].file);
    pt_free(r->zones);
    pt_text_release(&r->text);
    *r = (struct pt_rapl){ 0 };
}

int pt_rapl_read(struct pt_rapl *r, struct pt_rapl_zone *zone, const struct pt_fs *fs,
                 int64_t now_ns) {
    struct pt_scan text;
    zone->status = pt_file_read_kept(&zone->file, fs->sys, zone->path, &r->text, &text);
    if (zone->status)
        return zone->status;
    int64_t raw_uj = pt_scan_i64(&text);
    if (text.failed || raw_uj < 0)
        return zone->status = -EINVAL;
    (void)pt_rapl_counter_see(&zone->counter, (uint64_t)raw_uj, now_ns);
    return 0;
}
