/* The scanning functions of include/securec.h (libc_sec). Each target of a text is followed by its size in the arguments. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "../../../../include/securec.h"

/* Visible inside the library alone: securec.rs exports a jump to each under its own name. */
#define HIDDEN __attribute__((visibility("hidden")))

static int bad_size(size_t size, size_t most)
{
    return size == 0 || size > most;
}

/* Converts scanned characters to bytes. 1; -2 where they do not fit; EOF where one has no form in the locale. */
static int to_bytes(char *target, size_t size, const wchar_t *from, size_t count, int is_character)
{
    mbstate_t state;
    char one[MB_LEN_MAX];
    size_t at = 0;
    memset(&state, 0, sizeof state);
    for (size_t i = 0; i < count; i++) {
        size_t length = wcrtomb(one, from[i], &state);
        if (length == (size_t)-1) return EOF;
        if (length > size - at) return -2;
        memcpy(target + at, one, length);
        at += length;
    }
    if (is_character) return 1;
    if (at == size) return -2;
    target[at] = 0;
    return 1;
}

#define CHARACTER char
#define CHARACTER_OR_END int
#define NO_CHARACTER EOF
#define UNSIGNED(c) ((unsigned char)(c))
#define IS_WIDE 0
#define NAME(name) bytes_##name
#define SPACE(c) isspace((int)(c))
#define DIGIT(c) ((c) >= '0' && (c) <= '9')
#define LENGTH strlen
#define SCAN_TEXT sscanf
#define SCAN_FILE fscanf
#define GET getc
#define UNGET ungetc
#include "securec_scan.h"
#undef CHARACTER
#undef CHARACTER_OR_END
#undef NO_CHARACTER
#undef UNSIGNED
#undef IS_WIDE
#undef NAME
#undef SPACE
#undef DIGIT
#undef LENGTH
#undef SCAN_TEXT
#undef SCAN_FILE
#undef GET
#undef UNGET

#define CHARACTER wchar_t
#define CHARACTER_OR_END wint_t
#define NO_CHARACTER WEOF
#define UNSIGNED(c) (c)
#define IS_WIDE 1
#define NAME(name) wide_##name
#define SPACE(c) iswspace((wint_t)(c))
#define DIGIT(c) ((c) >= L'0' && (c) <= L'9')
#define LENGTH wcslen
#define SCAN_TEXT swscanf
#define SCAN_FILE fwscanf
#define GET getwc
#define UNGET ungetwc
#include "securec_scan.h"

HIDDEN int jumar_vsscanf_s(const char *buffer, const char *format, va_list arguments)
{
    struct bytes_source from = {buffer, NULL, 0};
    return buffer == NULL ? -1 : bytes_scan(&from, format, arguments);
}

HIDDEN int jumar_vfscanf_s(FILE *stream, const char *format, va_list arguments)
{
    struct bytes_source from = {NULL, stream, 0};
    return stream == NULL ? -1 : bytes_scan(&from, format, arguments);
}

HIDDEN int jumar_vscanf_s(const char *format, va_list arguments)
{
    return jumar_vfscanf_s(stdin, format, arguments);
}

HIDDEN int jumar_vswscanf_s(const wchar_t *buffer, const wchar_t *format, va_list arguments)
{
    struct wide_source from = {buffer, NULL, 0};
    return buffer == NULL ? -1 : wide_scan(&from, format, arguments);
}

HIDDEN int jumar_vfwscanf_s(FILE *stream, const wchar_t *format, va_list arguments)
{
    struct wide_source from = {NULL, stream, 0};
    return stream == NULL ? -1 : wide_scan(&from, format, arguments);
}

HIDDEN int jumar_vwscanf_s(const wchar_t *format, va_list arguments)
{
    return jumar_vfwscanf_s(stdin, format, arguments);
}

/* The form with arguments in place of a list. */
#define WITH_ARGUMENTS(call)          \
    va_list arguments;                \
    va_start(arguments, format);      \
    int assigned = call;              \
    va_end(arguments);                \
    return assigned

HIDDEN int jumar_sscanf_s(const char *buffer, const char *format, ...)
{
    WITH_ARGUMENTS(jumar_vsscanf_s(buffer, format, arguments));
}

HIDDEN int jumar_fscanf_s(FILE *stream, const char *format, ...)
{
    WITH_ARGUMENTS(jumar_vfscanf_s(stream, format, arguments));
}

HIDDEN int jumar_scanf_s(const char *format, ...)
{
    WITH_ARGUMENTS(jumar_vscanf_s(format, arguments));
}

HIDDEN int jumar_swscanf_s(const wchar_t *buffer, const wchar_t *format, ...)
{
    WITH_ARGUMENTS(jumar_vswscanf_s(buffer, format, arguments));
}

HIDDEN int jumar_fwscanf_s(FILE *stream, const wchar_t *format, ...)
{
    WITH_ARGUMENTS(jumar_vfwscanf_s(stream, format, arguments));
}

HIDDEN int jumar_wscanf_s(const wchar_t *format, ...)
{
    WITH_ARGUMENTS(jumar_vwscanf_s(format, arguments));
}

HIDDEN char *jumar_gets_s(char *buffer, size_t size)
{
    size_t at = 0;
    int next = EOF, fits = 1;
    if (buffer == NULL || bad_size(size, SECUREC_STRING_MAX_LEN)) return NULL;
    /* A line that does not fit is read to its end. */
    while ((next = getchar()) != EOF && next != '\n') {
        if (at + 1 < size) buffer[at++] = (char)next;
        else fits = 0;
    }
    buffer[at] = 0;
    if (fits && (next != EOF || at > 0) && !ferror(stdin)) return buffer;
    buffer[0] = 0;
    return NULL;
}
