// A language model of two transformer layers, by operators alone.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_addcdiv.h"
#include "aclnnop/aclnn_addcmul.h"
#include "aclnnop/aclnn_addmm.h"
#include "aclnnop/aclnn_argmax.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "aclnnop/aclnn_gt_tensor.h"
#include "aclnnop/aclnn_index_copy.h"
#include "aclnnop/aclnn_index_select.h"
#include "aclnnop/aclnn_layer_norm.h"
#include "aclnnop/aclnn_layer_norm_backward.h"
#include "aclnnop/aclnn_lerp_scalar.h"
#include "aclnnop/aclnn_logsoftmax.h"
#include "aclnnop/aclnn_logsoftmax_backward.h"
#include "aclnnop/aclnn_masked_fill_scalar.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_mm.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_nll_loss.h"
#include "aclnnop/aclnn_nll_loss_backward.h"
#include "aclnnop/aclnn_reduce_sum.h"
#include "aclnnop/aclnn_silu.h"
#include "aclnnop/aclnn_silu_backward.h"
#include "aclnnop/aclnn_softmax.h"
#include "aclnnop/aclnn_softmax_backward.h"
#include "aclnnop/aclnn_sqrt.h"
#include "aclnnop/aclnn_zero.h"

#include "device.h"

constexpr int64_t WORDS = 32, WIDTH = 32, HEADS = 4, HEAD = WIDTH / HEADS, HIDDEN = 64, LAYERS = 2;
constexpr int64_t BATCH = 2, LENGTH = 64, ROWS = BATCH * LENGTH;
constexpr double NORM_EPSILON = 1e-5;
constexpr double RATE = 1e-2, DECAY = 0.01, BETA1 = 0.9, BETA2 = 0.999, EPSILON = 1e-8;
const float SCALE = static_cast<float>(1 / std::sqrt(static_cast<double>(HEAD)));
constexpr float HIDDEN_SCORE = -1e30f;
constexpr int8_t KEEP_TYPE = 0;

// Numbers that reference.py repeats.
class Numbers {
public:
    explicit Numbers(uint32_t seed) : state_(seed) {}
    uint32_t next() { return state_ = state_ * 1664525u + 1013904223u; }
    float between(float limit) { return static_cast<float>((next() / 4294967296.0 * 2 - 1) * limit); }

private:
    uint32_t state_;
};

// The parameters of a layer, as views of one tensor.
struct LayerViews {
    Tensor norm1, bias1, qkv, qkv_bias, out, out_bias, norm2, bias2, up, up_bias, down, down_bias;
};

struct Views {
    Tensor words;
    LayerViews layers[LAYERS];
    Tensor norm, bias, head;
};

// The shapes of all parameters in their order, and how they start: a limit of random numbers, or a constant.
struct Shape {
    Dims dims;
    float limit, start;
};

inline std::vector<Shape> shapes()
{
    const auto limit = [](int64_t inputs) { return static_cast<float>(1 / std::sqrt(static_cast<double>(inputs))); };
    std::vector<Shape> all = {{{WORDS, WIDTH}, 0.5f, 0}};
    for (int64_t layer = 0; layer < LAYERS; ++layer) {
        all.insert(all.end(),
            {{{WIDTH}, 0, 1}, {{WIDTH}, 0, 0}, {{WIDTH, 3 * WIDTH}, limit(WIDTH), 0}, {{3 * WIDTH}, 0, 0},
                {{WIDTH, WIDTH}, limit(WIDTH), 0}, {{WIDTH}, 0, 0}, {{WIDTH}, 0, 1}, {{WIDTH}, 0, 0},
                {{WIDTH, HIDDEN}, limit(WIDTH), 0}, {{HIDDEN}, 0, 0}, {{HIDDEN, WIDTH}, limit(HIDDEN), 0}, {{WIDTH}, 0, 0}});
    }
    all.insert(all.end(), {{{WIDTH}, 0, 1}, {{WIDTH}, 0, 0}, {{WIDTH, WORDS}, limit(WIDTH), 0}});
    return all;
}

inline Views views_of(const Tensor &flat)
{
    int64_t start = 0;
    const std::vector<Shape> all = shapes();
    auto shape = all.begin();
    const auto next = [&] {
        Tensor view = flat.part(start, shape->dims);
        start += elements(shape->dims);
        ++shape;
        return view;
    };
    Views views;
    views.words = next();
    for (LayerViews &layer : views.layers) {
        for (Tensor *tensor : {&layer.norm1, &layer.bias1, &layer.qkv, &layer.qkv_bias, &layer.out, &layer.out_bias, &layer.norm2,
                 &layer.bias2, &layer.up, &layer.up_bias, &layer.down, &layer.down_bias}) {
            *tensor = next();
        }
    }
    views.norm = next();
    views.bias = next();
    views.head = next();
    return views;
}

inline std::vector<float> starting_values()
{
    Numbers numbers(1);
    std::vector<float> values;
    for (const Shape &shape : shapes()) {
        for (int64_t i = 0; i < elements(shape.dims); ++i) {
            values.push_back(shape.limit > 0 ? numbers.between(shape.limit) : shape.start);
        }
    }
    return values;
}

// Sines and cosines that distinguish positions.
inline std::vector<float> position_values()
{
    std::vector<float> values;
    for (int64_t position = 0; position < LENGTH; ++position) {
        for (int64_t i = 0; i < WIDTH; ++i) {
            const double angle = static_cast<double>(position) / std::pow(10000.0, static_cast<double>(i / 2 * 2) / WIDTH);
            values.push_back(static_cast<float>(i % 2 == 0 ? std::sin(angle) : std::cos(angle)));
        }
    }
    return values;
}

// Weights and their training.
class Network {
public:
    Network()
        : count_(static_cast<int64_t>(starting_values().size())), weights_(Tensor::of(starting_values(), {count_}, ACL_FLOAT)),
          gradients_({count_}), moment1_({count_}), moment2_({count_}), root_({count_}), w(views_of(weights_)), d(views_of(gradients_)),
          positions(Tensor::of(position_values(), {LENGTH, WIDTH}, ACL_FLOAT))
    {
        std::vector<char> later;
        for (int64_t query = 0; query < LENGTH; ++query) {
            for (int64_t key = 0; key < LENGTH; ++key) {
                later.push_back(key > query);
            }
        }
        later_ = Tensor::of(later, {LENGTH, LENGTH}, ACL_BOOL);
        class_weights_ = Tensor::of(std::vector<float>(WORDS, 1), {WORDS}, ACL_FLOAT);
        one_ = Tensor::of(std::vector<float>{1}, {}, ACL_FLOAT);
    }

    // Starts the training from the beginning.
    void reset(Stream &stream)
    {
        stream.wait();
        weights_.write(starting_values());
        RUN(stream, InplaceZero, moment1_);
        RUN(stream, InplaceZero, moment2_);
    }

    void set_batch(const std::vector<int64_t> &inputs, const std::vector<int64_t> &targets)
    {
        tokens_.write(inputs);
        targets_.write(targets);
    }

    float loss() const { return loss_.read<float>()[0]; }

    // Queues the forward pass.
    void forward(Stream &s)
    {
        RUN(s, Embedding, w.words, tokens_, embedded_);
        RUN(s, Add, embedded_, positions, Scalar{1}, layers_[0].input);
        for (int64_t i = 0; i < LAYERS; ++i) {
            Saved &l = layers_[i];
            const LayerViews &p = w.layers[i];
            normalize(s, l.input, p.norm1, p.bias1, l.normal1, l.mean1, l.scale1);
            linear(s, l.normal1, p.qkv, p.qkv_bias, l.qkv);
            // Queries, keys and values are interleaved in the rows of one matrix: views, no copies.
            RUN(s, Matmul, heads(l.qkv, 0), heads(l.qkv, 1).transposed(), l.scores, KEEP_TYPE);
            RUN(s, InplaceMuls, l.scores, Scalar{SCALE});
            RUN(s, InplaceMaskedFillScalar, l.scores, later_, Scalar{HIDDEN_SCORE});
            RUN(s, Softmax, l.scores, int64_t{-1}, l.shares);
            RUN(s, Matmul, l.shares, heads(l.qkv, 2), heads(l.mixed, 0), KEEP_TYPE);
            linear(s, l.mixed, p.out, p.out_bias, l.attended);
            RUN(s, Add, l.input, l.attended.reshape({BATCH, LENGTH, WIDTH}), Scalar{1}, l.middle);
            normalize(s, l.middle, p.norm2, p.bias2, l.normal2, l.mean2, l.scale2);
            linear(s, l.normal2, p.up, p.up_bias, l.up);
            RUN(s, Silu, l.up, l.active);
            linear(s, l.active, p.down, p.down_bias, l.down);
            RUN(s, Add, l.middle, l.down.reshape({BATCH, LENGTH, WIDTH}), Scalar{1}, i + 1 < LAYERS ? layers_[i + 1].input : last_);
        }
        normalize(s, last_, w.norm, w.bias, normal_, mean_, scale_);
        RUN(s, Mm, normal_, w.head, logits_, KEEP_TYPE);
        RUN(s, LogSoftmax, logits_, int64_t{1}, log_shares_);
        RUN(s, NLLLoss, log_shares_, targets_, class_weights_, MEAN, IGNORED, loss_, total_weight_);
    }

    // Queues the backward pass, which writes all gradients.
    void backward(Stream &s)
    {
        RUN(s, NLLLossBackward, one_, log_shares_, targets_, class_weights_, MEAN, IGNORED, total_weight_, d_log_shares_);
        RUN(s, LogSoftmaxBackward, d_log_shares_, log_shares_, int64_t{1}, d_logits_);
        RUN(s, Mm, normal_.transposed(), d_logits_, d.head, KEEP_TYPE);
        RUN(s, Mm, d_logits_, w.head.transposed(), d_normal_, KEEP_TYPE);
        normalize_backward(s, d_normal_, last_, mean_, scale_, w.norm, w.bias, d_hidden_, d.norm, d.bias);
        for (int64_t i = LAYERS - 1; i >= 0; --i) {
            Saved &l = layers_[i];
            const LayerViews &p = w.layers[i];
            const LayerViews &g = d.layers[i];
            const Tensor d_hidden = d_hidden_.reshape({ROWS, WIDTH});
            linear_backward(s, d_hidden, l.active, p.down, g.down, g.down_bias, d_up_);
            RUN(s, SiluBackward, d_up_, l.up, d_up_);
            linear_backward(s, d_up_, l.normal2, p.up, g.up, g.up_bias, d_normal_);
            normalize_backward(s, d_normal_, l.middle, l.mean2, l.scale2, p.norm2, p.bias2, d_branch_, g.norm2, g.bias2);
            RUN(s, InplaceAdd, d_hidden_, d_branch_, Scalar{1});

            linear_backward(s, d_hidden, l.mixed, p.out, g.out, g.out_bias, d_mixed_);
            RUN(s, Matmul, heads(d_mixed_, 0), heads(l.qkv, 2).transposed(), d_shares_, KEEP_TYPE);
            RUN(s, Matmul, l.shares.transposed(), heads(d_mixed_, 0), heads(d_qkv_, 2), KEEP_TYPE);
            RUN(s, SoftmaxBackward, d_shares_, l.shares, int64_t{-1}, d_scores_);
            RUN(s, InplaceMuls, d_scores_, Scalar{SCALE});
            RUN(s, Matmul, d_scores_, heads(l.qkv, 1), heads(d_qkv_, 0), KEEP_TYPE);
            RUN(s, Matmul, d_scores_.transposed(), heads(l.qkv, 0), heads(d_qkv_, 1), KEEP_TYPE);
            linear_backward(s, d_qkv_, l.normal1, p.qkv, g.qkv, g.qkv_bias, d_normal_);
            normalize_backward(s, d_normal_, l.input, l.mean1, l.scale1, p.norm1, p.bias1, d_branch_, g.norm1, g.bias1);
            RUN(s, InplaceAdd, d_hidden_, d_branch_, Scalar{1});
        }
        RUN(s, EmbeddingDenseBackward, d_hidden_, tokens_, uint64_t{WORDS}, std::numeric_limits<uint64_t>::max(), false, d.words);
    }

    // Queues the part of AdamW that is the same in each step.
    void update_moments(Stream &s)
    {
        RUN(s, InplaceMuls, weights_, Scalar{static_cast<float>(1 - RATE * DECAY)});
        RUN(s, InplaceLerps, moment1_, gradients_, Scalar{static_cast<float>(1 - BETA1)});
        RUN(s, InplaceMuls, moment2_, Scalar{static_cast<float>(BETA2)});
        RUN(s, InplaceAddcmul, moment2_, gradients_, gradients_, Scalar{static_cast<float>(1 - BETA2)});
        RUN(s, Sqrt, moment2_, root_);
    }

    // Queues the part of AdamW whose scalars depend on the step, which counts from 1.
    void update_weights(Stream &s, int step)
    {
        const double bias1 = 1 - std::pow(BETA1, step), bias2 = 1 - std::pow(BETA2, step);
        RUN(s, InplaceMuls, root_, Scalar{static_cast<float>(1 / std::sqrt(bias2))});
        RUN(s, InplaceAdds, root_, Scalar{static_cast<float>(EPSILON)}, Scalar{1});
        RUN(s, InplaceAddcdiv, weights_, moment1_, root_, Scalar{static_cast<float>(-RATE / bias1)});
    }

private:
    static constexpr int64_t MEAN = 1, IGNORED = -100;

    // What the backward pass needs of a layer.
    struct Saved {
        Tensor input{{BATCH, LENGTH, WIDTH}}, normal1{{ROWS, WIDTH}}, mean1{{BATCH, LENGTH, 1}}, scale1{{BATCH, LENGTH, 1}};
        Tensor qkv{{ROWS, 3 * WIDTH}}, scores{{BATCH, HEADS, LENGTH, LENGTH}}, shares{{BATCH, HEADS, LENGTH, LENGTH}};
        Tensor mixed{{ROWS, WIDTH}}, attended{{ROWS, WIDTH}}, middle{{BATCH, LENGTH, WIDTH}};
        Tensor normal2{{ROWS, WIDTH}}, mean2{{BATCH, LENGTH, 1}}, scale2{{BATCH, LENGTH, 1}};
        Tensor up{{ROWS, HIDDEN}}, active{{ROWS, HIDDEN}}, down{{ROWS, WIDTH}};
    };

    // Returns a part of each row as [batch, head, position, element].
    static Tensor heads(const Tensor &rows, int64_t which)
    {
        const int64_t row = rows.dims()[1];
        return rows.strided({BATCH, HEADS, LENGTH, HEAD}, {LENGTH * row, HEAD, row, 1}, which * WIDTH);
    }

    static void normalize(Stream &s, const Tensor &x, const Tensor &weight, const Tensor &bias, const Tensor &out,
        const Tensor &mean, const Tensor &scale)
    {
        RUN(s, LayerNorm, x, Dims{WIDTH}, weight, bias, NORM_EPSILON, out.reshape(x.dims()), mean, scale);
    }

    static void normalize_backward(Stream &s, const Tensor &d_out, const Tensor &x, const Tensor &mean, const Tensor &scale,
        const Tensor &weight, const Tensor &bias, const Tensor &d_x, const Tensor &d_weight, const Tensor &d_bias)
    {
        RUN(s, LayerNormBackward, d_out.reshape(x.dims()), x, Dims{WIDTH}, mean, scale, weight, bias, Flags{{1, 1, 1}},
            d_x.reshape(x.dims()), d_weight, d_bias);
    }

    static void linear(Stream &s, const Tensor &x, const Tensor &weight, const Tensor &bias, const Tensor &out)
    {
        RUN(s, Addmm, bias, x, weight, Scalar{1}, Scalar{1}, out, KEEP_TYPE);
    }

    static void linear_backward(Stream &s, const Tensor &d_out, const Tensor &x, const Tensor &weight, const Tensor &d_weight,
        const Tensor &d_bias, const Tensor &d_x)
    {
        RUN(s, ReduceSum, d_out, Dims{0}, false, ACL_FLOAT, d_bias);
        RUN(s, Mm, x.transposed(), d_out, d_weight, KEEP_TYPE);
        RUN(s, Mm, d_out, weight.transposed(), d_x, KEEP_TYPE);
    }

    int64_t count_;
    Tensor weights_, gradients_, moment1_, moment2_, root_;

public:
    Views w, d;
    Tensor positions;

private:
    Tensor later_, class_weights_, one_;
    Tensor tokens_{{BATCH, LENGTH}, ACL_INT64}, targets_{{ROWS}, ACL_INT64};
    Tensor embedded_{{BATCH, LENGTH, WIDTH}};
    Saved layers_[LAYERS];
    Tensor last_{{BATCH, LENGTH, WIDTH}}, normal_{{ROWS, WIDTH}}, mean_{{BATCH, LENGTH, 1}}, scale_{{BATCH, LENGTH, 1}};
    Tensor logits_{{ROWS, WORDS}}, log_shares_{{ROWS, WORDS}}, loss_{Dims{}}, total_weight_{Dims{}};
    Tensor d_log_shares_{{ROWS, WORDS}}, d_logits_{{ROWS, WORDS}}, d_normal_{{ROWS, WIDTH}};
    Tensor d_hidden_{{BATCH, LENGTH, WIDTH}}, d_branch_{{BATCH, LENGTH, WIDTH}};
    Tensor d_up_{{ROWS, HIDDEN}}, d_mixed_{{ROWS, WIDTH}}, d_qkv_{{ROWS, 3 * WIDTH}};
    Tensor d_shares_{{BATCH, HEADS, LENGTH, LENGTH}}, d_scores_{{BATCH, HEADS, LENGTH, LENGTH}};
};
