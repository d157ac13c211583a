// What oneTBB's task_group, which keeps no order, takes for what the runtime bench measures. `cargo xtask bench runtime` compiles and
// runs this where oneTBB is installed; nothing needs it. Prints a JSON line for each figure.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/version.h>

static double now_us() {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double median(std::vector<double> figures) {
    std::sort(figures.begin(), figures.end());
    return figures[figures.size() / 2];
}

static void row(const char *what, const char *unit, const std::vector<double> &figures) {
    std::printf("{\"peer\": \"oneTBB %d.%d, in no order\", \"row\": \"%s\", \"unit\": \"%s\", \"value\": %f}\n", TBB_VERSION_MAJOR,
                TBB_VERSION_MINOR, what, unit, median(figures));
    std::fflush(stdout);
}

int main() {
    alignas(64) static unsigned char to[64 * 64];
    tbb::task_group group;
    unsigned next = 0;
    auto task = [&] {
        unsigned char *mine = to + 64 * (next++ % 64);
        group.run([mine] {
            for (int i = 0; i < 64; i++) const_cast<volatile unsigned char *>(mine)[i] = 1;
        });
    };
    for (int i = 0; i < 1000; i++) task();
    group.wait();
    std::vector<double> enqueue, thousand, hot, idle;
    for (int round = 0; round < 9; round++) {
        double start = now_us();
        for (int i = 0; i < 1000; i++) task();
        enqueue.push_back(now_us() - start);
        group.wait();
        thousand.push_back(now_us() - start);
        start = now_us();
        for (int i = 0; i < 1000; i++) {
            task();
            group.wait();
        }
        hot.push_back((now_us() - start) / 1000);
        std::vector<double> trips;
        for (int i = 0; i < 20; i++) {
            std::this_thread::sleep_for(std::chrono::microseconds(300));
            start = now_us();
            task();
            group.wait();
            trips.push_back(now_us() - start);
        }
        idle.push_back(median(trips));
    }
    row("enqueue: aclrtMemsetAsync, 64 B, while a worker on another core runs them", "ns", enqueue);
    row("1000 tasks: enqueue and wait until done", "us", thousand);
    row("round trip, hot: enqueue and aclrtSynchronizeStream", "us", hot);
    row("round trip after 300 us of idleness", "us", idle);
}
