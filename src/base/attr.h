/* base/attr.h -- names for compiler attributes. */
#ifndef PT_BASE_ATTR_H
#define PT_BASE_ATTR_H

#define PT_MUST_CHECK          __attribute__((warn_unused_result))
#define PT_PRINTF(text, first) __attribute__((format(printf, text, first), nonnull(text)))
#define PT_COLD                __attribute__((cold, noinline)) /* not in the fast path */
#define PT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#define PT_COUNT(array)        (sizeof(array) / sizeof((array)[0]))

#endif
