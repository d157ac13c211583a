// Decoding of one word after the other, with a cache of keys and values.
#pragma once

#include "network.h"

// Both ways write each word's keys and values to the cache once, and read them in all later steps.
class Decoder {
public:
    explicit Decoder(const Network &network) : w_(network.w), positions_(network.positions)
    {
        std::vector<int64_t> all(LENGTH);
        for (int64_t i = 0; i < LENGTH; ++i) {
            all[static_cast<size_t>(i)] = i;
        }
        all_positions_ = Tensor::of(all, {LENGTH}, ACL_INT64);
    }

    // Sets the first word.
    void start(Stream &s, int64_t word)
    {
        s.wait();
        word_.write(std::vector<int64_t>{word});
        position_.write(std::vector<int64_t>{0});
        for (Cache &cache : caches_) {
            RUN(s, InplaceZero, cache.keys);
            RUN(s, InplaceZero, cache.values);
        }
    }

    // Queues one step at a position that the host knows: the cache is a view of as many rows as there are words.
    void step(Stream &s, int64_t position)
    {
        embed(s);
        for (int64_t i = 0; i < LAYERS; ++i) {
            attend(s, i, [&](Cache &cache) {
                const int64_t start = position * HEAD;
                RUN(s, InplaceCopy, cache.keys.strided({HEADS, 1, HEAD}, ROW, start), heads(1));
                RUN(s, InplaceCopy, cache.values.strided({HEADS, 1, HEAD}, ROW, start), heads(2));
                const int64_t length = position + 1;
                const Tensor keys = cache.keys.strided({HEADS, length, HEAD}, ROW);
                const Tensor values = cache.values.strided({HEADS, length, HEAD}, ROW);
                const Tensor scores = scores_.part(0, {HEADS, 1, length}), shares = shares_.part(0, {HEADS, 1, length});
                RUN(s, Matmul, heads(0), keys.transposed(), scores, KEEP_TYPE);
                RUN(s, InplaceMuls, scores, Scalar{SCALE});
                RUN(s, Softmax, scores, int64_t{-1}, shares);
                RUN(s, Matmul, shares, values, mixed_, KEEP_TYPE);
            });
        }
        choose(s);
    }

    // Queues one step at the position that the device counts: the same operators at each position, so that the step can be
    // captured once. Rows of the cache behind the position are hidden.
    void step(Stream &s)
    {
        embed(s);
        RUN(s, GtTensor, all_positions_, position_, hidden_);
        for (int64_t i = 0; i < LAYERS; ++i) {
            attend(s, i, [&](Cache &cache) {
                RUN(s, InplaceIndexCopy, cache.keys, int64_t{1}, position_, heads(1));
                RUN(s, InplaceIndexCopy, cache.values, int64_t{1}, position_, heads(2));
                RUN(s, Matmul, heads(0), cache.keys.transposed(), scores_, KEEP_TYPE);
                RUN(s, InplaceMuls, scores_, Scalar{SCALE});
                RUN(s, InplaceMaskedFillScalar, scores_, hidden_, Scalar{HIDDEN_SCORE});
                RUN(s, Softmax, scores_, int64_t{-1}, shares_);
                RUN(s, Matmul, shares_, cache.values, mixed_, KEEP_TYPE);
            });
        }
        choose(s);
    }

    // Returns the words of all steps.
    std::vector<int64_t> words() const { return words_.read<int64_t>(); }

private:
    struct Cache {
        Tensor keys{{HEADS, LENGTH, HEAD}}, values{{HEADS, LENGTH, HEAD}};
    };

    // Returns queries, keys or values of the word as [head, 1, element].
    Tensor heads(int64_t which) const { return qkv_.strided({HEADS, 1, HEAD}, {HEAD, HEAD, 1}, which * WIDTH); }

    void embed(Stream &s)
    {
        RUN(s, Embedding, w_.words, word_, hidden_state_);
        RUN(s, IndexSelect, positions_, int64_t{0}, position_, encoding_);
        RUN(s, InplaceAdd, hidden_state_, encoding_, Scalar{1});
    }

    template <class Attention>
    void attend(Stream &s, int64_t layer, const Attention &attention)
    {
        const LayerViews &p = w_.layers[layer];
        normalize(s, p.norm1, p.bias1);
        RUN(s, Addmm, p.qkv_bias, normal_, p.qkv, Scalar{1}, Scalar{1}, qkv_, KEEP_TYPE);
        attention(caches_[layer]);
        RUN(s, Addmm, p.out_bias, mixed_.reshape({1, WIDTH}), p.out, Scalar{1}, Scalar{1}, branch_, KEEP_TYPE);
        RUN(s, InplaceAdd, hidden_state_, branch_, Scalar{1});
        normalize(s, p.norm2, p.bias2);
        RUN(s, Addmm, p.up_bias, normal_, p.up, Scalar{1}, Scalar{1}, up_, KEEP_TYPE);
        RUN(s, Silu, up_, up_);
        RUN(s, Addmm, p.down_bias, up_, p.down, Scalar{1}, Scalar{1}, branch_, KEEP_TYPE);
        RUN(s, InplaceAdd, hidden_state_, branch_, Scalar{1});
    }

    // The chosen word is the next step's input: it never leaves the device.
    void choose(Stream &s)
    {
        normalize(s, w_.norm, w_.bias);
        RUN(s, Mm, normal_, w_.head, logits_, KEEP_TYPE);
        RUN(s, ArgMax, logits_, int64_t{1}, false, word_);
        RUN(s, InplaceIndexCopy, words_, int64_t{0}, position_, word_);
        RUN(s, InplaceAdds, position_, Integer{1}, Integer{1});
    }

    void normalize(Stream &s, const Tensor &weight, const Tensor &bias)
    {
        RUN(s, LayerNorm, hidden_state_, Dims{WIDTH}, weight, bias, NORM_EPSILON, normal_, mean_, scale_);
    }

    const Dims ROW = {LENGTH * HEAD, HEAD, 1};
    Views w_;
    Tensor positions_, all_positions_;
    Cache caches_[LAYERS];
    Tensor word_{{1}, ACL_INT64}, position_{{1}, ACL_INT64}, words_{{LENGTH}, ACL_INT64}, hidden_{{LENGTH}, ACL_BOOL};
    Tensor hidden_state_{{1, WIDTH}}, encoding_{{1, WIDTH}}, normal_{{1, WIDTH}}, mean_{{1, 1}}, scale_{{1, 1}};
    Tensor qkv_{{1, 3 * WIDTH}}, mixed_{{HEADS, 1, HEAD}}, branch_{{1, WIDTH}}, up_{{1, HIDDEN}};
    Tensor scores_{{HEADS, 1, LENGTH}}, shares_{{HEADS, 1, LENGTH}}, logits_{{1, WORDS}};
};
