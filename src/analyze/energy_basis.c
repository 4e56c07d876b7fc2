#include "analyze/energy_basis.h"

#include "analyze/carbon.h"
#include "base/digits.h"
#include "base/scan.h"

#include <errno.h>
#include <math.h>

#define AT(member) offsetof(struct pt_energy_basis, member)
#define TEXT(key, member) \
    { key, AT(member), sizeof(((struct pt_energy_basis *)NULL)->member), 0, 0 }
#define NUMBER(key, member, low, high) \
    { key, AT(member), 0, low, high }

static const struct basis_key {
    const char *key;
    size_t offset, capacity; /* capacity of a text; 0: a number from `low` to `high` */
    double low, high;
} keys[] = {
    TEXT("cpu-type", cpu_type),
    NUMBER("cpu-threads", cpu_threads, 1, 65536),
    NUMBER("cpu-sockets", cpu_sockets, 1, 1024),
    NUMBER("memory-bytes", memory_bytes, 1, 1e18),
    NUMBER("is-guest", is_guest, 0, 1),
    NUMBER("has-command", has_command, 0, 1),
    TEXT("region", region),
    NUMBER("carbon-intensity", carbon_intensity, 0, 5000),
    NUMBER("pue", pue, 1, 10),
    NUMBER("price-kwh", price_kwh, 0, 1e9),
    NUMBER("price-hour", price_hour, 0, 1e9),
    TEXT("currency", currency),
};

static int set_number(struct pt_given *into, const struct basis_key *k, struct pt_str value,
                      struct pt_err *err) {
    struct pt_scan s = pt_scan_of(value);
    double number = pt_scan_f64(&s);
    if (s.failed || s.at != s.end)
        return pt_fail(err, -EINVAL, "'%.*s' is not a number", (int)value.len, value.at);
    if (!(number >= k->low && number <= k->high))
        return pt_fail(err, -EINVAL, "'%.*s' is not between %g and %g", (int)value.len, value.at,
                       k->low, k->high);
    *into = (struct pt_given){ true, number };
    return 0;
}

int pt_energy_basis_set(struct pt_energy_basis *b, struct pt_str key, struct pt_str value,
                        struct pt_err *err) {
    const struct basis_key *k = NULL;
    for (size_t i = 0; i < PT_COUNT(keys) && !k; i++)
        if (pt_str_eq(key, pt_str_from(keys[i].key)))
            k = &keys[i];
    if (!k)
        return pt_fail(err, -ENOENT, "unknown key '%.*s'", (int)key.len, key.at);
    char *at = (char *)b + k->offset;
    if (k->capacity == 0)
        return set_number((struct pt_given *)at, k, value, err);
    if (value.len == 0 || value.len >= k->capacity || memchr(value.at, '\n', value.len))
        return pt_fail(err, -EINVAL, "text must have 1 to %zu characters", k->capacity - 1);
    if (at == b->region && !pt_carbon_find(value))
        return pt_fail(err, -EINVAL,
                       "unknown region '%.*s' (use an ISO country code such as DE or US, or "
                       "--carbon-intensity; docs/ENERGY.md lists the regions)",
                       (int)value.len, value.at);
    pt_str_copy(at, k->capacity, value);
    return 0;
}

void pt_energy_basis_write(const struct pt_energy_basis *b, struct pt_buf *into) {
    for (size_t i = 0; i < PT_COUNT(keys); i++) {
        const char *at = (const char *)b + keys[i].offset;
        const struct pt_given *number = (const struct pt_given *)at;
        if (keys[i].capacity > 0 ? !*at : !number->is_given)
            continue;
        pt_buf_str(into, pt_str_from(keys[i].key));
        pt_buf_u8(into, ' ');
        if (keys[i].capacity > 0)
            pt_buf_str(into, pt_str_from(at));
        else
            into->len += pt_digits_f64((char *)pt_buf_reserve(into, PT_DIGITS_MAX), number->value);
        pt_buf_u8(into, '\n');
    }
}

void pt_energy_basis_read(struct pt_energy_basis *b, struct pt_str text) {
    struct pt_scan lines = pt_scan_of(text), line;
    while (pt_scan_line(&lines, &line)) {
        struct pt_str key = pt_scan_word(&line);
        pt_scan_blanks(&line);
        if (!line.failed)
            (void)!pt_energy_basis_set(b, key, pt_scan_rest(&line), NULL);
    }
}
