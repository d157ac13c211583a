// Checks of order, with JUMAR_ASCENDC_CHECK=2: what one pipe does to local memory and another one did before (global_order.h has global
// memory). The order that events, barriers and queues make is judged, not the order in which this run does its work.
#ifndef JUMAR_ASCENDC_ORDER_H
#define JUMAR_ASCENDC_ORDER_H

#include <array>
#include <memory>
#include <vector>

#include "deferred.h"
#include "padding.h"

namespace jumar {
namespace ascendc {

// What a check needs to know about a call.
struct Call {
    const char* name;
    Site site;
    pipe_t pipe = PIPE_V;
    // A tensor at a fixed address ends where its memory ends, and not after its length.
    bool reaches_memory_end = false;
};

inline const char* pipe_name(pipe_t pipe)
{
    static const char* const names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "ALL", "MTE4", "MTE5", "V2", "FIX"};
    return pipe <= PIPE_FIX ? names[pipe] : "?";
}

// The instructions of a core have numbers, in the order of the program. A clock holds for each pipe the last instruction that has ended.
class PipeOrder {
public:
    // A block begins: nothing of an earlier one is running, and local memory has no values.
    void begin()
    {
        acquire(PIPE_ALL, release(PIPE_ALL));
        first_ = number_;
        padding_.clear();
    }
    // The values of a buffer are undefined from here on.
    void forget(const Core& self, const Buffer& buffer)
    {
        const Memory memory = memory_of(buffer.position);
        std::vector<Block>& blocks = blocks_[memory];
        const uint64_t begin = static_cast<uint64_t>(buffer.begin - const_cast<Core&>(self).memories[memory].base(memory));
        for (uint64_t block = begin / 32; block < (begin + buffer.bytes + 31) / 32 && block < blocks.size(); block++) blocks[block].is_fresh = true;
        std::memset(buffer.begin, UNDEFINED, buffer.bytes);
        if (memory == MEMORY_UB) padding_.clear(begin, begin + buffer.bytes);
    }
    PaddingMap& padding() { return padding_; }
    // The number of the last instruction, and whether the next one of a pipe waits for it.
    uint32_t last() const { return number_; }
    bool waits_for(pipe_t pipe, pipe_t other, uint32_t number) const
    {
        const uint32_t issued = known_[PIPE_S].ended[other];
        return number <= known_[pipe].ended[other] || number <= issued;
    }

    // What has ended when the instructions that a pipe has received so far have ended.
    PipeClock release(pipe_t pipe) const
    {
        PipeClock clock{};
        for (int from = 0; from < PIPES; from++) {
            if (pipe != PIPE_ALL && from != pipe) continue;
            for (int of = 0; of < PIPES; of++) raise(clock.ended[of], known_[from].ended[of]);
            raise(clock.ended[from], issued_[from]);
        }
        return clock;
    }
    // The next instructions of a pipe wait for that.
    void acquire(pipe_t pipe, const PipeClock& clock)
    {
        for (int to = 0; to < PIPES; to++)
            if (pipe == PIPE_ALL || to == pipe)
                for (int of = 0; of < PIPES; of++) raise(known_[to].ended[of], clock.ended[of]);
    }
    void barrier(pipe_t pipe) { acquire(pipe, release(pipe)); }
    void set_event(int kind, int id, pipe_t from) { events_[kind][id] = release(from); }
    void wait_event(int kind, int id, pipe_t to) { acquire(to, events_[kind][id]); }

    // Records an access to local memory, and fails if it does not wait for an earlier one that it depends on.
    void access(const Core& self, const Buffer& buffer, const uint8_t* at, uint64_t bytes, bool writes, const char* operand, const Call& call)
    {
        if (bytes == 0) return;
        const int pipe = call.pipe;
        // An instruction starts when the scalar unit has come to it. Pipes other than those of copies end their instructions in order.
        acquire(call.pipe, known_[PIPE_S]);
        if (pipe != PIPE_MTE2 && pipe != PIPE_MTE3) raise(known_[pipe].ended[pipe], issued_[pipe]);
        issued_[pipe] = ++number_;
        calls_[number_ % CALLS] = call;
        const Memory memory = memory_of(buffer.position);
        std::vector<Block>& blocks = blocks_[memory];
        const uint8_t* base = const_cast<Core&>(self).memories[memory].base(memory);
        const uint64_t begin = static_cast<uint64_t>(at - base), end = begin + bytes;
        if (blocks.size() < (end + 31) / 32) blocks.resize((memory_info(memory).bytes + 31) / 32 + 1);
        // Temporary buffers of the library are read after it has written them.
        if (!writes && memory == MEMORY_UB && std::strncmp(operand, "src", 3) == 0) check_values(blocks, base, begin, end, buffer, operand, call);
        if (memory == MEMORY_UB && writes) padding_.clear(begin, end);
        if (memory == MEMORY_UB && !writes && call.pipe == PIPE_MTE3) need_no_padding(begin, end, buffer, base, operand, call);
        // Most blocks are in the state of the one in front of them, and what holds for that one holds for them.
        Block before, after;
        bool is_known = false;
        for (uint64_t block = begin / 32; block < (end + 31) / 32; block++) {
            Block& state = blocks[block];
            if (is_known && std::memcmp(&state, &before, sizeof state) == 0) {
                state = after;
                continue;
            }
            before = state;
            // Who reads what is overwritten is looked at first: waiting for the reader often orders the writers as well.
            if (writes)
                each_read(memory, state, block, [&](int reader, uint32_t read) { check(read, reader, "reads", pipe, buffer, at, bytes, writes, operand, call); });
            check(state.written, state.writer, "writes", pipe, buffer, at, bytes, writes, operand, call);
            if (writes) {
                state.written = number_;
                state.writer = static_cast<uint8_t>(pipe);
                state.is_fresh = false;
                state.read = 0;
                if (state.has_other_readers) others_[memory][block] = {};
                state.has_other_readers = false;
            } else if (state.read == 0 || state.reader == pipe) {
                state.read = number_;
                state.reader = static_cast<uint8_t>(pipe);
            } else {
                if (others_[memory].empty()) others_[memory].resize(blocks.size());
                others_[memory][block][static_cast<size_t>(pipe)] = number_;
                state.has_other_readers = true;
            }
            after = state;
            is_known = !before.has_other_readers && !after.has_other_readers;
        }
    }
    // Fails if bytes of UB are padding.
    void need_no_padding(uint64_t begin, uint64_t end, const Buffer& buffer, const uint8_t* base, const char* operand, const Call& call) const
    {
        const uint64_t at = padding_.find(begin, end);
        if (at >= end) return;
        const unsigned long long offset = static_cast<unsigned long long>(base + at - buffer.begin);
        const Site site = padding_.site(at);
        fail(call.site, "%s: PIPE_%s reads byte %llu of %s (%s), padding that DataCopyPad at %s:%d has not filled; set isPad or call SetPadValue",
             call.name, pipe_name(call.pipe), offset, operand, position_name(buffer.position), site.name(), site.line);
    }
    // The scalar unit reads or writes local memory: the compiler makes it wait for what the bytes depend on.
    void scalar_access(const Core& self, const Buffer& buffer, const uint8_t* at, uint64_t bytes, bool writes)
    {
        const Memory memory = memory_of(buffer.position);
        const std::vector<Block>& blocks = blocks_[memory];
        const uint64_t begin = static_cast<uint64_t>(at - const_cast<Core&>(self).memories[memory].base(memory));
        if (writes && memory == MEMORY_UB) padding_.clear(begin, begin + bytes);
        for (uint64_t block = begin / 32; block < (begin + bytes + 31) / 32 && block < blocks.size(); block++) {
            raise(known_[PIPE_S].ended[blocks[block].writer], blocks[block].written);
            if (writes)
                each_read(memory, blocks[block], block, [&](int reader, uint32_t read) { raise(known_[PIPE_S].ended[reader], read); });
        }
    }

private:
    static constexpr int PIPES = PipeClock::PIPES;
    static constexpr uint32_t CALLS = 4096;
    using Numbers = std::array<uint32_t, PIPES>;

    // 32 bytes of local memory: the instructions that wrote and read them last.
    struct Block {
        uint32_t written = 0;
        uint32_t read = 0;
        uint8_t writer = 0;
        uint8_t reader = 0;
        // Further pipes have read; `others_` has their instructions. Keeping these apart leaves the usual state in the processor's cache.
        bool has_other_readers = false;
        // The buffer has a new owner, who has written nothing yet.
        bool is_fresh = false;
    };
    static_assert(sizeof(Block) == 12, "blocks are compared by their bytes");
    static constexpr uint8_t UNDEFINED = 0xa5;

    // Calls body(pipe, instruction) for the pipes that have read a block since it was written.
    template <typename Body> void each_read(Memory memory, const Block& state, uint64_t block, Body body) const
    {
        if (state.read) body(state.reader, state.read);
        if (!state.has_other_readers) return;
        const Numbers& others = others_[memory][block];
        for (int pipe = 0; pipe < PIPES; pipe++)
            if (others[static_cast<size_t>(pipe)]) body(pipe, others[static_cast<size_t>(pipe)]);
    }

    // Fails if the end of what is read, or all of it, was never written. Instructions may read beyond their data up to the end of a repeat,
    // and what a program writes through pointers is recognised by its values.
    void check_values(const std::vector<Block>& blocks, const uint8_t* base, uint64_t begin, uint64_t end, const Buffer& buffer, const char* operand,
                      const Call& call) const
    {
        uint64_t written = end;
        while (written > begin) {
            const uint64_t block = (written - 1) / 32, from = block * 32 > begin ? block * 32 : begin;
            const bool has_value = !blocks[block].is_fresh && blocks[block].written > first_;
            if (has_value || !is_undefined(base + from, base + written)) break;
            written = from;
        }
        const uint64_t missing = end - written, allowed = call.pipe == PIPE_MTE3 ? 0 : 256;
        if (missing == 0 || (written != begin && missing <= allowed)) return;
        const unsigned long long offset = static_cast<unsigned long long>(base + written - buffer.begin);
        fail(call.site, "%s: PIPE_%s reads %s (%s), whose bytes %llu to %llu were never written", call.name, pipe_name(call.pipe), operand,
             position_name(buffer.position), offset, offset + missing - 1);
    }
    static bool is_undefined(const uint8_t* at, const uint8_t* end)
    {
        while (at < end && *at == UNDEFINED) at++;
        return at == end;
    }

    static void raise(uint32_t& value, uint32_t to)
    {
        if (value < to) value = to;
    }

    void check(uint32_t number, int other, const char* does, int pipe, const Buffer& buffer, const uint8_t* at, uint64_t bytes, bool writes,
               const char* operand, const Call& call) const
    {
        if (number == 0 || number <= known_[pipe].ended[other]) return;
        const Call earlier = number_ - number < CALLS ? calls_[number % CALLS] : Call{"an instruction", call.site};
        const unsigned long long begin = static_cast<unsigned long long>(at - buffer.begin);
        const pipe_t here = static_cast<pipe_t>(pipe), there = static_cast<pipe_t>(other);
        if (pipe == other)
            fail(call.site, "%s: PIPE_%s %s %s (%s, bytes %llu to %llu), which %s at %s:%d %s on the same pipe; PipeBarrier<PIPE_%s> is missing", call.name,
                 pipe_name(here), writes ? "writes" : "reads", operand, position_name(buffer.position), begin, begin + bytes - 1, earlier.name,
                 earlier.site.name(), earlier.site.line, does, pipe_name(here));
        fail(call.site, "%s: PIPE_%s %s %s (%s, bytes %llu to %llu) and does not wait for %s at %s:%d, which %s it; an event %s_%s is missing", call.name,
             pipe_name(here), writes ? "writes" : "reads", operand, position_name(buffer.position), begin, begin + bytes - 1, earlier.name,
             earlier.site.name(), earlier.site.line, does, pipe_name(there), pipe_name(here));
    }

    uint32_t number_ = 0;
    uint32_t first_ = 0;
    uint32_t issued_[PIPES] = {};
    PipeClock known_[PIPES] = {};
    PipeClock events_[static_cast<int>(AscendC::HardEvent::MAX)][8] = {};
    std::vector<Block> blocks_[MEMORY_COUNT];
    std::vector<Numbers> others_[MEMORY_COUNT];
    Call calls_[CALLS] = {};
    PaddingMap padding_;
};

// The order of the running core; null unless it is checked.
inline PipeOrder* pipe_order(Core& self)
{
#if JUMAR_ASCENDC_CHECK >= 2
    if (!self.order) self.order = std::make_shared<PipeOrder>();
    if (self.is_new_block) {
        self.order->begin();
        self.is_new_block = false;
    }
    return self.order.get();
#else
    static_cast<void>(self);
    return nullptr;
#endif
}

// What a program writes through an address is not seen: the buffer's padding has values from here on.
inline void forget_padding([[maybe_unused]] const Buffer* buffer)
{
#if JUMAR_ASCENDC_CHECK >= 2
    if (!buffer || !in_kernel() || memory_of(buffer->position) != MEMORY_UB) return;
    const uint64_t begin = static_cast<uint64_t>(buffer->begin - core().memories[MEMORY_UB].base(MEMORY_UB));
    pipe_order(core())->padding().clear(begin, begin + buffer->bytes);
#endif
}

// Pipes that fill and empty a queue's buffers. PIPE_ALL stands for paths that use several.
struct QueuePipes {
    pipe_t producer, consumer;
};
constexpr QueuePipes queue_pipes(AscendC::TPosition source, AscendC::TPosition destination)
{
    using AscendC::TPosition;
    if (source == TPosition::GM && destination == TPosition::VECIN) return {PIPE_MTE2, PIPE_V};
    if (source == TPosition::GM && (destination == TPosition::A1 || destination == TPosition::B1)) return {PIPE_MTE2, PIPE_MTE1};
    if (source == TPosition::VECOUT && destination == TPosition::GM) return {PIPE_V, PIPE_MTE3};
    if (source == TPosition::VECIN && destination == TPosition::VECOUT) return {PIPE_MTE2, PIPE_MTE3};
    if ((source == TPosition::A1 && destination == TPosition::A2) || (source == TPosition::B1 && destination == TPosition::B2)) return {PIPE_MTE1, PIPE_M};
#if JUMAR_ASCENDC_CHIP != 2002
    if (source == TPosition::CO1 && destination == TPosition::CO2) return {PIPE_M, PIPE_FIX};
#endif
    return {PIPE_ALL, PIPE_ALL};
}

} // namespace ascendc
} // namespace jumar

#endif
