/* Bounded text functions over one character type. securec.c includes this once for char and once for wchar_t, with these macros:
 * CHARACTER the type, NAME(x) the name of a function, LENGTH(text, most) the length of a text up to `most`, MOST the largest size. */

static errno_t NAME(empty)(CHARACTER *dest, errno_t code)
{
    dest[0] = 0;
    return code;
}

/* Puts `length` characters of `source` and a zero at `dest + at`. */
static errno_t NAME(put)(CHARACTER *dest, size_t size, size_t at, const CHARACTER *source, size_t length)
{
    if (length >= size - at) return NAME(empty)(dest, ERANGE_AND_RESET);
    if (dest + at == source) {
        dest[at + length] = 0;
        return EOK;
    }
    /* The zero of the source is read too. */
    if (overlap(dest, (at + length + 1) * sizeof *dest, source, (length + 1) * sizeof *dest))
        return NAME(empty)(dest, EOVERLAP_AND_RESET);
    memcpy(dest + at, source, length * sizeof *dest);
    dest[at + length] = 0;
    return EOK;
}

static errno_t NAME(check)(CHARACTER *dest, size_t size, const CHARACTER *source)
{
    if (bad_size(size, MOST)) return ERANGE;
    if (dest == NULL) return EINVAL;
    if (source == NULL) return NAME(empty)(dest, EINVAL_AND_RESET);
    return EOK;
}

static errno_t NAME(copy)(CHARACTER *dest, size_t size, const CHARACTER *source, size_t count)
{
    errno_t wrong = NAME(check)(dest, size, source);
    if (wrong != EOK) return wrong;
    return NAME(put)(dest, size, 0, source, LENGTH(source, count < size ? count : size));
}

static errno_t NAME(append)(CHARACTER *dest, size_t size, const CHARACTER *source, size_t count)
{
    errno_t wrong = NAME(check)(dest, size, source);
    if (wrong != EOK) return wrong;
    size_t at = LENGTH(dest, size);
    if (at == size) return NAME(empty)(dest, EINVAL_AND_RESET);
    size_t left = size - at;
    return NAME(put)(dest, size, at, source, LENGTH(source, count < left ? count : left));
}
