/*
 * Bounded string and memory functions (libc_sec). Each takes the size of its target; what does not fit is refused and leaves the target
 * empty. The scanning functions (sscanf_s and its relatives) and those of wide characters are not there.
 *
 * Part of Jumar. SPDX-License-Identifier: Apache-2.0
 */
#ifndef JUMAR_SECUREC_H_
#define JUMAR_SECUREC_H_

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>

#ifndef errno_t
typedef int errno_t;
#endif

#ifndef EOK
#define EOK 0
#endif
/* The target was emptied: it was too small, an argument was null, the ranges overlap. */
#define EINVAL_AND_RESET 150
#define ERANGE_AND_RESET 162
#define EOVERLAP_AND_RESET 182

/* Larger sizes are refused: they are negative numbers more often than sizes. */
#define SECUREC_MEM_MAX_LEN ((size_t)0x7fffffff)
#define SECUREC_STRING_MAX_LEN ((size_t)0x7fffffff)

#if defined(__GNUC__) || defined(__clang__)
#define JUMAR_PRINTS(text, first) __attribute__((format(printf, text, first)))
#else
#define JUMAR_PRINTS(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or a code. */
errno_t memset_s(void *dest, size_t destMax, int c, size_t count);
errno_t memcpy_s(void *dest, size_t destMax, const void *src, size_t count);
errno_t memmove_s(void *dest, size_t destMax, const void *src, size_t count);
errno_t strcpy_s(char *strDest, size_t destMax, const char *strSrc);
errno_t strncpy_s(char *strDest, size_t destMax, const char *strSrc, size_t count);
errno_t strcat_s(char *strDest, size_t destMax, const char *strSrc);
errno_t strncat_s(char *strDest, size_t destMax, const char *strSrc, size_t count);
char *strtok_s(char *strToken, const char *strDelimit, char **context);

/* The number of characters, without the zero; -1 where they do not fit. */
int sprintf_s(char *strDest, size_t destMax, const char *format, ...) JUMAR_PRINTS(3, 4);
int vsprintf_s(char *strDest, size_t destMax, const char *format, va_list argList) JUMAR_PRINTS(3, 0);
/* At most `count` characters: -1 where there are more. */
int snprintf_s(char *strDest, size_t destMax, size_t count, const char *format, ...) JUMAR_PRINTS(4, 5);
int vsnprintf_s(char *strDest, size_t destMax, size_t count, const char *format, va_list argList) JUMAR_PRINTS(4, 0);
/* As many as fit, and their number. */
int snprintf_truncated_s(char *strDest, size_t destMax, const char *format, ...) JUMAR_PRINTS(3, 4);
int vsnprintf_truncated_s(char *strDest, size_t destMax, const char *format, va_list argList) JUMAR_PRINTS(3, 0);

#ifdef __cplusplus
}
#endif

#undef JUMAR_PRINTS

#endif /* JUMAR_SECUREC_H_ */
