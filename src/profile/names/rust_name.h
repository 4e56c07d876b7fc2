/* profile/names/rust_name.h -- names of Rust's newer kind ("v0", RFC 2603) as people write them:
 *
 *     _RNvNtCs1234_7mycrate3foo3bar  ->  mycrate::foo::bar
 *     _RNvXs_C1aNtB4_1SNtB4_1T1f     ->  <a::S as a::T>::f
 *
 * Hashes of crates are left out. */
#ifndef PT_PROFILE_NAMES_RUST_NAME_H
#define PT_PROFILE_NAMES_RUST_NAME_H

#include "base/buf.h"

#define PT_RUST_NAME_MAX 8192 /* bytes; back references can make short names very long */

/* Appends the name. False: it is none, or too deep or too long; `into` is as it was. */
bool pt_rust_name(struct pt_str mangled, struct pt_buf *into);

#endif
