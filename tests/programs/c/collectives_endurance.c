/* Communicators come and go, collectives run by the million, and ranks are killed at any moment: memory, descriptors and the system's shared
 * memory are as before. collectives_endurance [communicators [operations [kills [seed]]]]
 * Ranks are threads of one process first, then processes. A random number decides what runs and when which rank is killed. */
#include "program.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hccl/hccl.h"

enum { RANKS = 4, MOST = 1 << 16, BATCH = 64, ALLOWED_KIB = 2048, FAILED_STREAM = 507048 };

static long communicators = 20, operations = 2000, kills = 10;
static uint64_t seed = 1;

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static long resident_kib(void)
{
    long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    REQUIRE(file != NULL && fscanf(file, "%ld %ld", &all, &resident) == 2);
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Counts what is in a folder and has a part of a name. */
static int entries(const char *path, const char *part)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    int count = 0;
    if (folder == NULL) {
        return 0;
    }
    while ((entry = readdir(folder)) != NULL) {
        count += strstr(entry->d_name, part) != NULL;
    }
    closedir(folder);
    return count;
}

/* Returns what a descriptor is open for; null for none. */
static const char *target_of(int number)
{
    static char target[256];
    char path[64];
    ssize_t length;
    snprintf(path, sizeof path, "/proc/self/fd/%d", number);
    length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = 0;
    return length > 0 ? target : NULL;
}

/* Counts descriptors; files, such as logs, belong to others. */
static int descriptors(void)
{
    int count = 0;
    for (int number = 0; number < 256; number++) {
        const char *target = target_of(number);
        count += target != NULL && (target[0] != '/' || strncmp(target, "/memfd:", 7) == 0);
    }
    return count;
}

static void list_descriptors(void)
{
    for (int number = 0; number < 256; number++) {
        const char *target = target_of(number);
        if (target != NULL) {
            fprintf(stderr, "  %d: %s\n", number, target);
        }
    }
}

/* What a process has. */
struct has {
    long kib;
    int descriptors;
    int shared;
    int mapped;
};

static struct has look(void)
{
    struct has has = {0};
    char line[512];
    FILE *file = fopen("/proc/self/maps", "r");
    REQUIRE(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        has.mapped += strstr(line, "/memfd:jumar") != NULL;
    }
    fclose(file);
    has.kib = resident_kib();
    has.descriptors = descriptors();
    has.shared = entries("/dev/shm", "jumar");
    return has;
}

/* Threads that serve a communicator may end a moment after it. */
static void expect_as_before(struct has before, const char *what)
{
    double begin = now_s();
    struct has now;
    do {
        now = look();
        if (now.kib <= before.kib + ALLOWED_KIB && now.descriptors <= before.descriptors && now.shared <= before.shared &&
            now.mapped <= before.mapped) {
            printf("%s: resident memory %+ld KiB, descriptors %+d, mappings %+d, files in /dev/shm %+d\n", what, now.kib - before.kib,
                   now.descriptors - before.descriptors, now.mapped - before.mapped, now.shared - before.shared);
            fflush(stdout);
            return;
        }
        sleep_ms(20);
    } while (now_s() < begin + PATIENCE_S);
    fprintf(stderr, "%s (seed %llu): before: %ld KiB, %d descriptors, %d mappings, %d files in /dev/shm; now: %ld, %d, %d, %d\n", what,
            (unsigned long long)seed, before.kib, before.descriptors, before.mapped, before.shared, now.kib, now.descriptors, now.mapped,
            now.shared);
    list_descriptors();
    exit(1);
}

/* The same on all ranks whose numbers are the same. */
static int queue(uint64_t number, float *from, float *to, HcclComm comm, aclrtStream stream, uint64_t most)
{
    uint64_t count = number / 8 % most + 1;
    uint32_t root = (uint32_t)(number >> 40) % RANKS;
    switch (number % 6) {
    case 0:
        return (int)HcclBroadcast(to, count, HCCL_DATA_TYPE_FP32, root, comm, stream);
    case 1:
        return (int)HcclAllGather(from, to, count / RANKS, HCCL_DATA_TYPE_FP32, comm, stream);
    case 2:
        return (int)HcclReduceScatter(from, to, count / RANKS, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream);
    case 3:
        return (int)HcclBarrier(comm, stream);
    default:
        return (int)HcclAllReduce(from, to, count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream);
    }
}

/* One device of this process. */
struct device {
    aclrtStream stream;
    float *from, *to;
};

static struct device open_device(int number)
{
    struct device made;
    CHECK(aclrtSetDevice(number));
    CHECK(aclrtCreateStream(&made.stream));
    CHECK(aclrtMalloc((void **)&made.from, MOST * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc((void **)&made.to, MOST * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemset(made.from, MOST * sizeof(float), 0, MOST * sizeof(float)));
    CHECK(aclrtMemset(made.to, MOST * sizeof(float), 0, MOST * sizeof(float)));
    return made;
}

static void run_threads(long rounds, long count, struct device *devices)
{
    int32_t numbers[RANKS] = {0, 1, 2, 3};
    HcclComm comms[RANKS];
    for (long round = 0; round < rounds; round++) {
        uint64_t state = seed + 1;
        CHECK(HcclCommInitAll(RANKS, numbers, comms));
        for (long at = 0; at < count; at++) {
            uint64_t number = next(&state);
            for (int rank = 0; rank < RANKS; rank++) {
                CHECK(aclrtSetDevice(rank));
                CHECK(queue(number, devices[rank].from, devices[rank].to, comms[rank], devices[rank].stream, 64));
            }
            if (at % BATCH == BATCH - 1 || at + 1 == count) {
                for (int rank = 0; rank < RANKS; rank++) {
                    CHECK(aclrtSetDevice(rank));
                    CHECK(aclrtSynchronizeStreamWithTimeout(devices[rank].stream, (int32_t)(PATIENCE_S * 1000)));
                }
            }
        }
        for (int rank = 0; rank < RANKS; rank++) {
            CHECK(HcclCommDestroy(comms[rank]));
        }
    }
}

static void in_threads(void)
{
    struct device devices[RANKS];
    struct has before;
    double begin;

    CHECK(aclInit(NULL));
    for (int rank = 0; rank < RANKS; rank++) {
        devices[rank] = open_device(rank);
    }
    run_threads(10, 100, devices);
    before = look();
    begin = now_s();
    run_threads(communicators, 1, devices);
    printf("threads: %ld communicators in %.1f s\n", communicators, now_s() - begin);
    begin = now_s();
    run_threads(1, operations, devices);
    printf("threads: %ld collectives in %.1f s\n", operations, now_s() - begin);
    expect_as_before(before, "threads");
    CHECK(aclFinalize());
}

/* Returns 0 at the end of the pipe. */
static int read_all(int from, void *to, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        ssize_t got = read(from, (char *)to + at, bytes - at);
        if (got <= 0) {
            return 0;
        }
        at += (size_t)got;
    }
    return 1;
}

static int write_all(int to, const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        ssize_t put = write(to, (const char *)from + at, bytes - at);
        if (put <= 0) {
            return 0;
        }
        at += (size_t)put;
    }
    return 1;
}

/* Meets the others: rank 0 sends the root information up, the parent sends it down to all. 0 if the parent has given up. */
static int meet(int rank, int in, int out, HcclComm *comm, int *code)
{
    HcclRootInfo info;
    if (rank == 0) {
        CHECK(HcclGetRootInfo(&info));
        if (!write_all(out, &info, sizeof info)) {
            return 0;
        }
    }
    if (!read_all(in, &info, sizeof info)) {
        return 0;
    }
    *code = (int)HcclCommInitRootInfo(RANKS, &info, (uint32_t)rank, comm);
    return 1;
}

static void run_process(int rank, int in, int out, long rounds, long count, struct device *device)
{
    for (long round = 0; round < rounds; round++) {
        uint64_t state = seed + 2;
        HcclComm comm;
        int code = 0;
        REQUIRE(meet(rank, in, out, &comm, &code));
        CHECK(code);
        for (long at = 0; at < count; at++) {
            CHECK(queue(next(&state), device->from, device->to, comm, device->stream, 64));
            if (at % BATCH == BATCH - 1 || at + 1 == count) {
                CHECK(aclrtSynchronizeStreamWithTimeout(device->stream, (int32_t)(PATIENCE_S * 1000)));
            }
        }
        CHECK(HcclCommDestroy(comm));
    }
}

static int lasting_rank(int rank, int in, int out)
{
    struct device device;
    struct has before;
    double begin;

    CHECK(aclInit(NULL));
    device = open_device(rank);
    run_process(rank, in, out, 10, 100, &device);
    before = look();
    begin = now_s();
    run_process(rank, in, out, communicators, 1, &device);
    if (rank == 0) {
        printf("processes: %ld communicators in %.1f s\n", communicators, now_s() - begin);
    }
    begin = now_s();
    run_process(rank, in, out, 1, operations, &device);
    if (rank == 0) {
        printf("processes: %ld collectives in %.1f s\n", operations, now_s() - begin);
    }
    expect_as_before(before, rank == 0 ? "processes, rank 0" : "processes");
    CHECK(aclFinalize());
    return 0;
}

/* Runs until another rank is gone, at whatever moment that is. */
static int doomed_rank(int rank, int in, int out, uint64_t numbers)
{
    struct device device;
    struct has before;
    HcclComm comm;
    int code = 0, met;

    CHECK(aclInit(NULL));
    device = open_device(rank);
    before = look();
    if (!meet(rank, in, out, &comm, &code)) {
        return 0;
    }
    met = code == HCCL_SUCCESS;
    if (met) {
        while (code == 0) {
            code = queue(next(&numbers), device.from, device.to, comm, device.stream, MOST);
            if (code == 0 && next(&numbers) % 4 == 0) {
                code = (int)aclrtSynchronizeStreamWithTimeout(device.stream, (int32_t)(PATIENCE_S * 1000));
            }
        }
        REQUIRE(code == FAILED_STREAM || code == HCCL_E_UNAVAIL);
        CHECK(HcclCommDestroy(comm));
    } else {
        REQUIRE(code == HCCL_E_TIMEOUT || code == HCCL_E_TCP_CONNECT);
    }
    /* The page by which other processes wake this one stays, and the file of what its device lends. Where the ranks have not met, the file of the meeting does, until it expires:
     * a rank that comes late learns there what happened. */
    before.descriptors += 2 + (rank == 0 && !met);
    before.mapped += 1 + (rank == 0 && !met);
    before.kib += 8192;
    for (int tries = 0;; tries++) {
        struct has now = look();
        if (now.descriptors <= before.descriptors && now.mapped <= before.mapped) {
            break;
        }
        if (tries == 200) {
            expect_as_before(before, "survivor");
        }
        sleep_ms(20);
    }
    return 0;
}

struct ranks {
    pid_t children[RANKS];
    int down[RANKS], up;
};

/* Starts the ranks. The ends of the pipes that belong to others are closed in each, so that an end is noticed. */
static struct ranks start(uint64_t numbers)
{
    struct ranks ranks;
    int up[2], down[RANKS][2];
    REQUIRE(pipe(up) == 0);
    for (int rank = 0; rank < RANKS; rank++) {
        REQUIRE(pipe(down[rank]) == 0);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        fflush(stdout);
        ranks.children[rank] = fork();
        REQUIRE(ranks.children[rank] >= 0);
        if (ranks.children[rank] == 0) {
            int in = down[rank][0];
            for (int other = 0; other < RANKS; other++) {
                close(down[other][1]);
                if (other != rank) {
                    close(down[other][0]);
                }
            }
            close(up[0]);
            if (rank != 0) {
                close(up[1]);
            }
            exit(numbers == 0 ? lasting_rank(rank, in, up[1]) : doomed_rank(rank, in, up[1], numbers));
        }
    }
    for (int rank = 0; rank < RANKS; rank++) {
        close(down[rank][0]);
        ranks.down[rank] = down[rank][1];
    }
    close(up[1]);
    ranks.up = up[0];
    return ranks;
}

static void send_to_all(struct ranks *ranks)
{
    HcclRootInfo info;
    if (read_all(ranks->up, &info, sizeof info)) {
        for (int rank = 0; rank < RANKS; rank++) {
            (void)!write_all(ranks->down[rank], &info, sizeof info);
        }
    }
}

static void close_pipes(struct ranks *ranks)
{
    for (int rank = 0; rank < RANKS; rank++) {
        close(ranks->down[rank]);
    }
    close(ranks->up);
}

static void in_processes(void)
{
    struct has before = look();
    struct ranks ranks = start(0);
    for (long round = 0; round < 10 + communicators + 1; round++) {
        send_to_all(&ranks);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        int status;
        REQUIRE(waitpid(ranks.children[rank], &status, 0) == ranks.children[rank]);
        REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    close_pipes(&ranks);
    expect_as_before(before, "the parent of the processes");
}

/* Kills one rank at a random moment: while the ranks start, meet, or work. */
static void kill_one(uint64_t *state)
{
    uint64_t numbers = next(state) | 1, moment = next(state) % 80000;
    int victim = (int)(next(state) % RANKS), dead = 0;
    struct ranks ranks = start(numbers);
    struct pollfd ready = {.fd = ranks.up, .events = POLLIN};
    double begin = now_s();

    if (moment % 4 == 0) {
        /* Before anything was sent. */
        usleep((useconds_t)(moment / 2));
        REQUIRE(kill(ranks.children[victim], SIGKILL) == 0);
        dead = 1;
    }
    REQUIRE(poll(&ready, 1, (int)(PATIENCE_S * 1000)) == 1);
    send_to_all(&ranks);
    if (!dead) {
        usleep((useconds_t)moment);
        REQUIRE(kill(ranks.children[victim], SIGKILL) == 0);
    }
    close_pipes(&ranks);
    for (int rank = 0; rank < RANKS; rank++) {
        int status = 0;
        while (waitpid(ranks.children[rank], &status, WNOHANG) == 0) {
            if (now_s() > begin + 2 * PATIENCE_S) {
                fprintf(stderr, "seed %llu: rank %d still waits after rank %d was killed\n", (unsigned long long)seed, rank, victim);
                for (int other = 0; other < RANKS; other++) {
                    kill(ranks.children[other], SIGKILL);
                }
                exit(1);
            }
            sleep_ms(1);
        }
        if (rank != victim && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
            fprintf(stderr, "seed %llu: rank %d ended with status %d after rank %d was killed\n", (unsigned long long)seed, rank, status, victim);
            exit(1);
        }
    }
}

static void with_kills(void)
{
    uint64_t state = seed * 2654435761u + 88172645463325252u;
    struct has before = look();
    double begin = now_s();
    setenv("JUMAR_HCCL_TIMEOUT", "3", 1);
    for (long round = 0; round < kills; round++) {
        kill_one(&state);
    }
    printf("kills: %ld in %.1f s\n", kills, now_s() - begin);
    expect_as_before(before, "the parent of the killed");
}

int main(int count, char **words)
{
    communicators = count > 1 ? atol(words[1]) : communicators;
    operations = count > 2 ? atol(words[2]) : operations;
    kills = count > 3 ? atol(words[3]) : kills;
    seed = count > 4 ? strtoull(words[4], NULL, 10) : seed;
    signal(SIGPIPE, SIG_IGN);
    setenv("JUMAR_DEVICES", "4", 1);
    /* Processes first: a process that has used the interface has to start others by exec. */
    with_kills();
    in_processes();
    in_threads();
    return 0;
}
