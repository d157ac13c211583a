// The C functions: copies, sums and products by addresses, as kernels write them. References are plain loops.
#include "check.h"

#include <unistd.h>

#include "c_api/asc_simd.h"
#include "utils/debug/asc_dump.h"

namespace {

template <typename T> T* at(uint64_t offset)
{
    return reinterpret_cast<T*>(offset);
}

template <typename T> std::vector<T> small(size_t count, uint32_t seed)
{
    std::mt19937 random(seed);
    std::vector<T> all(count);
    for (T& value : all) value = static_cast<T>(static_cast<float>(static_cast<int>(random() % 17) - 8));
    return all;
}

// Adds in tiles, with arrays of UB, events and barriers.
template <typename T> void sums(bool waits_each_time)
{
    constexpr uint32_t TILE = 128, TILES = 12;
    std::vector<T> x = small<T>(TILE * TILES, 1), y = small<T>(TILE * TILES, 2), z(TILE * TILES), wanted(TILE * TILES);
    for (size_t index = 0; index < z.size(); index++) wanted[index] = static_cast<T>(x[index] + y[index]);
    const std::string said = check::run(
        [&] {
            asc_init();
            EXPECT(asc_get_block_num() == 3);
            const int64_t first = asc_get_block_idx() * TILES / asc_get_block_num();
            for (int64_t tile = first; tile < first + TILES / 3; tile++) {
                __ubuf__ T left[TILE], right[TILE];
                __ubuf__ T sum[TILE];
                EXPECT(sizeof left == TILE * sizeof(T) && reinterpret_cast<uintptr_t>(&right[0]) % 32 == 0);
                T* const from_x = x.data() + tile * TILE;
                T* const from_y = y.data() + tile * TILE;
                if (waits_each_time) {
                    asc_copy_gm2ub_sync(left, from_x, TILE * sizeof(T));
                    asc_copy_gm2ub_sync(right, from_y, TILE * sizeof(T));
                    asc_add_sync(sum, left, right, TILE);
                    asc_copy_ub2gm_sync(z.data() + tile * TILE, sum, TILE * sizeof(T));
                    continue;
                }
                asc_copy_gm2ub(left, from_x, TILE * sizeof(T));
                asc_copy_gm2ub(right, from_y, TILE * sizeof(T));
                asc_sync_notify(PIPE_MTE2, PIPE_V, EVENT_ID0);
                asc_sync_wait(PIPE_MTE2, PIPE_V, EVENT_ID0);
                asc_add(sum, left, right, TILE);
                asc_sync_pipe(PIPE_V);
                asc_sync_notify(PIPE_V, PIPE_MTE3, EVENT_ID1);
                asc_sync_wait(PIPE_V, PIPE_MTE3, EVENT_ID1);
                asc_copy_ub2gm(z.data() + tile * TILE, sum, TILE * sizeof(T));
                asc_sync();
            }
        },
        3);
    EXPECT(said.empty());
    EXPECT_EQUAL(z, wanted);
}

TEST(sums_of_tiles)
{
    for (bool waits : {false, true}) {
        sums<float>(waits);
        sums<half>(waits);
        sums<int32_t>(waits);
        sums<int16_t>(waits);
    }
}

TEST(bursts_and_repeats_at_offsets)
{
    std::vector<float> in(256), out(256, -1.0f);
    for (int index = 0; index < 256; index++) in[index] = static_cast<float>(index);
    const std::string said = check::run([&] {
        asc_init();
        float* const ub = LocalTensor<float>(TPosition::VECCALC, 0, 2048).GetPhyAddr();
        // Three bursts of 2 x 32 bytes, with a gap of one block in the source and of two in the destination.
        asc_copy_gm2ub(at<float>(1024), in.data(), 3, 2, 1, 2);
        asc_sync();
        for (int burst = 0; burst < 3; burst++)
            for (int index = 0; index < 16; index++) EXPECT(ub[256 + burst * 32 + index] == static_cast<float>(burst * 24 + index));
        asc_copy_ub2gm(out.data(), at<float>(1024), 2, 1, 3, 1);
        for (int index = 0; index < 8; index++) EXPECT(out[index] == in[index] && out[8 + index] == -1 && out[16 + index] == 24 + index);
        asc_sync();
        asc_copy_ub2ub(at<float>(4096), at<float>(1024), 64);
        for (int index = 0; index < 16; index++) EXPECT(ub[1024 + index] == in[index]);
        asc_sync();
        asc_copy_ub2ub(at<float>(4096), at<float>(1024), 2, 1, 3, 1);
        for (int index = 0; index < 8; index++) EXPECT(ub[1024 + index] == in[index] && ub[1040 + index] == in[24 + index]);
        // Two repeats of 8 blocks: the second one lies 8 blocks behind the first, and src1 is read again. The mask selects 40 elements.
        asc_copy_gm2ub_sync(at<float>(0), in.data(), 1024);
        SetVectorMask<float>(0, (1ull << 40) - 1);
        asc_add(at<float>(4096), at<float>(0), at<float>(0), 2, 1, 1, 1, 8, 8, 0);
        for (int repeat = 0; repeat < 2; repeat++)
            for (int index = 16; index < 40; index++) EXPECT(ub[1024 + repeat * 64 + index] == static_cast<float>(repeat * 64 + index + index));
        EXPECT(ub[1024 + 47] != static_cast<float>(47 + 47));
    });
    EXPECT(said.empty());
}

TEST(atomic_copies_need_a_type)
{
    std::vector<float> in(64, 2.0f), out(64, 3.0f);
    const std::string said = check::run([&] {
        asc_copy_gm2ub_sync(at<float>(0), in.data(), 256);
        SetAtomicAdd<float>();
        asc_copy_ub2gm_sync(out.data(), at<float>(0), 256);
        SetAtomicNone();
        asc_dcci_entire_out();
    });
    EXPECT(said.empty());
    EXPECT_EQUAL(out, std::vector<float>(64, 5.0f));
    EXPECT_FAILS(([&] {
                     asc_copy_gm2ub(at<float>(0), in.data(), 256);
                     SetAtomicAdd<float>();
                     asc_copy_ub2gm(out.data(), at<void>(0), 256);
                 }),
                 "asc_copy_ub2gm: an atomic copy needs an address with a type, and src is void*");
}

TEST(wrong_operands_are_reported)
{
    std::vector<float> in(1024), outside(64);
    EXPECT_FAILS(([&] {
                     __ubuf__ float x[64];
                     asc_copy_gm2ub(x, in.data(), 512);
                 }),
                 "dst reaches bytes 0 to 511 of its buffer in VECCALC, which has 256 bytes");
    EXPECT_FAILS(([&] { asc_copy_gm2ub(at<float>(16), in.data(), 64); }), "dst begins at byte 16 of its buffer in VECCALC, and has to be aligned to 32 bytes");
    EXPECT_FAILS(([&] { asc_copy_gm2ub(at<float>(0), in.data(), 20); }), "20 bytes are not a multiple of 32");
    EXPECT_FAILS(([&] { asc_add(outside.data(), at<float>(0), at<float>(256), 64); }), "asc_add: dst is not in UB");
    EXPECT_FAILS(([&] { asc_sync_wait(PIPE_MTE2, PIPE_V, EVENT_ID3); }), "asc_sync_wait: event 3 was not set");
    EXPECT_FAILS(([&] {
                     asc_sync_notify(PIPE_MTE2, PIPE_V, EVENT_ID3);
                     asc_sync_notify(PIPE_MTE2, PIPE_V, EVENT_ID3);
                 }),
                 "asc_sync_notify: event 3 is set already");
    EXPECT_FAILS(([&] {
                     __ubuf__ uint8_t x[ASC_UB_SIZE];
                     __ubuf__ uint8_t y[32];
                     static_cast<void>(x);
                     static_cast<void>(y);
                 }),
                 "32 more bytes do not fit into UB");
}

#if JUMAR_ASCENDC_CHECK >= 2
TEST(missing_events_are_reported)
{
    std::vector<float> in(64), out(64);
    EXPECT_FAILS(([&] {
                     __ubuf__ float x[64], y[64];
                     asc_copy_gm2ub(x, in.data(), 256);
                     asc_add(y, x, x, 64);
                 }),
                 "PIPE_V reads src0 (VECCALC, bytes 0 to 255) and does not wait for DataCopy");
    EXPECT_FAILS(([&] {
                     __ubuf__ float x[256], y[256];
                     asc_copy_gm2ub_sync(x, in.data(), 256);
                     asc_add(y, x, x, 256);
                 }),
                 "PIPE_V reads src0 (VECCALC), whose bytes 256 to 1023 were never written");
    EXPECT_FAILS(([&] {
                     __ubuf__ float x[64];
                     asc_copy_gm2ub_sync(x, in.data(), 256);
                     asc_add(x, x, x, 64);
                     asc_copy_ub2gm(out.data(), x, 256);
                 }),
                 "an event V_MTE3 is missing");
}
#endif

TEST(arrays_are_taken_until_the_end_of_their_scope)
{
    const std::string said = check::run([&] {
        for (int round = 0; round < 8; round++) {
            __ubuf__ uint8_t x[ASC_UB_SIZE / 2];
            __ubuf__ uint8_t y[2][ASC_UB_SIZE / 8];
            EXPECT(y[0] >= x + sizeof x && sizeof y == ASC_UB_SIZE / 4);
        }
    });
    EXPECT(said.empty());
}

// A matrix product as kernels write it: A and B to columns of fractals in L1, to rows of fractals in L0A and L0B, and out of L0C.
template <typename T, typename C, typename R>
void product(uint32_t m, uint32_t k, uint32_t n, QuantMode_t mode, bool relu, uint64_t scale, const std::vector<uint64_t>& scales)
{
    constexpr uint32_t c0 = 32 / sizeof(T), fractal = 512 / sizeof(T);
    std::vector<T> a = small<T>(m * k, 3), b = small<T>(k * n, 4);
    std::vector<R> c(m * n), wanted(m * n);
    for (uint32_t row = 0; row < m; row++)
        for (uint32_t column = 0; column < n; column++) {
            float sum = 0;
            for (uint32_t index = 0; index < k; index++) sum += static_cast<float>(a[row * k + index]) * static_cast<float>(b[index * n + column]);
            if (relu && sum < 0) sum = 0;
            if (mode == REQ8 || mode == VREQ8) {
                float factor;
                const uint32_t bits = static_cast<uint32_t>(scales.empty() ? scale : scales[column]);
                std::memcpy(&factor, &bits, sizeof factor);
                sum = std::nearbyint(sum * factor);
                sum = sum < -128 ? -128 : sum > 127 ? 127 : sum;
            }
            wanted[row * n + column] = static_cast<R>(sum);
        }
    const std::string said = check::run([&] {
        asc_init();
        // Rows of B in L1 are whole squares for the transposing load.
        __cbuf__ T a1[64 * 64], b1[64 * 64];
        __cbuf__ uint64_t scales1[64];
        __ca__ T a2[64 * 64];
        __cb__ T b2[64 * 64];
        __cc__ C c1[64 * 64];
        __fbuf__ uint64_t scales2[64];
        const uint16_t rows = static_cast<uint16_t>(m), depth = static_cast<uint16_t>(k), columns = static_cast<uint16_t>(n);
        asc_copy_gm2l1_nd2nz(a1, a.data(), 1, rows, depth, 0, depth, rows, 1, 0);
        asc_copy_gm2l1_nd2nz(b1, b.data(), 1, depth, columns, 0, columns, depth, 1, 0);
        asc_sync_notify(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        asc_sync_wait(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        for (uint32_t row = 0; row < m / 16; row++)
            asc_copy_l12l0a(a2 + row * (k / c0) * fractal, a1, static_cast<uint16_t>(row), static_cast<uint8_t>(k / c0), static_cast<uint16_t>(m / 16), 0);
        if (sizeof(T) == 1) {
            // A square is two fractals, and becomes two columns of a row of fractals in L0B.
            for (uint32_t row = 0; row < k / 32; row++)
                asc_copy_l12l0b_trans(b2 + row * (n / 16) * fractal, b1, static_cast<uint16_t>(row), static_cast<uint8_t>(n / 32), static_cast<uint16_t>(k / 32),
                                      1, false, 0);
        } else {
            for (uint32_t row = 0; row < k / 16; row++)
                asc_copy_l12l0b_trans(b2 + row * (n / 16) * fractal, b1, static_cast<uint16_t>(row), static_cast<uint8_t>(n / 16), static_cast<uint16_t>(k / 16),
                                      0, false, 0);
        }
        asc_sync_notify(PIPE_MTE1, PIPE_M, EVENT_ID0);
        asc_sync_wait(PIPE_MTE1, PIPE_M, EVENT_ID0);
        asc_mmad(c1, a2, b2, rows, depth, columns, 0, false, false, true);
        asc_sync_notify(PIPE_M, PIPE_FIX, EVENT_ID0);
        asc_sync_wait(PIPE_M, PIPE_FIX, EVENT_ID0);
        if (!scales.empty()) {
            asc_copy_gm2l1(scales1, const_cast<uint64_t*>(scales.data()), static_cast<uint32_t>(scales.size() * 8));
            asc_sync();
            if (n == 32) asc_copy_l12fb(scales2, scales1, static_cast<uint32_t>(scales.size() * 8));
            else asc_copy_l12fb(scales2, scales1, 1, static_cast<uint16_t>(scales.size() * 8 / 128), 0, 0);
            asc_set_l0c2gm_config(0, reinterpret_cast<uint64_t>(scales2), false);
        }
        asc_set_l0c_copy_prequant(scale);
        asc_copy_l0c2gm(c.data(), c1, columns, rows, n, rows, 0, mode, relu, false, true);
    });
    EXPECT(said.empty());
    EXPECT_EQUAL(c, wanted);
}

uint64_t word(float scale)
{
    uint32_t bits;
    std::memcpy(&bits, &scale, sizeof bits);
    return bits;
}

TEST(products)
{
    product<half, float, float>(32, 48, 16, NoQuant, false, 0, {});
    product<half, float, half>(32, 48, 32, F322F16, true, 0, {});
    product<bfloat16_t, float, bfloat16_t>(16, 32, 48, F322BF16, false, 0, {});
    // The instruction's number of F322BF16.
    product<bfloat16_t, float, bfloat16_t>(16, 32, 48, static_cast<QuantMode_t>(16), true, 0, {});
    product<int8_t, int32_t, int32_t>(32, 64, 32, NoQuant, false, 0, {});
    product<int8_t, int32_t, int8_t>(32, 64, 32, REQ8, false, word(0.25f), {});
    for (uint32_t n : {32u, 64u}) {
        std::vector<uint64_t> scales(n);
        for (uint32_t index = 0; index < n; index++) scales[index] = word(0.125f * static_cast<float>(index % 5 + 1));
        product<int8_t, int32_t, int8_t>(16, 32, n, VREQ8, true, 0, scales);
    }
}

TEST(fractals_accumulation_and_biases)
{
    std::vector<half> a = small<half>(512, 5), b = small<half>(512, 6), bias = small<half>(32, 7);
    std::vector<float> c(256), wanted(256), floats(32);
    for (int index = 0; index < 32; index++) floats[index] = static_cast<float>(index) - 5;
    // Fractals of A are rows, those of B in L0B are columns.
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 16; column++)
            for (int part = 0; part < 2; part++)
                for (int index = 0; index < 16; index++)
                    wanted[row * 16 + column] +=
                        static_cast<float>(a[part * 256 + row * 16 + index]) * static_cast<float>(b[(1 - part) * 256 + column * 16 + index]);
    const std::string said = check::run([&] {
        asc_init();
        // Two fractals of A one behind the other, and those of B with one in between.
        asc_copy_gm2l1(at<half>(0), a.data(), 0, 2, 1, 0);
        asc_copy_gm2l1(at<half>(4096), b.data(), 0, 2, 1, 1);
        asc_copy_gm2l1(at<void>(8192), bias.data(), 64);
        asc_copy_gm2l1(at<void>(8256), static_cast<void*>(floats.data()), 2, 2, 0, 1);
        asc_sync();
        asc_copy_l12l0a(at<half>(0), at<half>(0), 0, 2, 1, 0);
        asc_copy_l12l0b(at<half>(0), at<half>(4096), 2, 1, 0, 0);
        asc_copy_l12l0b(at<half>(512), at<half>(4096), 0, 1, 0, 0);
        asc_sync();
        asc_mmad(at<float>(0), at<half>(0), at<half>(0), 16, 16, 16, 0, false, false, true);
        asc_sync();
        asc_mmad(at<float>(0), at<half>(512), at<half>(512), 16, 16, 16, 0, false, false, false);
        asc_sync();
        asc_copy_l0c2gm(c.data(), at<float>(0), 16, 16, 16, 16, 0, NoQuant, 0, false, true);
        // Biases: halves become floats, floats stay.
        float* const table = LocalTensor<float>(TPosition::C2, 0, 64).GetPhyAddr();
        asc_copy_l12bt(0, at<half>(8192), 1, 1, 2, 0, 0);
        for (int index = 0; index < 32; index++) EXPECT(table[index] == static_cast<float>(bias[index]));
        asc_copy_l12bt(64, at<float>(8256), 64);
        for (int index = 0; index < 16; index++) EXPECT(table[16 + index] == floats[index]);
        asc_copy_l12bt(0, at<float>(8256), 0, 2, 1, 1, 0);
        for (int index = 0; index < 16; index++) EXPECT(table[index] == floats[index] && table[16 + index] == floats[16 + index]);
    });
    EXPECT(said.empty());
    EXPECT_EQUAL(c, wanted);
    EXPECT_FAILS(([&] { asc_mmad(at<float>(0), at<half>(0), at<half>(0), 16, 16, 16, 0, false, true, false); }), "cmatrixSource is true");
    EXPECT_FAILS(([&] { asc_copy_l0c2gm(c.data(), at<float>(0), 16, 16, 16, 16, 0, 21, 0, false, true); }), "the mode of quantisation 21 is not supported");
    EXPECT_FAILS(([&] { asc_copy_l0c2gm(c.data(), at<float>(0), 16, 16, 16, 16, 0, 0, 3, false, true); }), "relu_pre is 3");
}

TEST(results_of_several_matrices)
{
    // Two matrices of 16 x 32 in columns of fractals, 3 fractals apart, to rows of 40 elements.
    std::vector<float> c(2 * 16 * 40, -1.0f);
    const std::string said = check::run([&] {
        asc_init();
        float* const l0c = LocalTensor<float>(TPosition::CO1, 0, 5 * 256).GetPhyAddr();
        for (int index = 0; index < 5 * 256; index++) l0c[index] = static_cast<float>(index);
        asc_set_l0c_copy_params(2, 3, 640);
        asc_copy_l0c2gm(c.data(), l0c, 32, 16, 40, 16, 0, NoQuant, 0, false, true);
    });
    EXPECT(said.empty());
    for (int matrix = 0; matrix < 2; matrix++)
        for (int row = 0; row < 16; row++) {
            for (int column = 0; column < 32; column++)
                EXPECT(c[matrix * 640 + row * 40 + column] == static_cast<float>(matrix * 768 + column / 16 * 256 + row * 16 + column % 16));
            EXPECT(c[matrix * 640 + row * 40 + 32] == -1);
        }
}

// What a kernel writes to the standard output.
template <typename Kernel> std::string output_of(Kernel kernel)
{
    std::fflush(stdout);
    char name[] = "/tmp/jumar-dump-XXXXXX";
    const int file = mkstemp(name), kept = dup(1);
    dup2(file, 1);
    const std::string said = check::run(kernel);
    std::fflush(stdout);
    dup2(kept, 1);
    close(kept);
    std::string text(4096, '\0');
    const ssize_t read = pread(file, text.data(), text.size(), 0);
    text.resize(read > 0 ? static_cast<size_t>(read) : 0);
    close(file);
    unlink(name);
    EXPECT(said.empty());
    return text;
}

TEST(dumps)
{
    std::vector<int32_t> values(16);
    for (int index = 0; index < 16; index++) values[index] = index * 3;
    const std::string text = output_of([&] {
        __ubuf__ int32_t x[16];
        asc_copy_gm2ub_sync(x, values.data(), 64);
        asc_dump_ubuf(x, 1, 3);
        asc_dump_gm(values.data() + 1, 2, 2);
    });
    EXPECT(text.find("desc=1, addr=0, data_type=int32, position=UB, dump_size=3\n[0, 3, 6]\n") != std::string::npos);
    EXPECT(text.find("desc=2, addr=") != std::string::npos && text.find("position=GM, dump_size=2\n[3, 6]\n") != std::string::npos);
    const std::string cube = output_of([&] {
        asc_copy_gm2l1(at<void>(32), static_cast<void*>(values.data()), 64);
        asc_sync();
        asc_dump_l1buf(at<int32_t>(32), 3, 4);
        float* const result = LocalTensor<float>(TPosition::CO1, 0, 16).GetPhyAddr();
        for (int index = 0; index < 16; index++) result[index] = static_cast<float>(index);
        asc_dump_cbuf(result, 4, 2);
    });
    EXPECT(cube.find("desc=3, addr=32, data_type=int32, position=L1, dump_size=4\n[0, 3, 6, 9]\n") != std::string::npos);
    EXPECT(cube.find("desc=4, addr=0, data_type=float32, position=L0C, dump_size=2\n[0.000000, 1.000000]\n") != std::string::npos);
}

} // namespace

int main()
{
    return check::finish("c_api");
}
