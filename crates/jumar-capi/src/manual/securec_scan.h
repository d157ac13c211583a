/* Bounded scanning over one character type. securec_scan.c includes this once for char and once for wchar_t, with these macros:
 * CHARACTER the type, CHARACTER_OR_END that of GET and UNGET, NO_CHARACTER what they return at the end, UNSIGNED(c) the character
 * without a sign, IS_WIDE whether it is wide; NAME(x) the name of a function; SPACE(c), DIGIT(c) and LENGTH(text); SCAN_TEXT and
 * SCAN_FILE the functions of the C library.
 *
 * The C library scans one conversion at a time. Where a conversion writes text, its width is limited by the size that the program
 * passed behind the target. */

/* What is scanned: a text, or a file. */
struct NAME(source) {
    const CHARACTER *text;
    FILE *file;
    /* How many characters were read. */
    int read;
};

/* One conversion of a format. */
struct NAME(conversion) {
    /* The part of the format before it, to be matched first. */
    const CHARACTER *before;
    size_t before_length;
    /* The size modifier, and the rest of the conversion behind it: "l" and "d", "" and "[a-z]". */
    const CHARACTER *modifier_text;
    size_t modifier_length;
    const CHARACTER *kind;
    size_t kind_length;
    /* The first of `kind`: 'd', 's', 'c', '[', 'n'. */
    CHARACTER letter;
    /* The size modifier: 'H' for hh, 'L' for ll, otherwise the letter, or 0. */
    int modifier;
    int suppressed;
    /* 0 where there is none. */
    size_t width;
    /* Whether it writes text, wide text, and characters without a zero behind them. */
    int is_text, is_wide, is_character;
};

enum { NAME(found) = 1, NAME(end) = 0, NAME(bad) = -1 };

/* Reads the next conversion of a format, and what stands before it. At the end only the latter. */
static int NAME(next)(const CHARACTER **format, struct NAME(conversion) *to)
{
    const CHARACTER *at = *format;
    memset(to, 0, sizeof *to);
    to->before = at;
    while (*at != 0 && !(at[0] == '%' && at[1] != '%')) at += at[0] == '%' ? 2 : 1;
    to->before_length = (size_t)(at - to->before);
    *format = at;
    if (*at == 0) return NAME(end);
    at++;
    if (*at == '*') {
        to->suppressed = 1;
        at++;
    }
    const CHARACTER *digits = at;
    while (DIGIT(*at)) {
        if (to->width > SECUREC_STRING_MAX_LEN) return NAME(bad);
        to->width = to->width * 10 + (size_t)(*at - '0');
        at++;
    }
    if (at != digits && to->width == 0) return NAME(bad);
    to->modifier_text = at;
    switch (*at) {
    case 'h':
    case 'l':
        to->modifier = (int)*at;
        if (at[1] == at[0]) {
            to->modifier = *at == 'h' ? 'H' : 'L';
            at++;
        }
        at++;
        break;
    case 'j':
    case 'z':
    case 't':
    case 'L':
    case 'q':
        to->modifier = *at == 'q' ? 'L' : (int)*at;
        at++;
        break;
    default:
        break;
    }
    to->modifier_length = (size_t)(at - to->modifier_text);
    to->kind = at;
    to->letter = *at;
    switch (*at) {
    case '[':
        at++;
        if (*at == '^') at++;
        if (*at == ']') at++;
        while (*at != 0 && *at != ']') at++;
        if (*at == 0) return NAME(bad);
        break;
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'p':
    case 'c':
    case 's':
    case 'n':
    case 'C':
    case 'S':
        break;
    default:
        /* Neither positions ("%1$d") nor memory that the call allocates ("%ms"). */
        return NAME(bad);
    }
    at++;
    to->kind_length = (size_t)(at - to->kind);
    to->is_character = to->letter == 'c' || to->letter == 'C';
    to->is_text = to->is_character || to->letter == 's' || to->letter == 'S' || to->letter == '[';
    to->is_wide = to->modifier == 'l' || to->letter == 'C' || to->letter == 'S';
    *format = at;
    return NAME(found);
}

/* Scans with a format of one conversion at most, to which "%n" was added. Returns 1 where it matched, 0 where it did not, EOF at the end
 * of the input. */
static int NAME(step)(struct NAME(source) *from, const CHARACTER *format, void *target)
{
    int read = -1, result;
    if (from->file != NULL)
        result = target != NULL ? SCAN_FILE(from->file, format, target, &read) : SCAN_FILE(from->file, format, &read);
    else
        result = target != NULL ? SCAN_TEXT(from->text, format, target, &read) : SCAN_TEXT(from->text, format, &read);
    if (read < 0) return result == EOF ? EOF : 0;
    if (from->file == NULL) from->text += read;
    from->read += read;
    return 1;
}

static CHARACTER *NAME(add)(CHARACTER *to, const CHARACTER *part, size_t length)
{
    memcpy(to, part, length * sizeof *part);
    return to + length;
}

/* Puts the conversion into `piece`, with this width unless it is 0 and this modifier unless it is null, and "%n" behind it. */
static void NAME(compose)(CHARACTER *piece, const struct NAME(conversion) *what, int suppressed, size_t width, const CHARACTER *modifier)
{
    CHARACTER digits[24];
    size_t count = 0;
    *piece++ = '%';
    if (suppressed) *piece++ = '*';
    for (; width > 0; width /= 10) digits[count++] = (CHARACTER)('0' + width % 10);
    while (count > 0) *piece++ = digits[--count];
    if (modifier != NULL) *piece++ = *modifier;
    else piece = NAME(add)(piece, what->modifier_text, what->modifier_length);
    piece = NAME(add)(piece, what->kind, what->kind_length);
    *piece++ = '%';
    *piece++ = 'n';
    *piece = 0;
}

/* Matches what stands before a conversion. */
static int NAME(match)(struct NAME(source) *from, CHARACTER *piece, const struct NAME(conversion) *what)
{
    if (what->before_length == 0) return 1;
    CHARACTER *end = NAME(add)(piece, what->before, what->before_length);
    end[0] = '%';
    end[1] = 'n';
    end[2] = 0;
    return NAME(step)(from, piece, NULL);
}

/* Returns the next character without taking it: EOF at the end. */
static long NAME(peek)(struct NAME(source) *from)
{
    if (from->file == NULL) return *from->text == 0 ? EOF : (long)UNSIGNED(*from->text);
    CHARACTER_OR_END next = GET(from->file);
    if (next == NO_CHARACTER) return EOF;
    UNGET(next, from->file);
    return (long)next;
}

static void NAME(store_count)(const struct NAME(conversion) *what, void *target, int count)
{
    switch (what->modifier) {
    case 'H': *(signed char *)target = (signed char)count; break;
    case 'h': *(short *)target = (short)count; break;
    case 'l': *(long *)target = count; break;
    case 'L': *(long long *)target = count; break;
    case 'j': *(intmax_t *)target = count; break;
    case 'z': *(size_t *)target = (size_t)count; break;
    case 't': *(ptrdiff_t *)target = count; break;
    default: *(int *)target = count; break;
    }
}

/* Scans a text of at most `limit` characters into a target of `size` elements, which is large enough. */
static int NAME(read)(struct NAME(source) *from, CHARACTER *piece, const struct NAME(conversion) *what, void *target, size_t size, size_t limit)
{
#if IS_WIDE
    /* A wide character may become several bytes: scanned as wide, then converted. */
    if (!what->is_wide) {
        wchar_t *scanned = calloc(limit + 1, sizeof *scanned);
        if (scanned == NULL) return -2;
        struct NAME(conversion) wide = *what;
        /* Without its modifier, if there is one, and with the one for wide characters. */
        NAME(compose)(piece, &wide, 0, limit, L"l");
        int result = NAME(step)(from, piece, scanned);
        if (result == 1) result = to_bytes(target, size, scanned, wcsnlen(scanned, limit), what->is_character);
        free(scanned);
        return result;
    }
#endif
    (void)size;
    NAME(compose)(piece, what, 0, limit, NULL);
    return NAME(step)(from, piece, target);
}

/* Scans a text into a target of `size` elements. As `step`; -2 where it does not fit. */
static int NAME(scan_text)(struct NAME(source) *from, CHARACTER *piece, const struct NAME(conversion) *what, void *target, size_t size)
{
    size_t width = what->width > 0 ? what->width : what->is_character ? 1 : SIZE_MAX;
    size_t capacity = what->is_character ? size : size - 1;
    int is_set = what->letter == '[';
    if (what->is_character && width > capacity) return -2;
    int result = 0;
    if (capacity > 0) {
        result = NAME(read)(from, piece, what, target, size, width < capacity ? width : capacity);
        if (result != 1 || what->is_character || width <= capacity) return result;
    } else if (!is_set) {
        const CHARACTER space[] = {' ', '%', 'n', 0};
        NAME(step)(from, space, NULL);
    }
    /* The target is full. Does the text continue? */
    long next = NAME(peek)(from);
    if (next == EOF) return capacity > 0 ? 1 : EOF;
    if (!is_set) return capacity > 0 && SPACE(next) ? 1 : -2;
    NAME(compose)(piece, what, 1, 1, NULL);
    return NAME(step)(from, piece, NULL) == 1 ? -2 : result;
}

static int NAME(scan)(struct NAME(source) *from, const CHARACTER *format, va_list arguments)
{
    struct NAME(conversion) what;
    int assigned = 0, kind = NAME(end), result = 1;
    if (format == NULL) return -1;
    /* No piece is longer than the format, with a width, a modifier and "%n" added. */
    CHARACTER *piece = malloc((LENGTH(format) + 40) * sizeof *piece);
    if (piece == NULL) return -1;
    while (result == 1 && (kind = NAME(next)(&format, &what)) == NAME(found)) {
        result = NAME(match)(from, piece, &what);
        if (result != 1) break;
        void *target = what.suppressed ? NULL : va_arg(arguments, void *);
        /* Programs pass an int or a size_t; both take one argument slot, and no size has more than 31 bits. */
        size_t size = what.is_text && !what.suppressed ? va_arg(arguments, unsigned) : 1;
        if (what.suppressed && what.letter == 'n') continue;
        if (!what.suppressed && (target == NULL || bad_size(size, SECUREC_STRING_MAX_LEN))) {
            result = -2;
        } else if (what.letter == 'n') {
            NAME(store_count)(&what, target, from->read);
        } else if (what.is_text && !what.suppressed) {
            result = NAME(scan_text)(from, piece, &what, target, size);
            if (result == -2 && what.is_wide) *(wchar_t *)target = 0;
            else if (result == -2) *(char *)target = 0;
        } else {
            NAME(compose)(piece, &what, what.suppressed, what.width, NULL);
            result = NAME(step)(from, piece, target);
        }
        if (result == 1 && !what.suppressed && what.letter != 'n') assigned++;
    }
    /* Behind the last conversion: a file is left behind what matches. */
    if (result == 1 && kind == NAME(end)) NAME(match)(from, piece, &what);
    free(piece);
    if (kind == NAME(bad) || result == -2) return -1;
    return result == EOF && assigned == 0 ? EOF : assigned;
}
