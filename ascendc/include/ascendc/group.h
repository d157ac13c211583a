// The cores of a launch, or of one block, that wait for each other.
#ifndef JUMAR_ASCENDC_GROUP_H
#define JUMAR_ASCENDC_GROUP_H

#include <functional>
#include <vector>

#include "core.h"

namespace jumar {
namespace ascendc {

struct Barrier {
    uint32_t arrived = 0;
    uint64_t rounds = 0;
};

// A flag between cores: how often each core has set it in each mode, and how many waits of each core it lets pass.
struct CrossCoreFlag {
    std::vector<uint32_t> set[3];
    std::vector<uint32_t> delivered[3];
    std::vector<uint32_t> pending;
};

class Group {
public:
    static constexpr uint32_t FLAGS = 16;
    static constexpr uint32_t MOST_SETS = 15;

    // The blocks from `first` on, each on the cores of the layout. `total` is the launch's number of blocks.
    Group(uint32_t first, uint32_t count, uint32_t total, CoreLayout layout) : blocks(count), first_(first), total_(total), layout_(layout)
    {
        const uint32_t cores = count * layout.cores();
        for (CrossCoreFlag& flag : flags) {
            for (auto& mode : flag.set) mode.resize(cores);
            for (auto& mode : flag.delivered) mode.resize(cores);
            flag.pending.resize(cores);
        }
    }

    // The number of a core among all of the group.
    uint32_t index(const Core& core) const
    {
        const uint32_t in_block = core.type == AscendC::AIC ? 0 : (layout_.has_cube ? 1 : 0) + core.sub_block;
        return (core.block - first_) * layout_.cores() + in_block;
    }

    // Fails if the group has only some of the launch's blocks.
    void need_all_blocks(const char* call, Site site) const
    {
        if (blocks != total_) fail(site, "%s: the kernel was not compiled as one whose blocks wait for each other (docs/ascendc.md)", call);
#if JUMAR_ASCENDC_CHECK
        const DeviceFacts& device = core().device;
        if (!device.count_cores) return;
        const uint32_t each = layout_.has_cube ? 1 : layout_.vectors;
        const uint32_t there = device.count_cores(layout_.has_cube ? AscendC::AIC : AscendC::AIV);
        if (there && blocks * each > there)
            fail(site, "%s: %u blocks wait for each other, and the device has %u %s cores, so that a card would wait forever", call, blocks, there,
                 layout_.has_cube ? "cube" : "vector");
#endif
    }

    // Mode 0 releases all cores of the caller's kind when each has set the flag, mode 1 the vector cores of a block when each has,
    // and mode 2 the vector cores of a block when the cube core has, and the cube core when they all have.
    void set_flag(const Core& self, uint8_t mode, uint16_t number, Site site)
    {
        CrossCoreFlag& flag = flags[number];
        const uint32_t cores = layout_.cores(), own = index(self), pair = own / cores * cores, cubes = layout_.has_cube ? 1 : 0;
        if (mode == 0) need_all_blocks("CrossCoreSetFlag", site);
        if (mode == 1 && self.type == AscendC::AIC) fail(site, "CrossCoreSetFlag: mode 1 is one of vector cores, and this is a cube core");
        if (mode == 2 && (cubes == 0 || layout_.vectors == 0))
            fail(site, "CrossCoreSetFlag: mode 2 needs cube and vector cores, as with KERNEL_TYPE_MIX_AIC_1_2; the kernel has %s cores alone",
                 cubes ? "cube" : "vector");
        if (mode == 2 && self.type == AscendC::AIC) {
            for (uint32_t vector = 0; vector < layout_.vectors; vector++) deliver(flag, pair + 1 + vector, number, site);
            return;
        }
        if (++flag.set[mode][own] - flag.delivered[mode][own] > MOST_SETS) too_often(number, site);
        // The cores that have to set the flag, and those that it releases.
        const uint32_t begin = mode == 0 ? 0 : pair, end = mode == 0 ? blocks * cores : pair + cores;
        auto is_setter = [&](uint32_t core) { return ((core % cores) < cubes) == (self.type == AscendC::AIC); };
        for (uint32_t core = begin; core < end; core++)
            if (is_setter(core) && flag.set[mode][core] <= flag.delivered[mode][core]) return;
        for (uint32_t core = begin; core < end; core++) {
            if (!is_setter(core)) continue;
            flag.delivered[mode][core]++;
            if (mode != 2) deliver(flag, core, number, site);
        }
        if (mode == 2) deliver(flag, pair, number, site);
    }

    uint32_t blocks;
    Barrier barriers[3];
    CrossCoreFlag flags[FLAGS];
    std::vector<uint32_t> events_set;
    bool deadlock = false;
    // The blocks start again with other cores; suspended ones end.
    bool abandoned = false;

private:
    static void deliver(CrossCoreFlag& flag, uint32_t core, uint16_t number, Site site)
    {
        if (++flag.pending[core] > MOST_SETS) too_often(number, site);
    }
    [[noreturn]] static void too_often(uint16_t number, Site site)
    {
        fail(site, "CrossCoreSetFlag: flag %u was set more than %u times without a wait", number, MOST_SETS);
    }

    uint32_t first_;
    uint32_t total_;
    CoreLayout layout_;
};

// A core with a stack of its own. It suspends itself until a condition holds.
struct Fiber {
    Group* group = nullptr;
    std::function<bool()> condition;
    void (*suspend)(Fiber*) = nullptr;
    void* owner = nullptr;
};

// Ends a suspended core whose blocks start again.
struct Abandoned {};

inline Group* group_of(Core& self, const char* call, Site site)
{
    self.complete_all();
    if (self.fiber) return static_cast<Fiber*>(self.fiber)->group;
    if (self.blocks == 1) return nullptr;
    fail(site, "%s: the kernel was not compiled as one whose blocks wait for each other (docs/ascendc.md)", call);
}

template <typename Condition> inline void wait_until(Core& self, const char* call, Site site, Condition condition)
{
    Fiber* fiber = static_cast<Fiber*>(self.fiber);
    if (condition()) return;
    fiber->condition = condition;
    fiber->suspend(fiber);
    fiber->condition = nullptr;
    if (fiber->group->abandoned) throw Abandoned{};
    if (fiber->group->deadlock && !condition()) fail(site, "%s waits for blocks that have ended or wait themselves: a deadlock", call);
}

} // namespace ascendc
} // namespace jumar

#endif
