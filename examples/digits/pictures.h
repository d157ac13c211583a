/* Pictures of handwritten digits: reading the files, drawing a picture as text. No device is involved here. */
#ifndef PICTURES_H
#define PICTURES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE 8
#define PIXELS (SIDE * SIDE)
#define INK 16 /* the darkest pixel */
#define DIGITS 10

typedef struct {
    size_t count;
    uint8_t *pixels; /* count * PIXELS bytes, row by row */
    uint8_t *labels; /* count bytes: what the writer meant */
    uint8_t *read;   /* count bytes: what the network read */
    float *sure;     /* count values from 0 to 1: how sure it was */
} Pictures;

/* Reads a whole file; returns NULL after saying why when that does not work. */
static inline uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long length = -1;

    if (file == NULL) {
        perror(path);
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) == 0) {
        length = ftell(file);
    }
    if (length > 0 && fseek(file, 0, SEEK_SET) == 0) {
        bytes = (uint8_t *)malloc((size_t)length);
    }
    if (bytes == NULL || fread(bytes, 1, (size_t)length, file) != (size_t)length) {
        fprintf(stderr, "%s: cannot be read, or is empty\n", path);
        free(bytes);
        bytes = NULL;
    } else {
        *size = (size_t)length;
    }
    fclose(file);
    return bytes;
}

static inline void pictures_free(Pictures *pictures)
{
    free(pictures->pixels);
    free(pictures->labels);
    free(pictures->read);
    free(pictures->sure);
}

/* Returns 0, or -1 after saying why. pictures_free is right in both cases. */
static inline int pictures_load(Pictures *pictures, const char *images_path, const char *labels_path)
{
    size_t bytes = 0;

    pictures->count = 0;
    pictures->labels = NULL;
    pictures->read = NULL;
    pictures->sure = NULL;
    pictures->pixels = read_file(images_path, &bytes);
    if (pictures->pixels == NULL) {
        return -1;
    }
    pictures->labels = read_file(labels_path, &pictures->count);
    if (pictures->labels == NULL) {
        return -1;
    }
    if (bytes != pictures->count * PIXELS) {
        fprintf(stderr, "%s holds %zu bytes, but %s names %zu pictures of %d bytes\n", images_path, bytes, labels_path,
                pictures->count, PIXELS);
        return -1;
    }
    pictures->read = (uint8_t *)calloc(pictures->count, sizeof(uint8_t));
    pictures->sure = (float *)calloc(pictures->count, sizeof(float));
    if (pictures->read == NULL || pictures->sure == NULL) {
        fprintf(stderr, "out of memory\n");
        return -1;
    }
    return 0;
}

/* Writes picture number `index` as the floats that the network takes. */
static inline void picture_to_floats(const Pictures *pictures, size_t index, float *floats)
{
    for (size_t i = 0; i < PIXELS; i++) {
        floats[i] = (float)pictures->pixels[index * PIXELS + i];
    }
}

/* Keeps the best of the ten scores of picture number `index`. */
static inline void picture_set_scores(Pictures *pictures, size_t index, const float *scores)
{
    size_t best = 0;
    for (size_t digit = 1; digit < DIGITS; digit++) {
        if (scores[digit] > scores[best]) {
            best = digit;
        }
    }
    pictures->read[index] = (uint8_t)best;
    pictures->sure[index] = scores[best];
}

/* Draws up to four pictures beside each other, with what was read below. */
static inline void pictures_draw(const Pictures *pictures, const size_t *which, size_t count)
{
    static const char ramp[] = " .:-=+*#%@";

    for (size_t row = 0; row < SIDE; row++) {
        for (size_t n = 0; n < count; n++) {
            const uint8_t *pixels = pictures->pixels + which[n] * PIXELS + row * SIDE;
            printf("  ");
            for (size_t column = 0; column < SIDE; column++) {
                unsigned ink = pixels[column] > INK ? INK : pixels[column];
                char c = ramp[ink * (sizeof(ramp) - 2) / INK];
                printf("%c%c", c, c);
            }
        }
        printf("\n");
    }
    for (size_t n = 0; n < count; n++) {
        char text[32];
        int read = pictures->read[which[n]];
        int meant = pictures->labels[which[n]];
        if (read == meant) {
            snprintf(text, sizeof(text), "read as %d", read);
        } else {
            snprintf(text, sizeof(text), "%d read as %d", meant, read);
        }
        printf("  %-16s", text);
    }
    printf("\n\n");
}

/* Shows the first four pictures, the first ones that were misread, and how many were read rightly. */
static inline void pictures_report(const Pictures *pictures)
{
    size_t right = 0;
    size_t shown[4];
    size_t count = 0;

    for (; count < 4 && count < pictures->count; count++) {
        shown[count] = count;
    }
    printf("the first pictures:\n\n");
    pictures_draw(pictures, shown, count);
    count = 0;
    for (size_t i = 0; i < pictures->count; i++) {
        if (pictures->read[i] == pictures->labels[i]) {
            right++;
        } else if (count < 4) {
            shown[count++] = i;
        }
    }
    if (count > 0) {
        printf("misread:\n\n");
        pictures_draw(pictures, shown, count);
    }
    printf("accuracy: %.1f %% (%zu images)\n", 100.0 * (double)right / (double)pictures->count, pictures->count);
}

#endif
