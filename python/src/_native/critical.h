/* python/src/_native/critical.h -- a critical section for an object in free-threaded builds; empty
 * in all others. */
#ifndef PITOT_NATIVE_CRITICAL_H
#define PITOT_NATIVE_CRITICAL_H

#include "native.h"

#ifndef Py_BEGIN_CRITICAL_SECTION
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION()         }
#endif

#endif
