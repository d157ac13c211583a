/* The bounded string and memory functions of include/securec.h (libc_sec). C, as half of them take variable arguments.
 *
 * Each checks the size of its target first; what fails behind that leaves the target empty, so that nothing reads a half-written one. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "../../../../include/securec.h"

/* Visible inside the library alone: securec.rs exports a jump to each under its own name. */
#define HIDDEN __attribute__((visibility("hidden")))

static int bad_size(size_t size, size_t most)
{
    return size == 0 || size > most;
}

static int overlap(const void *a, size_t a_size, const void *b, size_t b_size)
{
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return x < y ? y - x < a_size : x - y < b_size;
}

HIDDEN errno_t jumar_memset_s(void *dest, size_t size, int value, size_t count)
{
    if (bad_size(size, SECUREC_MEM_MAX_LEN)) return ERANGE;
    if (dest == NULL) return EINVAL;
    if (count > size) {
        memset(dest, value, size);
        return ERANGE_AND_RESET;
    }
    memset(dest, value, count);
    return EOK;
}

static errno_t check_memory(void *dest, size_t size, const void *source, size_t count)
{
    if (bad_size(size, SECUREC_MEM_MAX_LEN)) return ERANGE;
    if (dest == NULL) return EINVAL;
    if (source == NULL) {
        memset(dest, 0, size);
        return EINVAL_AND_RESET;
    }
    if (count > size) {
        memset(dest, 0, size);
        return ERANGE_AND_RESET;
    }
    return EOK;
}

HIDDEN errno_t jumar_memcpy_s(void *dest, size_t size, const void *source, size_t count)
{
    errno_t wrong = check_memory(dest, size, source, count);
    if (wrong != EOK || count == 0 || dest == source) return wrong;
    if (overlap(dest, count, source, count)) {
        memset(dest, 0, size);
        return EOVERLAP_AND_RESET;
    }
    memcpy(dest, source, count);
    return EOK;
}

HIDDEN errno_t jumar_memmove_s(void *dest, size_t size, const void *source, size_t count)
{
    errno_t wrong = check_memory(dest, size, source, count);
    if (wrong == EOK && count != 0) memmove(dest, source, count);
    return wrong;
}

#define CHARACTER char
#define NAME(name) bytes_##name
#define LENGTH strnlen
#define MOST SECUREC_STRING_MAX_LEN
#include "securec_text.h"
#undef CHARACTER
#undef NAME
#undef LENGTH
#undef MOST

#define CHARACTER wchar_t
#define NAME(name) wide_##name
#define LENGTH wcsnlen
#define MOST SECUREC_WCHAR_STRING_MAX_LEN
#include "securec_text.h"

HIDDEN errno_t jumar_strcpy_s(char *dest, size_t size, const char *source)
{
    return bytes_copy(dest, size, source, SIZE_MAX);
}

HIDDEN errno_t jumar_strncpy_s(char *dest, size_t size, const char *source, size_t count)
{
    return bytes_copy(dest, size, source, count);
}

HIDDEN errno_t jumar_strcat_s(char *dest, size_t size, const char *source)
{
    return bytes_append(dest, size, source, SIZE_MAX);
}

HIDDEN errno_t jumar_strncat_s(char *dest, size_t size, const char *source, size_t count)
{
    return bytes_append(dest, size, source, count);
}

HIDDEN errno_t jumar_wcscpy_s(wchar_t *dest, size_t size, const wchar_t *source)
{
    return wide_copy(dest, size, source, SIZE_MAX);
}

HIDDEN errno_t jumar_wcsncpy_s(wchar_t *dest, size_t size, const wchar_t *source, size_t count)
{
    return wide_copy(dest, size, source, count);
}

HIDDEN errno_t jumar_wcscat_s(wchar_t *dest, size_t size, const wchar_t *source)
{
    return wide_append(dest, size, source, SIZE_MAX);
}

HIDDEN errno_t jumar_wcsncat_s(wchar_t *dest, size_t size, const wchar_t *source, size_t count)
{
    return wide_append(dest, size, source, count);
}

/* Sizes in wide characters. A count that does not fit is refused before it is multiplied. */
HIDDEN errno_t jumar_wmemcpy_s(wchar_t *dest, size_t size, const wchar_t *source, size_t count)
{
    if (bad_size(size, SECUREC_WCHAR_MEM_MAX_LEN)) return ERANGE;
    if (count > size) count = size + 1;
    return jumar_memcpy_s(dest, size * sizeof *dest, source, count * sizeof *dest);
}

HIDDEN errno_t jumar_wmemmove_s(wchar_t *dest, size_t size, const wchar_t *source, size_t count)
{
    if (bad_size(size, SECUREC_WCHAR_MEM_MAX_LEN)) return ERANGE;
    if (count > size) count = size + 1;
    return jumar_memmove_s(dest, size * sizeof *dest, source, count * sizeof *dest);
}

HIDDEN wchar_t *jumar_wcstok_s(wchar_t *text, const wchar_t *delimiters, wchar_t **rest)
{
    if (delimiters == NULL || rest == NULL || (text == NULL && *rest == NULL)) return NULL;
    return wcstok(text, delimiters, rest);
}

HIDDEN char *jumar_strtok_s(char *text, const char *delimiters, char **rest)
{
    if (delimiters == NULL || rest == NULL || (text == NULL && *rest == NULL)) return NULL;
    return strtok_r(text, delimiters, rest);
}

HIDDEN int jumar_vsnprintf_s(char *dest, size_t size, size_t count, const char *format, va_list arguments)
{
    if (dest == NULL || bad_size(size, SECUREC_STRING_MAX_LEN)) return -1;
    if (format == NULL || (count > SECUREC_STRING_MAX_LEN && count != (size_t)-1)) {
        dest[0] = '\0';
        return -1;
    }
    int length = vsnprintf(dest, count < size ? count + 1 : size, format, arguments);
    if (length >= 0 && (size_t)length < size && (size_t)length <= count) return length;
    /* Cut to `count` characters, or to nothing where the target is what was too short. */
    if (length < 0 || count >= size) dest[0] = '\0';
    return -1;
}

HIDDEN int jumar_vsprintf_s(char *dest, size_t size, const char *format, va_list arguments)
{
    return jumar_vsnprintf_s(dest, size, size, format, arguments);
}

HIDDEN int jumar_vsnprintf_truncated_s(char *dest, size_t size, const char *format, va_list arguments)
{
    if (dest == NULL || bad_size(size, SECUREC_STRING_MAX_LEN)) return -1;
    dest[0] = '\0';
    if (format == NULL) return -1;
    int length = vsnprintf(dest, size, format, arguments);
    if (length < 0) {
        dest[0] = '\0';
        return -1;
    }
    return (size_t)length < size ? length : (int)(size - 1);
}

HIDDEN int jumar_sprintf_s(char *dest, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = jumar_vsprintf_s(dest, size, format, arguments);
    va_end(arguments);
    return length;
}

HIDDEN int jumar_snprintf_s(char *dest, size_t size, size_t count, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = jumar_vsnprintf_s(dest, size, count, format, arguments);
    va_end(arguments);
    return length;
}

HIDDEN int jumar_snprintf_truncated_s(char *dest, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = jumar_vsnprintf_truncated_s(dest, size, format, arguments);
    va_end(arguments);
    return length;
}

HIDDEN int jumar_vswprintf_s(wchar_t *dest, size_t size, const wchar_t *format, va_list arguments)
{
    if (dest == NULL || bad_size(size, SECUREC_WCHAR_STRING_MAX_LEN)) return -1;
    int length = format == NULL ? -1 : vswprintf(dest, size, format, arguments);
    if (length >= 0 && (size_t)length < size) return length;
    dest[0] = 0;
    return -1;
}

HIDDEN int jumar_swprintf_s(wchar_t *dest, size_t size, const wchar_t *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = jumar_vswprintf_s(dest, size, format, arguments);
    va_end(arguments);
    return length;
}
