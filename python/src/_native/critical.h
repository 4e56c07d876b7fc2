/* python/src/_native/critical.h -- an object to itself for a moment, in builds without a lock of
 * the interpreter; nothing in all others. */
#ifndef PITOT_NATIVE_CRITICAL_H
#define PITOT_NATIVE_CRITICAL_H

#include "native.h"

#ifndef Py_BEGIN_CRITICAL_SECTION
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION()         }
#endif

#endif
