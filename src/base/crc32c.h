/* base/crc32c.h -- CRC-32C (Castagnoli); "123456789" gives e3069283. */
#ifndef PT_BASE_CRC32C_H
#define PT_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues from `crc` (0 at the start). Uses the CPU's CRC instruction if it has one. */
uint32_t pt_crc32c(uint32_t crc, const void *bytes, size_t n);

#endif
