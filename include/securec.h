/*
 * Bounded string and memory functions (libc_sec). Each takes the size of its target; what does not fit is refused and leaves the target
 * empty.
 *
 * Part of Jumar. SPDX-License-Identifier: Apache-2.0
 */
#ifndef JUMAR_SECUREC_H_
#define JUMAR_SECUREC_H_

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

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
#define SECUREC_WCHAR_MEM_MAX_LEN (SECUREC_MEM_MAX_LEN / sizeof(wchar_t))
#define SECUREC_WCHAR_STRING_MAX_LEN (SECUREC_STRING_MAX_LEN / sizeof(wchar_t))

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

/* The number of targets that were written; EOF at the end of the input. Behind the target of each "%s", "%c" and "%[" stands its size
 * in elements: a text that does not fit leaves the target empty, and the call returns -1, as it does for a null target and a size of 0. */
int scanf_s(const char *format, ...);
int vscanf_s(const char *format, va_list argList);
int sscanf_s(const char *buffer, const char *format, ...);
int vsscanf_s(const char *buffer, const char *format, va_list argList);
int fscanf_s(FILE *stream, const char *format, ...);
int vfscanf_s(FILE *stream, const char *format, va_list argList);
/* A line of the standard input; null where there is none, or it does not fit. */
char *gets_s(char *buffer, size_t destMax);

/* Of wide characters: sizes count them, not bytes. */
errno_t wmemcpy_s(wchar_t *dest, size_t destMax, const wchar_t *src, size_t count);
errno_t wmemmove_s(wchar_t *dest, size_t destMax, const wchar_t *src, size_t count);
errno_t wcscpy_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc);
errno_t wcsncpy_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc, size_t count);
errno_t wcscat_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc);
errno_t wcsncat_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc, size_t count);
wchar_t *wcstok_s(wchar_t *strToken, const wchar_t *strDelimit, wchar_t **context);
int swprintf_s(wchar_t *strDest, size_t destMax, const wchar_t *format, ...);
int vswprintf_s(wchar_t *strDest, size_t destMax, const wchar_t *format, va_list argList);
int wscanf_s(const wchar_t *format, ...);
int vwscanf_s(const wchar_t *format, va_list argList);
int swscanf_s(const wchar_t *buffer, const wchar_t *format, ...);
int vswscanf_s(const wchar_t *buffer, const wchar_t *format, va_list argList);
int fwscanf_s(FILE *stream, const wchar_t *format, ...);
int vfwscanf_s(FILE *stream, const wchar_t *format, va_list argList);

#ifdef __cplusplus
}
#endif

#undef JUMAR_PRINTS

#endif /* JUMAR_SECUREC_H_ */
