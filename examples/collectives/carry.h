/* How a parent and its children carry root information through pipes; a job would use MPI, a key-value store or a file. */
#ifndef CARRY_H
#define CARRY_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hccl/hccl.h"

static void move(int from, int to, void *bytes, size_t count)
{
    for (size_t at = 0; at < count;) {
        ssize_t done = from >= 0 ? read(from, (char *)bytes + at, count - at) : write(to, (char *)bytes + at, count - at);
        if (done <= 0) {
            fprintf(stderr, "a pipe was closed\n");
            exit(1);
        }
        at += (size_t)done;
    }
}

/* Starts a process for each rank, which runs `rank_main` with the ends of its pipes. The root information that rank 0 writes goes to all. */
static int run_processes(uint32_t ranks, int (*rank_main)(uint32_t rank, int in, int out))
{
    int down[16][2], up[2], failed = 0;
    HcclRootInfo info;

    if (pipe(up) != 0) {
        return 1;
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        pid_t child;
        if (pipe(down[rank]) != 0 || (child = fork()) < 0) {
            return 1;
        }
        if (child == 0) {
            exit(rank_main(rank, down[rank][0], up[1]));
        }
    }
    close(up[1]);
    move(up[0], -1, &info, sizeof info);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        move(-1, down[rank][1], &info, sizeof info);
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        int status;
        wait(&status);
        failed |= status != 0;
    }
    return failed;
}

#endif
