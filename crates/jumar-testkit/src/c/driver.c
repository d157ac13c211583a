/* Runs the cases: each in a child of its own, in which the library was not called, with a limit of time. */
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { THREADS = 10, BLOCKS = 256, NOTES = 256, STATUS_FAILED = 77 };

/* Shared with the parent, so that it can report where a child died. */
typedef struct {
    int step;
    bool ended; /* all steps are done; what follows is the process's own end */
    char message[8192];
} report;

/* How long a case may take. */
static int limit_s = 10;
/* How long a case waits for what has to come; a library that does nothing need not be given as long. */
static int64_t patience_ms = 5000;
static report *shared;
static const jm_case *current;
static char folder[4096];

/* ---- how a case fails ---- */

static pthread_mutex_t fail_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int own_step;

static void append(const char *format, ...)
{
    size_t used = strlen(shared->message);
    va_list args;
    va_start(args, format);
    vsnprintf(shared->message + used, sizeof shared->message - used, format, args);
    va_end(args);
}

void jm_fail(const char *expected, const char *got)
{
    pthread_mutex_lock(&fail_lock);
    append("step %d `%s`: expected %s, got %s", own_step + 1, current->steps[own_step].text, expected, got);
    const char *text = aclGetRecentErrMsg();
    if (text != NULL && text[0] != '\0') {
        append("\n      the library says: ");
        for (; *text != '\0' && strlen(shared->message) < sizeof shared->message - 16; text++) {
            append(*text == '\n' ? "\n        " : "%c", *text);
        }
    }
    _exit(STATUS_FAILED);
}

static void fail_int(const char *sign, int64_t got, int64_t expected)
{
    char left[64], right[96];
    snprintf(left, sizeof left, got < 0 || got > 0xffffffff ? "%lld (0x%llx)" : "%lld", (long long)got,
             (unsigned long long)got);
    snprintf(right, sizeof right, "%s%s%lld", sign, sign[0] == '\0' ? "" : " ", (long long)expected);
    jm_fail(right, left);
}

void jm_expect_int(int64_t got, int64_t expected)
{
    if (got != expected) {
        fail_int("", got, expected);
    }
}

void jm_expect_real(double got, double expected)
{
    if (got != expected) {
        jm_compare_real(got, "==", expected, false);
    }
}

void jm_expect_text(const char *got, const char *expected)
{
    if (!jm_equal(got, expected)) {
        jm_fail(expected == NULL ? "NULL" : expected, got == NULL ? "NULL" : got);
    }
}

void jm_compare_int(int64_t left, const char *sign, int64_t right, bool holds)
{
    if (!holds) {
        fail_int(sign, left, right);
    }
}

void jm_compare_real(double left, const char *sign, double right, bool holds)
{
    if (!holds) {
        char got[64], expected[96];
        snprintf(got, sizeof got, "%.9g", left);
        snprintf(expected, sizeof expected, "%s %.9g", sign, right);
        jm_fail(expected, got);
    }
}

void jm_compare_text(const char *left, const char *sign, const char *right, bool holds)
{
    if (!holds) {
        char expected[1024];
        snprintf(expected, sizeof expected, "%s \"%s\"", sign, right == NULL ? "NULL" : right);
        jm_fail(expected, left == NULL ? "NULL" : left);
    }
}

static void trouble(const char *what)
{
    char text[512];
    snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
    jm_fail("a driver that works", text);
}

/* ---- files ---- */

const char *jm_file(const char *name)
{
    /* Paths live as long as the process: a case has a handful. */
    char *path = malloc(strlen(folder) + strlen(name) + 2);
    if (path == NULL) {
        trouble("malloc");
    }
    sprintf(path, "%s/%s", folder, name);
    return path;
}

const char *jm_model(const char *name)
{
    const char *models = getenv("JUMAR_TEST_MODELS");
    char *path = malloc(strlen(models == NULL ? "" : models) + strlen(name) + 8);
    if (path == NULL) {
        trouble("malloc");
    }
    /* A name without an ending is a model's. */
    sprintf(path, "%s/%s%s", models == NULL ? "." : models, name, strchr(name, '.') == NULL ? ".om" : "");
    return path;
}

static void write_all(const char *name, const char *bytes, uint64_t length, uint64_t total)
{
    FILE *file = fopen(jm_file(name), "wb");
    if (file == NULL) {
        trouble(name);
    }
    for (uint64_t done = 0; done < total;) {
        uint64_t part = total - done < length ? total - done : length;
        if (fwrite(bytes, 1, part, file) != part) {
            trouble(name);
        }
        done += part;
    }
    if (fclose(file) != 0) {
        trouble(name);
    }
}

void jm_make_file(const char *name, const char *text, size_t length)
{
    write_all(name, text, length, length);
}

void jm_make_repeat(const char *name, const char *text, size_t length, uint64_t count)
{
    /* Larger pieces than the pattern, so that eleven million blanks are not eleven million writes. */
    enum { PIECE = 65536 };
    size_t whole = length < PIECE ? PIECE / length * length : length;
    char *piece = malloc(whole);
    if (piece == NULL) {
        trouble("malloc");
    }
    for (size_t at = 0; at < whole; at++) {
        piece[at] = text[at % length];
    }
    write_all(name, piece, whole, count);
    free(piece);
}

void jm_make_folder(const char *name)
{
    if (mkdir(jm_file(name), 0700) != 0) {
        trouble(name);
    }
}

void jm_make_model(const char *name, const char *model, uint64_t cut, int64_t flip)
{
    char *bytes = jm_read(jm_model(model));
    int64_t length = jm_length(bytes);
    if (flip >= 0 && flip < length) {
        bytes[flip] = (char)~bytes[flip];
    }
    if ((int64_t)cut > length) {
        jm_fail("a model longer than what is cut off", "a shorter one");
    }
    write_all(name, bytes, (uint64_t)length - cut, (uint64_t)length - cut);
}

/* ---- host memory ---- */

static struct {
    void *memory;
    int64_t size;
} blocks[BLOCKS];
static int block_count;

static void *keep(void *memory, int64_t size)
{
    if (memory == NULL || block_count == BLOCKS) {
        trouble("host memory");
    }
    blocks[block_count].memory = memory;
    blocks[block_count].size = size;
    block_count++;
    return memory;
}

void *jm_host(int64_t size)
{
    return keep(calloc(1, (size_t)size), size);
}

void *jm_pages(int64_t size)
{
    void *memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return keep(memory == MAP_FAILED ? NULL : memory, size);
}

void *jm_cstring(const char *text)
{
    char *copy = jm_host((int64_t)strlen(text) + 1);
    return strcpy(copy, text);
}

void *jm_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        trouble(path);
    }
    long size = ftell(file);
    rewind(file);
    char *bytes = jm_host(size);
    if (size < 0 || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        trouble(path);
    }
    fclose(file);
    return bytes;
}

int64_t jm_length(const void *memory)
{
    for (int block = 0; block < block_count; block++) {
        if (blocks[block].memory == memory) {
            return blocks[block].size;
        }
    }
    jm_fail("memory of this case", "another pointer");
}

void jm_fill(void *memory, int value, int64_t size)
{
    memset(memory, value, (size_t)size);
}

void jm_put_f32(void *memory, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ((float *)memory)[i] = (float)values[i];
    }
}

void jm_put_i64(void *memory, const int64_t *values, size_t count)
{
    memcpy(memory, values, count * sizeof *values);
}

double jm_f32(const void *memory, int64_t index)
{
    return (double)((const float *)memory)[index];
}

int64_t jm_i64(const void *memory, int64_t index)
{
    return ((const int64_t *)memory)[index];
}

bool jm_same(const void *memory, int value, int64_t size)
{
    const unsigned char *bytes = memory;
    for (int64_t at = 0; at < size; at++) {
        if (bytes[at] != (unsigned char)value) {
            char expected[64], got[64];
            snprintf(expected, sizeof expected, "0x%02x at byte %lld", (unsigned char)value, (long long)at);
            snprintf(got, sizeof got, "0x%02x", bytes[at]);
            jm_fail(expected, got);
        }
    }
    return true;
}

bool jm_contains(const char *text, const char *part)
{
    if (text == NULL || strstr(text, part) == NULL) {
        char expected[512];
        snprintf(expected, sizeof expected, "a text with \"%s\"", part);
        jm_fail(expected, text == NULL ? "NULL" : text);
    }
    return true;
}

bool jm_equal(const char *left, const char *right)
{
    return left == NULL || right == NULL ? left == right : strcmp(left, right) == 0;
}

/* ---- callbacks ---- */

static pthread_mutex_t callback_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t callback_changed = PTHREAD_COND_INITIALIZER;
static int64_t calls, notes[NOTES], last_thread;
static bool held, go;

static struct timespec patience(clockid_t clock)
{
    struct timespec until;
    clock_gettime(clock, &until);
    int64_t nanoseconds = until.tv_nsec + patience_ms * 1000000;
    until.tv_sec += nanoseconds / 1000000000;
    until.tv_nsec = nanoseconds % 1000000000;
    return until;
}

static void note(int64_t value)
{
    notes[calls % NOTES] = value;
    calls++;
    last_thread = (int64_t)pthread_self();
    pthread_cond_broadcast(&callback_changed);
}

void cb_count(void *data)
{
    (void)data;
    pthread_mutex_lock(&callback_lock);
    note(0);
    pthread_mutex_unlock(&callback_lock);
}

void cb_note(void *data)
{
    pthread_mutex_lock(&callback_lock);
    note((int64_t)(intptr_t)data);
    pthread_mutex_unlock(&callback_lock);
}

void cb_frame(void *input, void *output, void *data)
{
    (void)input;
    (void)output;
    cb_note(data);
}

void cb_hold(void *data)
{
    (void)data;
    struct timespec until = patience(CLOCK_REALTIME);
    pthread_mutex_lock(&callback_lock);
    held = true;
    pthread_cond_broadcast(&callback_changed);
    while (!go && pthread_cond_timedwait(&callback_changed, &callback_lock, &until) == 0) {
    }
    note(0);
    pthread_mutex_unlock(&callback_lock);
}

void cb_device_state(int32_t device, aclrtDeviceState state, void *data)
{
    (void)device, (void)data;
    pthread_mutex_lock(&callback_lock);
    note((int64_t)state);
    pthread_mutex_unlock(&callback_lock);
}

static void note_alone(int64_t value)
{
    pthread_mutex_lock(&callback_lock);
    note(value);
    pthread_mutex_unlock(&callback_lock);
}

void cb_stream_state(aclrtStream stream, aclrtStreamState state, void *data)
{
    (void)stream, (void)data;
    note_alone((int64_t)state);
}

int32_t cb_abort(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *data)
{
    (void)device, (void)timeout, (void)data;
    note_alone((int64_t)stage);
    return 0;
}

int32_t cb_abort_fails(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *data)
{
    return cb_abort(device, stage, timeout, data) - 1;
}

aclError cb_init(const char *text, size_t length, void *data)
{
    (void)text, (void)data;
    note_alone((int64_t)length);
    return 0;
}

aclError cb_init_fails(const char *text, size_t length, void *data)
{
    return cb_init(text, length, data) + 12345;
}

aclError cb_finalize(void *data)
{
    note_alone((int64_t)(intptr_t)data);
    return 0;
}

aclError cb_finalize_fails(void *data)
{
    return cb_finalize(data) + 54321;
}

uint32_t cb_snapshot(int32_t device, void *data)
{
    (void)device;
    note_alone((int64_t)(intptr_t)data);
    return 0;
}

uint32_t cb_snapshot_fails(int32_t device, void *data)
{
    return cb_snapshot(device, data) + 1;
}

int32_t cb_dump(const acldumpChunk *chunk, int32_t length)
{
    (void)length;
    note_alone((int64_t)chunk->bufLen);
    return 0;
}

void cb_exception(aclrtExceptionInfo *info)
{
    (void)info;
    pthread_mutex_lock(&callback_lock);
    note(0);
    pthread_mutex_unlock(&callback_lock);
}

void *cb_allocate(void *allocator, size_t bytes)
{
    note_alone((int64_t)bytes);
    return allocator;
}

void *cb_allocate_none(void *allocator, size_t bytes)
{
    (void)allocator;
    note_alone((int64_t)bytes);
    return NULL;
}

void *cb_address(void *block)
{
    note_alone((int64_t)(intptr_t)block + 1);
    return block;
}

void *cb_address_none(void *block)
{
    note_alone((int64_t)(intptr_t)block + 1);
    return NULL;
}

void cb_free(void *allocator, void *block)
{
    (void)allocator;
    note_alone((int64_t)(intptr_t)block + 2);
}

static int64_t locked(const int64_t *value)
{
    pthread_mutex_lock(&callback_lock);
    int64_t copy = *value;
    pthread_mutex_unlock(&callback_lock);
    return copy;
}

int64_t jm_counter(void)
{
    return locked(&calls);
}

int64_t jm_recorded(int64_t index)
{
    return locked(&notes[index % NOTES]);
}

int64_t jm_callback_thread(void)
{
    return locked(&last_thread);
}

void jm_release_held(void)
{
    pthread_mutex_lock(&callback_lock);
    go = true;
    pthread_cond_broadcast(&callback_changed);
    pthread_mutex_unlock(&callback_lock);
}

static void await(bool (*reached)(int64_t), int64_t value, const char *what)
{
    struct timespec until = patience(CLOCK_REALTIME);
    int status = 0;
    pthread_mutex_lock(&callback_lock);
    while (!reached(value) && status == 0) {
        status = pthread_cond_timedwait(&callback_changed, &callback_lock, &until);
    }
    bool there = reached(value);
    pthread_mutex_unlock(&callback_lock);
    if (!there) {
        jm_fail(what, "nothing in time");
    }
}

static bool is_held(int64_t value)
{
    (void)value;
    return held;
}

static bool has_called(int64_t value)
{
    return calls >= value;
}

void jm_await_held(void)
{
    await(is_held, 0, "the callback to have begun");
}

void jm_await_count(int64_t count)
{
    await(has_called, count, "callbacks to have run");
}

/* ---- threads ---- */

typedef struct {
    bool started;
    bool busy;
    int step; /* what to do; -1 is nothing */
    pthread_t thread;
    pthread_cond_t changed;
} worker;

static worker workers[THREADS];
static pthread_mutex_t worker_lock = PTHREAD_MUTEX_INITIALIZER;

static void run_step(int step)
{
    own_step = step;
    current->run(step);
}

static void *work(void *argument)
{
    worker *own = argument;
    pthread_mutex_lock(&worker_lock);
    for (;;) {
        while (own->step < 0) {
            pthread_cond_wait(&own->changed, &worker_lock);
        }
        int step = own->step;
        pthread_mutex_unlock(&worker_lock);
        run_step(step);
        pthread_mutex_lock(&worker_lock);
        own->step = -1;
        own->busy = false;
        pthread_cond_broadcast(&own->changed);
    }
    return NULL;
}

static worker *started(int thread)
{
    worker *it = &workers[thread];
    if (!it->started) {
        it->step = -1;
        pthread_cond_init(&it->changed, NULL);
        if (pthread_create(&it->thread, NULL, work, it) != 0) {
            trouble("pthread_create");
        }
        it->started = true;
    }
    return it;
}

void jm_join(int thread)
{
    worker *it = started(thread);
    pthread_mutex_lock(&worker_lock);
    while (it->busy) {
        pthread_cond_wait(&it->changed, &worker_lock);
    }
    pthread_mutex_unlock(&worker_lock);
}

int64_t jm_tid(int thread)
{
    return thread <= 1 ? (int64_t)pthread_self() : (int64_t)started(thread)->thread;
}

static void pass_to_thread(int step)
{
    const jm_step *it = &current->steps[step];
    worker *other = started(it->thread);
    jm_join(it->thread);
    pthread_mutex_lock(&worker_lock);
    other->busy = true;
    other->step = step;
    pthread_cond_broadcast(&other->changed);
    pthread_mutex_unlock(&worker_lock);
    if (!it->background) {
        jm_join(it->thread);
    }
}

static __thread struct timespec time_over;

void jm_start_time(void)
{
    time_over = patience(CLOCK_MONOTONIC);
}

bool jm_still_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec < time_over.tv_sec || (now.tv_sec == time_over.tv_sec && now.tv_nsec < time_over.tv_nsec);
}

void jm_pause(void)
{
    sched_yield();
}

/* ---- one case, many cases ---- */

static void set_environment(const char *env)
{
    unsetenv("ASCEND_RT_VISIBLE_DEVICES");
    unsetenv("JUMAR_DEVICES");
    while (env != NULL && *env != '\0') {
        const char *equals = strchr(env, '='), *end = strchr(env, '\n');
        char *name = strndup(env, (size_t)(equals - env));
        char *value = strndup(equals + 1, (size_t)(end - equals - 1));
        char *mark = strstr(value, "{folder}");
        if (mark != NULL) {
            char *whole = NULL;
            if (asprintf(&whole, "%.*s%s%s", (int)(mark - value), value, folder, mark + strlen("{folder}")) < 0) {
                trouble(name);
            }
            value = whole;
        }
        setenv(name, value, 1);
        env = end + 1;
    }
}

/* Under the checks each case has a report of its own. */
static void set_checks(void)
{
    const char *reports = getenv("JUMAR_TEST_REPORTS");
    char *file = NULL;
    if (reports == NULL) {
        return;
    }
    if (asprintf(&file, "%s/%s", reports, current->id) < 0) {
        trouble("the report");
    }
    setenv("JUMAR_CHECK", "1", 1);
    setenv("JUMAR_CHECK_REPORT", file, 1);
    if (getenv("JUMAR_TEST_LATE") != NULL) {
        setenv("JUMAR_LATE", "1", 1);
    }
}

static void child(int index, const char *base)
{
    alarm((unsigned)limit_s);
    snprintf(folder, sizeof folder, "%s/%d", base, index);
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        trouble(folder);
    }
    if (chdir(folder) != 0) {
        trouble(folder);
    }
    set_environment(current->env);
    set_checks();
    if (current->files != NULL) {
        current->files();
    }
    for (int step = 0; step < current->step_count; step++) {
        shared->step = step;
        own_step = step;
        if (current->steps[step].thread > 1) {
            pass_to_thread(step);
        } else {
            run_step(step);
        }
    }
    shared->ended = true;
    /* The ordinary end, so that what the library does at exit is part of every case. */
    exit(0);
}

/* Returns the first missing model, or NULL. */
static const char *missing_model(const char *models)
{
    static char name[256];
    while (models != NULL && *models != '\0') {
        size_t length = strcspn(models, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, models);
        if (access(jm_model(name), R_OK) != 0) {
            return name;
        }
        models += length + 1;
    }
    return NULL;
}

static bool run_case(int index, const char *base)
{
    memset(shared, 0, sizeof *shared);
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(2);
    }
    if (pid == 0) {
        child(index, base);
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && shared->ended) {
        printf("ok %s\n", current->id);
        return true;
    }
    printf("FAIL %s: ", current->id);
    const char *step = shared->ended ? "the end of the process" : current->steps[shared->step].text;
    if (shared->message[0] != '\0') {
        printf("%s\n", shared->message);
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        printf("step %d `%s`: expected an end within %d s, got none\n", shared->step + 1, step, limit_s);
    } else if (WIFSIGNALED(status)) {
        printf("step %d `%s`: expected an answer, got signal %d (%s)\n", shared->step + 1, step, WTERMSIG(status),
               strsignal(WTERMSIG(status)));
    } else {
        printf("step %d `%s`: expected an answer, got the end of the process with status %d\n", shared->step + 1,
               step, WEXITSTATUS(status));
    }
    return false;
}

static void usage(void)
{
    fprintf(stderr, "usage: behaviour [--list] [--all] [--kind works|refused] [PART-OF-AN-ID ...]\n"
                    "JUMAR_TEST_MODELS names the folder of the models, JUMAR_TEST_FOLDER one for the cases' files.\n"
                    "--all also runs cases whose functions are not implemented.\n");
    exit(2);
}

static bool wanted(const jm_case *it, char **filters, const char *kind)
{
    if (kind != NULL && strcmp(kind, it->kind) != 0) {
        return false;
    }
    if (*filters == NULL) {
        return true;
    }
    for (; *filters != NULL; filters++) {
        if (strstr(it->id, *filters) != NULL) {
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    bool list = false, all = false;
    const char *kind = NULL;
    int at = 1;
    for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
        if (strcmp(argv[at], "--list") == 0) {
            list = true;
        } else if (strcmp(argv[at], "--all") == 0) {
            all = true;
        } else if (strcmp(argv[at], "--kind") == 0 && at + 1 < argc) {
            kind = argv[++at];
        } else {
            usage();
        }
    }
    if (getenv("JUMAR_TEST_PATIENCE_MS") != NULL) {
        patience_ms = atoll(getenv("JUMAR_TEST_PATIENCE_MS"));
    }
    if (getenv("JUMAR_TEST_LIMIT_S") != NULL) {
        limit_s = atoi(getenv("JUMAR_TEST_LIMIT_S"));
    }
    const char *base = getenv("JUMAR_TEST_FOLDER");
    char made[] = "/tmp/behaviour-XXXXXX";
    if (base == NULL && !list) {
        base = mkdtemp(made);
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || (base == NULL && !list)) {
        perror("behaviour");
        return 2;
    }
    int passed = 0, failed = 0, waiting = 0, without_model = 0;
    for (int index = 0; index < jm_case_count; index++) {
        current = &jm_cases[index];
        if (!wanted(current, argv + at, kind)) {
            continue;
        }
        const char *model = missing_model(current->models);
        if (list) {
            printf("%s\n", current->id);
        } else if (current->waits_for != NULL && !all) {
            printf("waits %s: for %s\n", current->id, current->waits_for);
            waiting++;
        } else if (model != NULL) {
            printf("no model %s: %s%s\n", current->id, model, strchr(model, '.') == NULL ? ".om" : "");
            without_model++;
        } else if (run_case(index, base)) {
            passed++;
        } else {
            failed++;
        }
    }
    if (!list) {
        printf("%d passed, %d failed, %d wait for functions, %d lack a model\n", passed, failed, waiting,
               without_model);
    }
    return failed > 0;
}
