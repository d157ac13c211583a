/* A thread that waits for space in a full channel without a time limit delays no other thread: a send with a limit of 0 ms returns at once. */
#include "program.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "acl/dvpp/hi_dvpp.h"

enum { CHANNEL = 3, BYTES = 64, OUTPUT_BYTES = 1 << 12, MOST = 10000, AGAIN = 200 };

static aclrtContext context;
static hi_img_stream stream;
static hi_pic_info output_shape;
static atomic_int waiting;

static hi_s32 send(hi_s32 milliseconds)
{
    hi_img_stream sent = stream;
    hi_pic_info shape = output_shape;
    return hi_mpi_pngd_send_stream(CHANNEL, &sent, &shape, milliseconds);
}

static void *send_without_limit(void *unused)
{
    (void)unused;
    CHECK(aclrtSetCurrentContext(context));
    waiting = (int)syscall(SYS_gettid);
    CHECK(send(-1));
    return NULL;
}

/* Whether the thread sleeps: it waits for space then. */
static int is_asleep(int thread)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL);
    size_t read = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return read > 0 && strstr(text, ") S ") != NULL;
}

static void fetch(void)
{
    hi_pic_info shape;
    hi_img_stream sent;
    /* The bytes are not a PNG image, which the call reports. */
    (void)hi_mpi_pngd_get_image_data(CHANNEL, &shape, &sent, -1);
}

int main(void)
{
    pthread_t thread;
    hi_pngd_chn_attr attributes;
    void *memory, *output;
    int sent = 0;

    alarm(60);
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    CHECK(hi_mpi_sys_init());
    memset(&attributes, 0, sizeof attributes);
    CHECK(hi_mpi_pngd_create_chn(CHANNEL, &attributes));
    CHECK(hi_mpi_dvpp_malloc(0, &memory, BYTES));
    CHECK(hi_mpi_dvpp_malloc(0, &output, OUTPUT_BYTES));
    CHECK(aclrtMemset(memory, BYTES, 0, BYTES));
    stream.type = HI_PT_PNG;
    stream.addr = memory;
    stream.len = BYTES;
    output_shape.picture_address = output;
    output_shape.picture_buffer_size = OUTPUT_BYTES;
    output_shape.picture_format = HI_PIXEL_FORMAT_UNKNOWN;

    while (sent < MOST && send(0) == 0) {
        sent++;
    }
    REQUIRE(sent > 0 && sent < MOST);
    hi_s32 full = send(0);
    REQUIRE(full != 0);
    REQUIRE(pthread_create(&thread, NULL, send_without_limit, NULL) == 0);
    while (waiting == 0 || !is_asleep(waiting)) {
        REQUIRE(send(0) == full);
    }
    for (int i = 0; i < AGAIN; i++) {
        REQUIRE(send(0) == full);
    }
    fetch();
    REQUIRE(pthread_join(thread, NULL) == 0);
    for (int i = 0; i < sent; i++) {
        fetch();
    }
    CHECK(hi_mpi_pngd_destroy_chn(CHANNEL));
    CHECK(hi_mpi_dvpp_free(memory));
    CHECK(hi_mpi_dvpp_free(output));
    CHECK(hi_mpi_sys_exit());
    CHECK(aclFinalize());
    puts("passed");
    return 0;
}
