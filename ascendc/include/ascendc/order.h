// Checks of order, with JUMAR_ASCENDC_CHECK=2: what one pipe does to local memory and another one did before, and what blocks write to
// the same global memory. The order that events, barriers and queues make is judged, not the order in which this run does its work.
#ifndef JUMAR_ASCENDC_ORDER_H
#define JUMAR_ASCENDC_ORDER_H

#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include "core.h"

namespace jumar {
namespace ascendc {

// What a check needs to know about a call.
struct Call {
    const char* name;
    Site site;
    pipe_t pipe = PIPE_V;
};

inline const char* pipe_name(pipe_t pipe)
{
    static const char* const names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "ALL", "MTE4", "MTE5", "V2", "FIX"};
    return pipe <= PIPE_FIX ? names[pipe] : "?";
}

// The instructions of a core have numbers, in the order of the program. A clock holds for each pipe the last instruction that has ended.
class PipeOrder {
public:
    // A block begins: nothing of an earlier one is running.
    void begin() { acquire(PIPE_ALL, release(PIPE_ALL)); }

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
        for (uint64_t block = begin / 32; block < (end + 31) / 32; block++) {
            Block& state = blocks[block];
            // Who reads what is overwritten is looked at first: waiting for the reader often orders the writers as well.
            for (int reader = 0; writes && reader < PIPES; reader++)
                check(state.read[reader], reader, "reads", pipe, buffer, at, bytes, writes, operand, call);
            check(state.written, state.writer, "writes", pipe, buffer, at, bytes, writes, operand, call);
            if (writes) {
                state.written = number_;
                state.writer = static_cast<uint8_t>(pipe);
                for (uint32_t& read : state.read) read = 0;
            } else {
                state.read[pipe] = number_;
            }
        }
    }
    // The scalar unit reads or writes local memory: the compiler makes it wait for what the bytes depend on.
    void scalar_access(const Core& self, const Buffer& buffer, const uint8_t* at, uint64_t bytes, bool writes)
    {
        const Memory memory = memory_of(buffer.position);
        const std::vector<Block>& blocks = blocks_[memory];
        const uint64_t begin = static_cast<uint64_t>(at - const_cast<Core&>(self).memories[memory].base(memory));
        for (uint64_t block = begin / 32; block < (begin + bytes + 31) / 32 && block < blocks.size(); block++) {
            raise(known_[PIPE_S].ended[blocks[block].writer], blocks[block].written);
            for (int reader = 0; writes && reader < PIPES; reader++) raise(known_[PIPE_S].ended[reader], blocks[block].read[reader]);
        }
    }

private:
    static constexpr int PIPES = PipeClock::PIPES;
    static constexpr uint32_t CALLS = 4096;

    // 32 bytes of local memory: the instructions that wrote and read them last.
    struct Block {
        uint32_t written = 0;
        uint32_t read[PIPES] = {};
        uint8_t writer = 0;
    };

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
    uint32_t issued_[PIPES] = {};
    PipeClock known_[PIPES] = {};
    PipeClock events_[static_cast<int>(AscendC::HardEvent::MAX)][8] = {};
    std::vector<Block> blocks_[MEMORY_COUNT];
    Call calls_[CALLS] = {};
};

// What the blocks of a launch have written to global memory since they last waited for each other.
class GlobalWrites {
public:
    void add(const Core& self, const uint8_t* at, uint64_t bytes, const Call& call)
    {
        const uintptr_t begin = reinterpret_cast<uintptr_t>(at), end = begin + bytes;
        const uint32_t block = block_index(self) * 2 + (self.type == AscendC::AIC ? 1 : 0);
        auto next = all_.lower_bound(begin);
        if (next != all_.begin() && std::prev(next)->second.end > begin) --next;
        for (; next != all_.end() && next->first < end; ++next) {
            const Write& other = next->second;
            if (other.block == block) continue;
            const uintptr_t from = next->first > begin ? next->first : begin, to = other.end < end ? other.end : end;
            fail(call.site, "%s: bytes %llu to %llu of the copy go to global memory that block %u has written (%s at %s:%d); SyncAll or an atomic copy is missing",
                 call.name, static_cast<unsigned long long>(from - begin), static_cast<unsigned long long>(to - begin - 1), other.block / 2, other.call.name,
                 other.call.site.name(), other.call.site.line);
        }
        auto before = all_.lower_bound(begin);
        if (before != all_.begin() && std::prev(before)->second.end >= begin && std::prev(before)->second.block == block) {
            raise(std::prev(before)->second.end, end);
            return;
        }
        Write& write = all_[begin];
        if (write.end < end) write = {end, block, call};
    }
    void clear() { all_.clear(); }

private:
    struct Write {
        uintptr_t end;
        uint32_t block;
        Call call;
    };
    static void raise(uintptr_t& value, uintptr_t to)
    {
        if (value < to) value = to;
    }
    std::map<uintptr_t, Write> all_;
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

inline void record_global_write([[maybe_unused]] const uint8_t* at, [[maybe_unused]] uint64_t bytes, [[maybe_unused]] const Call& call)
{
#if JUMAR_ASCENDC_CHECK >= 2
    Core& self = core();
    if (self.writes) self.writes->add(self, at, bytes, call);
#endif
}

// Blocks have waited for each other: what they wrote before is ordered, and their pipes are idle.
inline void order_blocks([[maybe_unused]] Core& self)
{
#if JUMAR_ASCENDC_CHECK >= 2
    if (self.writes) self.writes->clear();
    pipe_order(self)->barrier(PIPE_ALL);
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
#if __NPU_ARCH__ != 2002
    if (source == TPosition::CO1 && destination == TPosition::CO2) return {PIPE_M, PIPE_FIX};
#endif
    return {PIPE_ALL, PIPE_ALL};
}

} // namespace ascendc
} // namespace jumar

#endif
