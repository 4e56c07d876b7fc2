/* base/attr.h -- names for compiler attributes. */
#ifndef PT_BASE_ATTR_H
#define PT_BASE_ATTR_H

#define PT_MUST_CHECK          __attribute__((warn_unused_result))
#define PT_PRINTF(text, first) __attribute__((format(printf, text, first), nonnull(text)))
#define PT_COLD                __attribute__((cold, noinline)) /* not in the fast path */
#define PT_SMALL               __attribute__((packed))         /* an enum of one byte */
#define PT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#define PT_COUNT(array)        (sizeof(array) / sizeof((array)[0]))

/* Built with a sanitizer that replaces malloc and maps terabytes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PT_IS_SANITIZED true
#elif defined(__has_feature)
#define PT_IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define PT_IS_SANITIZED false
#endif

#endif
