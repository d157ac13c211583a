/* The bounded functions of libc_sec: what fits is written, what does not fit leaves the target empty and is reported. */
#include "program.h"

#include "securec.h"

static int formatted(char *to, size_t size, size_t count, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf_s(to, size, count, format, arguments);
    va_end(arguments);
    return length;
}

int main(void)
{
    char text[8], *rest = NULL;
    char bytes[8] = "abcdefg";

    REQUIRE(memset_s(bytes, sizeof bytes, 1, 4) == EOK && bytes[3] == 1 && bytes[4] == 'e');
    REQUIRE(memset_s(bytes, sizeof bytes, 2, 9) == ERANGE_AND_RESET && bytes[7] == 2);
    REQUIRE(memset_s(bytes, 0, 2, 0) == ERANGE && memset_s(NULL, 8, 2, 8) == EINVAL);

    REQUIRE(memcpy_s(text, sizeof text, "abc", 4) == EOK && strcmp(text, "abc") == 0);
    REQUIRE(memcpy_s(text, sizeof text, "abcdefghi", 9) == ERANGE_AND_RESET && text[0] == 0 && text[7] == 0);
    REQUIRE(memcpy_s(text, sizeof text, NULL, 1) == EINVAL_AND_RESET && memcpy_s(text, SIZE_MAX, text, 1) == ERANGE);
    REQUIRE(memcpy_s(bytes, 4, bytes + 1, 2) == EOVERLAP_AND_RESET);
    memcpy(bytes, "abcdefg", 8);
    REQUIRE(memmove_s(bytes, sizeof bytes, bytes + 1, 7) == EOK && strcmp(bytes, "bcdefg") == 0);

    REQUIRE(strcpy_s(text, sizeof text, "1234567") == EOK && strcmp(text, "1234567") == 0);
    REQUIRE(strcpy_s(text, sizeof text, "12345678") == ERANGE_AND_RESET && text[0] == 0);
    REQUIRE(strcpy_s(text, sizeof text, text) == EOK && strcpy_s(NULL, 8, "") == EINVAL);
    REQUIRE(strncpy_s(text, sizeof text, "123456789", 5) == EOK && strcmp(text, "12345") == 0);
    REQUIRE(strcat_s(text, sizeof text, "67") == EOK && strcmp(text, "1234567") == 0);
    REQUIRE(strcat_s(text, sizeof text, "8") == ERANGE_AND_RESET && text[0] == 0);
    REQUIRE(strncat_s(text, sizeof text, "abcdefghij", 3) == EOK && strcmp(text, "abc") == 0);
    REQUIRE(strcat_s(text, sizeof text, text + 1) == EOVERLAP_AND_RESET && text[0] == 0);

    char list[] = "a,b";
    REQUIRE(strcmp(strtok_s(list, ",", &rest), "a") == 0 && strcmp(strtok_s(NULL, ",", &rest), "b") == 0);
    REQUIRE(strtok_s(NULL, ",", &rest) == NULL && strtok_s(NULL, NULL, &rest) == NULL);

    REQUIRE(sprintf_s(text, sizeof text, "%s-%d", "ab", 1234) == 7 && strcmp(text, "ab-1234") == 0);
    REQUIRE(sprintf_s(text, sizeof text, "%s-%d", "ab", 12345) == -1 && text[0] == 0);
    REQUIRE(snprintf_s(text, sizeof text, 7, "%d", 1234567) == 7 && strcmp(text, "1234567") == 0);
    REQUIRE(snprintf_s(text, sizeof text, 3, "%d", 1234567) == -1 && strcmp(text, "123") == 0);
    REQUIRE(snprintf_truncated_s(text, sizeof text, "%d", 123456789) == 7 && strcmp(text, "1234567") == 0);
    /* Arguments in registers and on the stack, of both kinds. */
    char many[64];
    REQUIRE(formatted(many, sizeof many, 63, "%d %d %d %d %d %.1f %s", 1, 2, 3, 4, 5, 6.5, "seven") == 19);
    REQUIRE(strcmp(many, "1 2 3 4 5 6.5 seven") == 0);
    return 0;
}
