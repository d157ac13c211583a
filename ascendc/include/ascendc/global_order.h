// Checks of order in global memory, with JUMAR_ASCENDC_CHECK=2: what the blocks of a launch, and the pipes of a core, read and write without
// waiting for each other.
#ifndef JUMAR_ASCENDC_GLOBAL_ORDER_H
#define JUMAR_ASCENDC_GLOBAL_ORDER_H

#include <iterator>
#include <map>
#include <unordered_map>

#include "order.h"

namespace jumar {
namespace ascendc {

class GlobalOrder {
public:
    // A copy to global memory. `from` has the values.
    void write(const Core& self, const uint8_t* at, const uint8_t* from, uint64_t bytes, const Call& call, const PipeOrder& order)
    {
        if (bytes == 0) return;
        const uintptr_t begin = reinterpret_cast<uintptr_t>(at), end = begin + bytes;
        const uint32_t core = core_number(self);
        each_write(begin, end, [&](uintptr_t first, const Write& other) {
            const Range common = overlap(begin, end, first, other.end);
            if (other.core != core)
                fail(call.site, "%s: bytes %llu to %llu of the copy go to global memory that block %u has written (%s at %s:%d); SyncAll or an atomic copy is missing",
                     call.name, common.first, common.last, other.core / 2, other.call.name, other.call.site.name(), other.call.site.line);
            // Copies of the same values may end in any order.
            if (other.call.pipe == call.pipe && !order.waits_for(call.pipe, other.call.pipe, other.number) &&
                std::memcmp(at + common.first, from + common.first, common.last - common.first + 1) != 0)
                fail(call.site, "%s: PIPE_%s writes bytes %llu to %llu of the copy to global memory that %s at %s:%d writes on the same pipe; PipeBarrier<PIPE_%s> is missing",
                     call.name, pipe_name(call.pipe), common.first, common.last, other.call.name, other.call.site.name(), other.call.site.line,
                     pipe_name(call.pipe));
        });
        for (uintptr_t page = begin / PAGE; page <= (end - 1) / PAGE; page++) {
            auto found = reads_.find(page);
            if (found == reads_.end()) continue;
            for (const Read& other : found->second) {
                if (other.core == core || other.begin >= end || other.end <= begin) continue;
                const Range common = overlap(begin, end, other.begin, other.end);
                fail(call.site, "%s: bytes %llu to %llu of the copy go to global memory that block %u reads (%s at %s:%d); SyncAll is missing", call.name,
                     common.first, common.last, other.core / 2, other.call.name, other.call.site.name(), other.call.site.line);
            }
        }
        replace(begin, {end, core, order.last(), call});
    }

    // A copy from global memory.
    void read(const Core& self, const uint8_t* at, uint64_t bytes, const Call& call, const PipeOrder& order)
    {
        if (bytes == 0) return;
        const uintptr_t begin = reinterpret_cast<uintptr_t>(at), end = begin + bytes;
        const uint32_t core = core_number(self);
        each_write(begin, end, [&](uintptr_t first, const Write& other) {
            const Range common = overlap(begin, end, first, other.end);
            if (other.core != core)
                fail(call.site, "%s: bytes %llu to %llu of the copy come from global memory that block %u has written (%s at %s:%d); SyncAll is missing",
                     call.name, common.first, common.last, other.core / 2, other.call.name, other.call.site.name(), other.call.site.line);
            if (!order.waits_for(call.pipe, other.call.pipe, other.number))
                fail(call.site, "%s: PIPE_%s reads bytes %llu to %llu of the copy from global memory and does not wait for %s at %s:%d, which writes them; an event %s_%s is missing",
                     call.name, pipe_name(call.pipe), common.first, common.last, other.call.name, other.call.site.name(), other.call.site.line,
                     pipe_name(other.call.pipe), pipe_name(call.pipe));
        });
        for (uintptr_t line = begin / LINE; line <= (end - 1) / LINE && !lines_.empty(); line++) {
            auto found = lines_.find(line);
            if (found == lines_.end() || found->second.is_clean || found->second.begin >= end || found->second.end <= begin) continue;
            fail(call.site, "%s: global memory that the copy reads has a value of SetValue at %s:%d, which may be in the data cache alone; DataCacheCleanAndInvalid is missing",
                 call.name, found->second.site.name(), found->second.site.line);
        }
        for (uintptr_t page = begin / PAGE; page <= (end - 1) / PAGE; page++) {
            std::vector<Read>& reads = reads_[page];
            const uintptr_t from = begin > page * PAGE ? begin : page * PAGE, to = end < (page + 1) * PAGE ? end : (page + 1) * PAGE;
            if (!reads.empty() && reads.back().core == core && reads.back().begin <= from && reads.back().end >= from) {
                if (reads.back().end < to) reads.back().end = to;
            } else {
                reads.push_back({from, to, core, call});
            }
        }
    }

    // A store of the scalar unit, which goes to a line of the core's own data cache.
    void store(const Core& self, const uint8_t* at, uint64_t bytes, Site site)
    {
        const uintptr_t begin = reinterpret_cast<uintptr_t>(at);
        const uint32_t core = core_number(self);
        auto [found, is_new] = lines_.try_emplace(begin / LINE, Line{core, begin, begin + bytes, site, false});
        Line& line = found->second;
        if (is_new) return;
        if (line.core != core)
            fail(site, "SetValue: block %u has stored to the same 64 bytes of global memory (%s:%d); a data cache writes whole lines, so one of the values is lost",
                 line.core / 2, line.site.name(), line.site.line);
        if (begin < line.begin) line.begin = begin;
        if (begin + bytes > line.end) line.end = begin + bytes;
        line.site = site;
        line.is_clean = false;
    }
    // Writes lines of the core's data cache to memory: all of them, or that of an address.
    void clean(const Core& self, const uint8_t* at, bool is_all)
    {
        const uint32_t core = core_number(self);
        for (auto& [number, line] : lines_)
            if (line.core == core && (is_all || number == reinterpret_cast<uintptr_t>(at) / LINE)) line.is_clean = true;
    }

    // The cores have waited for each other.
    void clear()
    {
        writes_.clear();
        reads_.clear();
        for (auto at = lines_.begin(); at != lines_.end();) at = at->second.is_clean ? lines_.erase(at) : std::next(at);
    }

private:
    static constexpr uintptr_t PAGE = 4096, LINE = 64;

    struct Write {
        uintptr_t end;
        uint32_t core;
        uint32_t number;
        Call call;
    };
    struct Read {
        uintptr_t begin, end;
        uint32_t core;
        Call call;
    };
    struct Line {
        uint32_t core;
        uintptr_t begin, end;
        Site site;
        bool is_clean;
    };
    // The first and the last byte, counted from the begin of the copy.
    struct Range {
        unsigned long long first, last;
    };

    static uint32_t core_number(const Core& self) { return block_index(self) * 2 + (self.type == AscendC::AIC ? 1 : 0); }
    static Range overlap(uintptr_t begin, uintptr_t end, uintptr_t first, uintptr_t last)
    {
        return {static_cast<unsigned long long>((first > begin ? first : begin) - begin), static_cast<unsigned long long>((last < end ? last : end) - begin - 1)};
    }
    template <typename Body> void each_write(uintptr_t begin, uintptr_t end, Body body) const
    {
        auto next = writes_.lower_bound(begin);
        if (next != writes_.begin() && std::prev(next)->second.end > begin) --next;
        for (; next != writes_.end() && next->first < end; ++next) body(next->first, next->second);
    }
    // Replaces what a write overlaps.
    void replace(uintptr_t begin, const Write& write)
    {
        auto next = writes_.lower_bound(begin);
        if (next != writes_.begin() && std::prev(next)->second.end > begin) {
            Write& before = std::prev(next)->second;
            if (before.end > write.end) writes_.emplace(write.end, before);
            before.end = begin;
            next = writes_.lower_bound(begin);
        }
        while (next != writes_.end() && next->first < write.end) {
            if (next->second.end > write.end) writes_.emplace(write.end, next->second);
            next = writes_.erase(next);
        }
        writes_.insert_or_assign(begin, write);
    }

    std::map<uintptr_t, Write> writes_;
    std::unordered_map<uintptr_t, std::vector<Read>> reads_;
    std::unordered_map<uintptr_t, Line> lines_;
};

inline void record_global_write([[maybe_unused]] const uint8_t* at, [[maybe_unused]] const uint8_t* from, [[maybe_unused]] uint64_t bytes,
                                [[maybe_unused]] const Call& call)
{
#if JUMAR_ASCENDC_CHECK >= 2
    Core& self = core();
    if (self.global) self.global->write(self, at, from, bytes, call, *pipe_order(self));
#endif
}
inline void record_global_read([[maybe_unused]] const uint8_t* at, [[maybe_unused]] uint64_t bytes, [[maybe_unused]] const Call& call)
{
#if JUMAR_ASCENDC_CHECK >= 2
    Core& self = core();
    if (self.global) self.global->read(self, at, bytes, call, *pipe_order(self));
#endif
}
inline void record_global_store([[maybe_unused]] const void* at, [[maybe_unused]] uint64_t bytes, [[maybe_unused]] Site site)
{
#if JUMAR_ASCENDC_CHECK >= 2
    Core& self = core();
    if (self.global) self.global->store(self, static_cast<const uint8_t*>(at), bytes, site);
#endif
}
inline void record_cache_clean([[maybe_unused]] const void* at, [[maybe_unused]] bool is_all)
{
    complete_all();
#if JUMAR_ASCENDC_CHECK >= 2
    Core& self = core();
    if (self.global) self.global->clean(self, static_cast<const uint8_t*>(at), is_all);
#endif
}

// Blocks have waited for each other: what they wrote before is ordered, and their pipes are idle.
inline void order_blocks([[maybe_unused]] Core& self)
{
#if JUMAR_ASCENDC_CHECK >= 2
    if (self.global) self.global->clear();
    pipe_order(self)->barrier(PIPE_ALL);
#endif
}

// What a block has to leave behind: no event that is set, no tensor in a queue or in use, no atomic mode and no mask of counts.
inline void check_end([[maybe_unused]] Core& self)
{
#if JUMAR_ASCENDC_CHECK >= 2
    for (const Buffer& buffer : self.buffers) {
        if (!buffer.queue || buffer.state == BufferState::FREE || buffer.state == BufferState::DEAD) continue;
        if (buffer.state == BufferState::QUEUED)
            fail(buffer.site, "EnQue: the tensor is still in its queue (%s) when the kernel ends; DeQue is missing", position_name(buffer.position));
        fail(buffer.site, "%s: the tensor of the queue (%s) is in use when the kernel ends; %s", buffer.state == BufferState::ALLOCATED ? "AllocTensor" : "DeQue",
             position_name(buffer.position), buffer.state == BufferState::ALLOCATED ? "EnQue or FreeTensor is missing" : "FreeTensor is missing");
    }
    const Site end{"kernel", 0};
    for (int kind = 0; self.events_used && kind < static_cast<int>(AscendC::HardEvent::MAX); kind++)
        for (int id = 0; id < 8; id++)
            if (self.events[kind][id])
                fail(self.event_sites[kind][id], "SetFlag: event %d is still set when the kernel ends; WaitFlag is missing", id);
    if (self.registers.atomic != AtomicOperation::NONE)
        fail(end, "the kernel ends with atomic copies switched on, which the next kernel would have; SetAtomicNone is missing");
    if (self.registers.counts) fail(end, "the kernel ends with a mask that counts elements, which the next kernel would have; SetMaskNorm is missing");
#endif
}

} // namespace ascendc
} // namespace jumar

#endif
