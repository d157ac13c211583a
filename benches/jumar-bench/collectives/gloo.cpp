// Times Gloo's own ring between four processes, as jumar.c times Jumar's AllReduce: gloo <rounds> <empty folder>.
#include <memory>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "measure.h"

static void run(int rank, int rounds, const char *folder)
{
    gloo::transport::tcp::attr attr;
    attr.hostname = "127.0.0.1";
    auto device = gloo::transport::tcp::CreateDevice(attr);
    gloo::rendezvous::FileStore store(folder);
    auto context = std::make_shared<gloo::rendezvous::Context>(rank, RANKS);
    context->connectFullMesh(store, device);
    std::unique_ptr<float[]> from(new float[MOST_BYTES / sizeof(float)]());
    std::unique_ptr<float[]> to(new float[MOST_BYTES / sizeof(float)]());
    // The loads that are an AllReduce stand first.
    for (int at = 0; at < 3; at++) {
        const load &load = LOADS[at];
        double least = 1e30;
        for (int round = 0; round <= rounds; round++) {
            gloo::BarrierOptions all(context);
            gloo::barrier(all);
            const double begin = now_us();
            for (int i = 0; i < load.times; i++) {
                gloo::AllreduceOptions options(context);
                options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
                options.setInput(from.get(), load.bytes / sizeof(float));
                options.setOutput(to.get(), load.bytes / sizeof(float));
                void (*sum)(void *, const void *, const void *, size_t) = &gloo::sum<float>;
                options.setReduceFunction(sum);
                gloo::allreduce(options);
            }
            const double each = (now_us() - begin) / load.times;
            if (round > 0 && each < least) {
                least = each;
            }
        }
        if (rank == 0) {
            print_least(&load, least);
        }
    }
    gloo::BarrierOptions all(context);
    gloo::barrier(all);
}

int main(int count, char **words)
{
    if (count < 3) {
        return 1;
    }
    for (int rank = 0; rank < RANKS; rank++) {
        if (fork() == 0) {
            run(rank, std::atoi(words[1]), words[2]);
            _exit(0);
        }
    }
    int failed = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        int status;
        wait(&status);
        failed |= status;
    }
    return failed ? 2 : 0;
}
