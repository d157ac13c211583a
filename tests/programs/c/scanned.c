/* The scanning and the wide functions of libc_sec: a text that does not fit leaves its target empty and is reported. */
#include "program.h"

#include "securec.h"

#include <locale.h>
#include <stdlib.h>
#include <wchar.h>

#define SIZED(text) text, sizeof(text)
#define COUNTED(text) text, sizeof(text) / sizeof((text)[0])

static FILE *file_of(const char *text)
{
    FILE *file = tmpfile();
    REQUIRE(file != NULL && fputs(text, file) >= 0);
    rewind(file);
    return file;
}

static int listed(const char *from, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int assigned = vsscanf_s(from, format, arguments);
    va_end(arguments);
    return assigned;
}

static void numbers(void)
{
    int a = 0, b = 0, read = 0;
    long long large = 0;
    short small = 0;
    double real = 0;
    char word[8];

    REQUIRE(sscanf_s("12 -5", "%d %d", &a, &b) == 2 && a == 12 && b == -5);
    REQUIRE(sscanf_s("12", "%d %d", &a, &b) == 1);
    REQUIRE(sscanf_s("", "%d", &a) == EOF && sscanf_s("   ", "%d", &a) == EOF && sscanf_s("x", "%d", &a) == 0);
    REQUIRE(sscanf_s("0x1f,9000000000,-7", "%x,%lld,%hd", (unsigned *)&a, &large, &small) == 3);
    REQUIRE(a == 31 && large == 9000000000ll && small == -7);
    REQUIRE(sscanf_s("at 2.5s", "at %lfs%n", &real, &read) == 1 && real == 2.5 && read == 7);
    REQUIRE(sscanf_s("1234", "%2d%d", &a, &b) == 2 && a == 12 && b == 34);
    REQUIRE(sscanf_s("1 skip 2", "%d %*s %d", &a, &b) == 2 && b == 2);
    REQUIRE(sscanf_s("50% of 7", "%d%% of %d", &a, &b) == 2 && a == 50 && b == 7);
    REQUIRE(sscanf_s("5 apples", "%d pears%d", &a, &b) == 1);
    /* Sizes among numbers of both kinds of registers, and on the stack. */
    REQUIRE(listed("1 a 2 3 4 5 6.5 b", "%d %s %d %d %d %d %lf %s", &a, SIZED(word), &a, &a, &b, &a, &real, word + 4, 4) == 8);
    REQUIRE(a == 5 && b == 4 && real == 6.5 && strcmp(word, "a") == 0 && strcmp(word + 4, "b") == 0);
}

static void texts(void)
{
    char word[6], other[6], letters[3] = "??";
    wchar_t wide[4];

    REQUIRE(sscanf_s(" hello world", "%s %s", SIZED(word), SIZED(other)) == 2 && strcmp(word, "hello") == 0 && strcmp(other, "world") == 0);
    memset(word, 'x', sizeof word);
    REQUIRE(sscanf_s("toolong", "%s", SIZED(word)) == -1 && word[0] == 0);
    REQUIRE(sscanf_s("toolong", "%5s%s", SIZED(word), SIZED(other)) == 2 && strcmp(word, "toolo") == 0 && strcmp(other, "ng") == 0);
    REQUIRE(sscanf_s("a", "%s", word, 1) == -1 && word[0] == 0 && sscanf_s("a", "%s", word, 0) == -1);
    REQUIRE(sscanf_s("  ", "%s", word, 1) == EOF && sscanf_s("a", "%s", NULL, 4) == -1);
    REQUIRE(sscanf_s("key=value", "%[a-z]=%[^]]", SIZED(word), SIZED(other)) == 2 && strcmp(word, "key") == 0 && strcmp(other, "value") == 0);
    REQUIRE(sscanf_s("abcdef", "%[a-z]", SIZED(word)) == -1 && word[0] == 0);
    REQUIRE(sscanf_s("abcde5", "%[a-z]", SIZED(word)) == 1 && strcmp(word, "abcde") == 0);
    REQUIRE(sscanf_s("5", "%[a-z]", SIZED(word)) == 0 && sscanf_s("a]", "%[]a]", SIZED(word)) == 1);
    REQUIRE(sscanf_s("a", "%[a-z]", word, 1) == -1 && sscanf_s("5", "%[a-z]", word, 1) == 0);
    REQUIRE(sscanf_s("xyz", "%2c%c", SIZED(letters), letters + 2, 1) == 2 && memcmp(letters, "xyz", 3) == 0);
    REQUIRE(sscanf_s("xyz", "%3c", letters, 2) == -1 && letters[0] == 0);
    REQUIRE(sscanf_s("abc", "%ls", COUNTED(wide)) == 1 && wcscmp(wide, L"abc") == 0);
    REQUIRE(sscanf_s("abcd", "%ls", COUNTED(wide)) == -1 && wide[0] == 0);
    /* What the C library would allocate, or take by position, is refused; so is a set without an end. */
    REQUIRE(sscanf_s("a", "%ms", SIZED(word)) == -1 && sscanf_s("a", "%1$s", SIZED(word)) == -1);
    REQUIRE(sscanf_s("a", "%[a", SIZED(word)) == -1 && sscanf_s("a", "%", SIZED(word)) == -1);
    REQUIRE(sscanf_s(NULL, "%d", word) == -1 && sscanf_s("1", NULL) == -1);
}

static void files(void)
{
    char word[6], line[4];
    int number = 0;
    FILE *file = file_of("one 22 toolong\n3 end");

    REQUIRE(fscanf_s(file, "%s%d", SIZED(word), &number) == 2 && strcmp(word, "one") == 0 && number == 22);
    REQUIRE(fscanf_s(file, "%s", SIZED(word)) == -1 && word[0] == 0);
    REQUIRE(fscanf_s(file, "%*s %d end", &number) == 1 && number == 3);
    REQUIRE(getc(file) == EOF && fscanf_s(file, "%d", &number) == EOF);
    fclose(file);
    REQUIRE(fscanf_s(NULL, "%d", &number) == -1);

    file = file_of("abc\nabcd\n\nx");
    stdin = file;
    REQUIRE(gets_s(line, sizeof line) == line && strcmp(line, "abc") == 0);
    REQUIRE(gets_s(line, sizeof line) == NULL && line[0] == 0);
    REQUIRE(gets_s(line, sizeof line) == line && line[0] == 0);
    REQUIRE(scanf_s("%s", SIZED(line)) == 1 && strcmp(line, "x") == 0 && gets_s(line, sizeof line) == NULL);
    fclose(file);
}

static void wide(void)
{
    wchar_t text[8], *rest = NULL, list[] = L"a,b";
    char bytes[4];
    int number = 0;

    REQUIRE(wcscpy_s(text, 8, L"1234567") == EOK && wcscpy_s(text, 8, L"12345678") == ERANGE_AND_RESET && text[0] == 0);
    REQUIRE(wcsncpy_s(text, 8, L"123456789", 5) == EOK && wcscat_s(text, 8, L"67") == EOK && wcscmp(text, L"1234567") == 0);
    REQUIRE(wcsncat_s(text, 8, L"8", 1) == ERANGE_AND_RESET && wcscpy_s(text, 0, L"") == ERANGE && wcscpy_s(NULL, 8, L"") == EINVAL);
    REQUIRE(wmemcpy_s(text, 8, L"1234567", 8) == EOK && wmemmove_s(text, 8, text + 1, 7) == EOK && wcscmp(text, L"234567") == 0);
    REQUIRE(wmemcpy_s(text, 8, L"123456789", 9) == ERANGE_AND_RESET && text[0] == 0 && text[7] == 0);
    REQUIRE(wmemcpy_s(text, 8, L"", SIZE_MAX / 2) == ERANGE_AND_RESET && wmemcpy_s(text, SIZE_MAX, L"", 1) == ERANGE);
    REQUIRE(wcscmp(wcstok_s(list, L",", &rest), L"a") == 0 && wcscmp(wcstok_s(NULL, L",", &rest), L"b") == 0);
    REQUIRE(swprintf_s(text, 8, L"%d-%ls", 12, L"abcd") == 7 && wcscmp(text, L"12-abcd") == 0);
    REQUIRE(swprintf_s(text, 8, L"%d-%ls", 12, L"abcde") == -1 && text[0] == 0);

    REQUIRE(swscanf_s(L"12 word", L"%d %ls", &number, text, 8) == 2 && number == 12 && wcscmp(text, L"word") == 0);
    REQUIRE(swscanf_s(L"longword", L"%ls", text, 8) == -1 && text[0] == 0);
    REQUIRE(swscanf_s(L"abc", L"%s", SIZED(bytes)) == 1 && strcmp(bytes, "abc") == 0);
    REQUIRE(swscanf_s(L"abcd", L"%hs", SIZED(bytes)) == -1 && bytes[0] == 0);
    REQUIRE(swscanf_s(L"ab5", L"%[a-z]%d", SIZED(bytes), &number) == 2 && strcmp(bytes, "ab") == 0 && number == 5);
    /* One wide character of three bytes, and what is left of the target. */
    REQUIRE(setlocale(LC_ALL, "C.UTF-8") != NULL);
    REQUIRE(swscanf_s(L"\u20ac", L"%s", SIZED(bytes)) == 1 && strcmp(bytes, "\xe2\x82\xac") == 0);
    REQUIRE(swscanf_s(L"\u20ac\u20ac", L"%s", SIZED(bytes)) == -1 && bytes[0] == 0);
    REQUIRE(swscanf_s(L"\u20ac", L"%c", bytes, 2) == -1);
    REQUIRE(sscanf_s("\xe2\x82\xac", "%ls", COUNTED(text)) == 1 && wcscmp(text, L"\u20ac") == 0);
}

int main(void)
{
    numbers();
    texts();
    files();
    wide();
    printf("ok\n");
    return 0;
}
