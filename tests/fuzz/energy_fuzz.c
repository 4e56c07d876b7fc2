/* Any bytes as an energy note: what is understood is written and read back the same. The same
 * bytes as the name of a powercap zone: numbers stay in bounds. */
#include "analyze/energy_basis.h"
#include "source/kernel/rapl.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_str text = { (const char *)data, size };
    struct pt_energy_basis first = { 0 }, second = { 0 };
    struct pt_buf written = { 0 }, again = { 0 };
    int zone, part;
    pt_energy_basis_read(&first, text);
    pt_energy_basis_write(&first, &written);
    pt_energy_basis_read(&second, pt_buf_as_str(&written));
    pt_energy_basis_write(&second, &again);
    if (!pt_str_eq(pt_buf_as_str(&written), pt_buf_as_str(&again)))
        abort();
    if (pt_rapl_zone_parse(text, &zone, &part) &&
        (zone < 0 || zone > 4095 || part < -1 || part > 4095))
        abort();
    pt_buf_release(&written);
    pt_buf_release(&again);
    return 0;
}
