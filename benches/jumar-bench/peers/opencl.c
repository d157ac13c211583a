/* What an OpenCL runtime on the processor takes for what the runtime bench measures. `cargo xtask bench runtime` compiles and runs this
   where the headers and a runtime are installed; nothing needs it. Prints a JSON line for each figure. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 9

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static void check(cl_int code, const char *what) {
    if (code != CL_SUCCESS) {
        fprintf(stderr, "%s answered %d\n", what, code);
        exit(1);
    }
}

static int larger(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static char name[128];

static void row(const char *what, const char *unit, double *figures, int count) {
    qsort(figures, count, sizeof(double), larger);
    printf("{\"peer\": \"%s\", \"row\": \"%s\", \"unit\": \"%s\", \"value\": %f}\n", name, what, unit, figures[count / 2]);
    fflush(stdout);
}

static cl_command_queue queues[2];
static cl_mem memory;

static void fill(cl_command_queue queue, const cl_event *after, cl_event *done) {
    cl_uint one = 1;
    check(clEnqueueFillBuffer(queue, memory, &one, sizeof one, 0, 64, after ? 1 : 0, after, done), "clEnqueueFillBuffer");
}

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL), "clGetDeviceIDs");
    check(clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof name - 16, name, NULL), "clGetDeviceInfo");
    char platform_name[64], all[sizeof name];
    check(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof platform_name, platform_name, NULL), "clGetPlatformInfo");
    const char *shown = strcmp(platform_name, "Portable Computing Language") ? platform_name : "pocl";
    snprintf(all, sizeof all, "%.40s %.20s", shown, name);
    snprintf(name, sizeof name, "%s", all);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    check(code, "clCreateContext");
    for (int i = 0; i < 2; i++) {
        queues[i] = clCreateCommandQueue(context, device, 0, &code);
        check(code, "clCreateCommandQueue");
    }
    memory = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &code);
    check(code, "clCreateBuffer");
    cl_command_queue queue = queues[0];
    for (int i = 0; i < 100; i++) fill(queue, NULL, NULL);
    check(clFinish(queue), "clFinish");

    double enqueue[ROUNDS], thousand[ROUNDS], hot[ROUNDS], idle[ROUNDS], hop[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_us();
        for (int i = 0; i < 1000; i++) fill(queue, NULL, NULL);
        enqueue[round] = now_us() - start;
        check(clFinish(queue), "clFinish");
        thousand[round] = now_us() - start;
        start = now_us();
        for (int i = 0; i < 200; i++) {
            fill(queue, NULL, NULL);
            check(clFinish(queue), "clFinish");
        }
        hot[round] = (now_us() - start) / 200;
        double trips[20];
        for (int i = 0; i < 20; i++) {
            struct timespec rest = {0, 300000};
            nanosleep(&rest, NULL);
            start = now_us();
            fill(queue, NULL, NULL);
            check(clFinish(queue), "clFinish");
            trips[i] = now_us() - start;
        }
        qsort(trips, 20, sizeof(double), larger);
        idle[round] = trips[10];
        cl_event opener = clCreateUserEvent(context, &code), last = opener;
        check(code, "clCreateUserEvent");
        for (int i = 0; i < 200; i++) {
            cl_event next;
            fill(queues[i % 2], &last, &next);
            if (last != opener) check(clReleaseEvent(last), "clReleaseEvent");
            last = next;
        }
        check(clFlush(queues[0]), "clFlush");
        check(clFlush(queues[1]), "clFlush");
        start = now_us();
        check(clSetUserEventStatus(opener, CL_COMPLETE), "clSetUserEventStatus");
        check(clWaitForEvents(1, &last), "clWaitForEvents");
        hop[round] = (now_us() - start) / 200;
        check(clReleaseEvent(last), "clReleaseEvent");
        check(clReleaseEvent(opener), "clReleaseEvent");
    }
    row("enqueue: aclrtMemsetAsync, 64 B, while a worker on another core runs them", "ns", enqueue, ROUNDS);
    row("1000 tasks: enqueue and wait until done", "us", thousand, ROUNDS);
    row("round trip, hot: enqueue and aclrtSynchronizeStream", "us", hot, ROUNDS);
    row("round trip after 300 us of idleness", "us", idle, ROUNDS);
    row("hop between two streams by an event", "us", hop, ROUNDS);
    return 0;
}
