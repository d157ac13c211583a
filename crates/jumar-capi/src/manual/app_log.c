/* Formats the variable arguments of aclAppLog, which stable Rust cannot take, into a bounded text. */
#include <stdarg.h>
#include <stdio.h>

int jumar_app_log_wanted(unsigned level, const char *func, const char *file, unsigned line, const char *format);
void jumar_app_log_take(unsigned level, const char *func, const char *file, unsigned line, const char *text, int length);

void jumar_app_log_format(unsigned level, const char *func, const char *file, unsigned line, const char *format, ...);

void jumar_app_log_format(unsigned level, const char *func, const char *file, unsigned line, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    if (!jumar_app_log_wanted(level, func, file, line, format)) return;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    jumar_app_log_take(level, func, file, line, text, length);
}
