/* What the programs that measure collectives share: the operations, the clock, and how a figure is printed. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RANKS 4

enum { ALL_REDUCE, ALL_GATHER, BROADCAST, ALL_TO_ALL };

/* `bytes` is what each rank has after the operation; `times` is how often it runs between two looks at the clock. */
struct load {
    int kind;
    const char *name;
    size_t bytes;
    int times;
};

static const struct load LOADS[] = {
    {ALL_REDUCE, "AllReduce", 4, 300},
    {ALL_REDUCE, "AllReduce", 64 << 10, 100},
    {ALL_REDUCE, "AllReduce", 16 << 20, 4},
    {ALL_GATHER, "AllGather", 16 << 20, 4},
    {BROADCAST, "Broadcast", 16 << 20, 4},
    {ALL_TO_ALL, "AlltoAll", 16 << 20, 4},
};

enum { LOAD_COUNT = sizeof LOADS / sizeof LOADS[0], MOST_BYTES = 16 << 20 };

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

/* The least time of the rounds: what other programs do besides only adds to it. */
static void print_least(const struct load *load, double least_us)
{
    printf("%s %zu %.3f\n", load->name, load->bytes, least_us);
    fflush(stdout);
}

#endif
