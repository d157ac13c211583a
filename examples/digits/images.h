/* Images of handwritten digits: reading the files, drawing a image as text. No device is involved here. */
#ifndef IMAGES_H
#define IMAGES_H

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
} Images;

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

static inline void images_free(Images *images)
{
    free(images->pixels);
    free(images->labels);
    free(images->read);
    free(images->sure);
}

/* Returns 0, or -1 after printing the reason. Call images_free in both cases. */
static inline int images_load(Images *images, const char *images_path, const char *labels_path)
{
    size_t bytes = 0;

    images->count = 0;
    images->labels = NULL;
    images->read = NULL;
    images->sure = NULL;
    images->pixels = read_file(images_path, &bytes);
    if (images->pixels == NULL) {
        return -1;
    }
    images->labels = read_file(labels_path, &images->count);
    if (images->labels == NULL) {
        return -1;
    }
    if (bytes != images->count * PIXELS) {
        fprintf(stderr, "%s holds %zu bytes, but %s names %zu images of %d bytes\n", images_path, bytes, labels_path,
                images->count, PIXELS);
        return -1;
    }
    images->read = (uint8_t *)calloc(images->count, sizeof(uint8_t));
    images->sure = (float *)calloc(images->count, sizeof(float));
    if (images->read == NULL || images->sure == NULL) {
        fprintf(stderr, "out of memory\n");
        return -1;
    }
    return 0;
}

/* Writes image number `index` as the floats that the network takes. */
static inline void image_to_floats(const Images *images, size_t index, float *floats)
{
    for (size_t i = 0; i < PIXELS; i++) {
        floats[i] = (float)images->pixels[index * PIXELS + i];
    }
}

/* Stores the best of the ten scores of image number `index`. */
static inline void image_set_scores(Images *images, size_t index, const float *scores)
{
    size_t best = 0;
    for (size_t digit = 1; digit < DIGITS; digit++) {
        if (scores[digit] > scores[best]) {
            best = digit;
        }
    }
    images->read[index] = (uint8_t)best;
    images->sure[index] = scores[best];
}

/* Draws up to four images beside each other, with what was read below. */
static inline void images_draw(const Images *images, const size_t *which, size_t count)
{
    static const char ramp[] = " .:-=+*#%@";

    for (size_t row = 0; row < SIDE; row++) {
        for (size_t n = 0; n < count; n++) {
            const uint8_t *pixels = images->pixels + which[n] * PIXELS + row * SIDE;
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
        int read = images->read[which[n]];
        int meant = images->labels[which[n]];
        if (read == meant) {
            snprintf(text, sizeof(text), "read as %d", read);
        } else {
            snprintf(text, sizeof(text), "%d read as %d", meant, read);
        }
        printf("  %-16s", text);
    }
    printf("\n\n");
}

/* Shows the first four images, the first ones that were misread, and how many were read rightly. */
static inline void images_report(const Images *images)
{
    size_t right = 0;
    size_t shown[4];
    size_t count = 0;

    for (; count < 4 && count < images->count; count++) {
        shown[count] = count;
    }
    printf("the first images:\n\n");
    images_draw(images, shown, count);
    count = 0;
    for (size_t i = 0; i < images->count; i++) {
        if (images->read[i] == images->labels[i]) {
            right++;
        } else if (count < 4) {
            shown[count++] = i;
        }
    }
    if (count > 0) {
        printf("misread:\n\n");
        images_draw(images, shown, count);
    }
    printf("accuracy: %.1f %% (%zu images)\n", 100.0 * (double)right / (double)images->count, images->count);
}

#endif
