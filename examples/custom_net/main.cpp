// Trains the network and decodes with it, call by call and then captured, and compares with reference.txt.
//
//     ./custom_net reference.txt

#include <cmath>
#include <fstream>
#include <functional>
#include <numeric>

#include "decoder.h"

constexpr int STEPS = 50;
constexpr int64_t FIRST_WORD = 3;
constexpr double CLOSE = 1e-4;

struct Result {
    std::vector<double> losses;
    std::vector<int64_t> words;
};

// Sequences in which each word decides the next one.
struct Batches {
    Numbers numbers{2};

    void next(Network &network)
    {
        std::vector<int64_t> inputs, targets;
        for (int64_t sequence = 0; sequence < BATCH; ++sequence) {
            int64_t word = (numbers.next() >> 16) % WORDS;
            for (int64_t i = 0; i < LENGTH; ++i) {
                inputs.push_back(word);
                word = (5 * word + 7) % WORDS;
                targets.push_back(word);
            }
        }
        network.set_batch(inputs, targets);
    }
};

static Result call_by_call(Network &network, Stream &stream)
{
    Result result;
    Batches batches;
    network.reset(stream);
    for (int step = 1; step <= STEPS; ++step) {
        batches.next(network);
        network.forward(stream);
        network.backward(stream);
        network.update_moments(stream);
        network.update_weights(stream, step);
        stream.wait();
        result.losses.push_back(network.loss());
    }
    Decoder decoder(network);
    decoder.start(stream, FIRST_WORD);
    for (int64_t position = 0; position < LENGTH; ++position) {
        decoder.step(stream, position);
    }
    stream.wait();
    result.words = decoder.words();
    return result;
}

static Result captured(Network &network, Stream &stream)
{
    Result result;
    Batches batches;
    network.reset(stream);
    stream.wait();

    // A training step, captured once. The operators whose scalars change from step to step are a group.
    aclmdlRI training = nullptr;
    aclrtTaskGrp group = nullptr;
    CHECK(aclmdlRICaptureBegin(stream.get(), ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    network.forward(stream);
    network.backward(stream);
    network.update_moments(stream);
    CHECK(aclmdlRICaptureTaskGrpBegin(stream.get()));
    network.update_weights(stream, 1);
    CHECK(aclmdlRICaptureTaskGrpEnd(stream.get(), &group));
    CHECK(aclmdlRICaptureEnd(stream.get(), &training));
    {
        Stream updates;
        for (int step = 1; step <= STEPS; ++step) {
            batches.next(network);
            CHECK(aclmdlRICaptureTaskUpdateBegin(updates.get(), group));
            network.update_weights(updates, step);
            CHECK(aclmdlRICaptureTaskUpdateEnd(updates.get()));
            updates.wait();
            CHECK(aclmdlRIExecuteAsync(training, stream.get()));
            stream.wait();
            result.losses.push_back(network.loss());
        }
    }
    CHECK(aclmdlRIDestroy(training));

    // A decoding step, captured once: word and position stay on the device.
    Decoder decoder(network);
    aclmdlRI step = nullptr;
    decoder.start(stream, FIRST_WORD);
    stream.wait();
    CHECK(aclmdlRICaptureBegin(stream.get(), ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    decoder.step(stream);
    CHECK(aclmdlRICaptureEnd(stream.get(), &step));
    for (int64_t position = 0; position < LENGTH; ++position) {
        CHECK(aclmdlRIExecuteAsync(step, stream.get()));
    }
    stream.wait();
    CHECK(aclmdlRIDestroy(step));
    result.words = decoder.words();
    return result;
}

// Reads as many losses as there are steps, then as many words as there are positions.
static Result read_reference(const char *path)
{
    Result result;
    std::ifstream file(path);
    for (double loss = 0; result.losses.size() < STEPS && file >> loss;) {
        result.losses.push_back(loss);
    }
    for (int64_t word = 0; result.words.size() < LENGTH && file >> word;) {
        result.words.push_back(word);
    }
    check(result.words.size() != LENGTH, path);
    return result;
}

static bool report(const char *name, const Result &result, const Result &wanted)
{
    double distance = 0;
    for (size_t i = 0; i < wanted.losses.size(); ++i) {
        const double one = std::abs(result.losses[i] - wanted.losses[i]);
        distance = one <= distance ? distance : one;
    }
    const auto equal = std::inner_product(result.words.begin(), result.words.end(), wanted.words.begin(), int64_t{0},
        std::plus<>(), [](int64_t one, int64_t two) { return int64_t{one == two}; });
    std::printf("%s: loss %.4f -> %.4f, largest distance from float64 %.1e; %d of %d words\n", name, result.losses.front(),
        result.losses.back(), distance, static_cast<int>(equal), static_cast<int>(LENGTH));
    return distance <= CLOSE && equal == LENGTH;
}

int main(int argc, char **argv)
{
    const Result wanted = read_reference(argc > 1 ? argv[1] : "reference.txt");
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    bool right = true;
    {
        Stream stream;
        Network network;
        right &= report("call by call", call_by_call(network, stream), wanted);
        right &= report("captured", captured(network, stream), wanted);
    }
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return right ? 0 : 1;
}
