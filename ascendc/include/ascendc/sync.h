// Events, barriers, block numbers, workspaces, and waiting between blocks.
#ifndef JUMAR_ASCENDC_SYNC_H
#define JUMAR_ASCENDC_SYNC_H

#include "copy.h"
#include "group.h"
#include "pipe.h"
#include "vector.h"

namespace jumar {
namespace ascendc {

inline int event_index(AscendC::HardEvent event)
{
    return static_cast<int>(event);
}

// The pipes of each kind of event, in the order of HardEvent.
struct EventPipes {
    pipe_t from, to;
};
// clang-format off
inline constexpr EventPipes EVENT_PIPES[] = {
    {PIPE_MTE2, PIPE_MTE1}, {PIPE_MTE1, PIPE_MTE2}, {PIPE_MTE1, PIPE_M}, {PIPE_M, PIPE_MTE1}, {PIPE_MTE2, PIPE_V}, {PIPE_V, PIPE_MTE2},
    {PIPE_MTE3, PIPE_V}, {PIPE_V, PIPE_MTE3}, {PIPE_M, PIPE_V}, {PIPE_V, PIPE_M}, {PIPE_V, PIPE_V}, {PIPE_MTE3, PIPE_MTE1}, {PIPE_MTE1, PIPE_MTE3},
    {PIPE_MTE1, PIPE_V}, {PIPE_MTE2, PIPE_M}, {PIPE_M, PIPE_MTE2}, {PIPE_V, PIPE_MTE1}, {PIPE_M, PIPE_FIX}, {PIPE_FIX, PIPE_M},
    {PIPE_MTE3, PIPE_MTE2}, {PIPE_MTE2, PIPE_MTE3}, {PIPE_S, PIPE_V}, {PIPE_V, PIPE_S}, {PIPE_S, PIPE_MTE2}, {PIPE_MTE2, PIPE_S},
    {PIPE_S, PIPE_MTE3}, {PIPE_MTE3, PIPE_S}, {PIPE_MTE2, PIPE_FIX}, {PIPE_FIX, PIPE_MTE2}, {PIPE_FIX, PIPE_S}, {PIPE_M, PIPE_S},
    {PIPE_FIX, PIPE_MTE3}, {PIPE_MTE1, PIPE_FIX}, {PIPE_FIX, PIPE_MTE1}, {PIPE_FIX, PIPE_FIX}, {PIPE_FIX, PIPE_V}, {PIPE_S, PIPE_FIX},
    {PIPE_S, PIPE_M},
};
// clang-format on
static_assert(sizeof EVENT_PIPES / sizeof EVENT_PIPES[0] == static_cast<size_t>(AscendC::HardEvent::MAX));

inline EventPipes event_pipes(int kind)
{
    return EVENT_PIPES[kind];
}

inline void set_event(int kind, int32_t id, const char* call, Site site)
{
    Core& self = core();
    if (id < 0 || id > 7) fail(site, "%s: the event's number is %d; it has to be 0 to 7", call, id);
    self.complete_all();
    self.events_used = true;
    uint8_t& set = self.events[kind][id];
    if (set) fail(site, "%s: event %d is set already; WaitFlag is missing", call, id);
    set = 1;
    self.event_sites[kind][id] = site;
    if (PipeOrder* order = pipe_order(self)) order->set_event(kind, id, event_pipes(kind).from);
}
inline void wait_event(int kind, int32_t id, const char* call, Site site)
{
    Core& self = core();
    if (id < 0 || id > 7) fail(site, "%s: the event's number is %d; it has to be 0 to 7", call, id);
    self.complete_all();
    uint8_t& set = self.events[kind][id];
    if (!set) fail(site, "%s: event %d was not set; a card would wait for ever", call, id);
    set = 0;
    if (PipeOrder* order = pipe_order(self)) order->wait_event(kind, id, event_pipes(kind).to);
}

// The number of an event kind by its pipes, for the intrinsics.
inline int event_of_pipes(pipe_t from, pipe_t to, Site site)
{
    for (int kind = 0; kind < event_index(AscendC::HardEvent::MAX); kind++)
        if (EVENT_PIPES[kind].from == from && EVENT_PIPES[kind].to == to) return kind;
    fail(site, "set_flag: there is no event from pipe %d to pipe %d", static_cast<int>(from), static_cast<int>(to));
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

inline int64_t GetBlockIdx()
{
    return jumar::ascendc::block_index(jumar::ascendc::core());
}
inline int64_t GetBlockNum()
{
    return jumar::ascendc::core().blocks;
}
inline int64_t GetSubBlockIdx()
{
    return jumar::ascendc::core().sub_block;
}
// The vector cores of a block.
inline int64_t GetSubBlockNum()
{
    const jumar::ascendc::CoreLayout& layout = jumar::ascendc::core().layout;
    return layout.vectors ? layout.vectors : 1;
}
inline int64_t GetTaskRatio()
{
    return jumar::ascendc::core().type == AIV ? GetSubBlockNum() : 1;
}
inline int64_t GetTaskRation()
{
    return GetTaskRatio();
}
inline constexpr int32_t GetDataBlockSizeInBytes()
{
    return 32;
}
inline int64_t GetSystemCycle()
{
#if defined(__x86_64__)
    return static_cast<int64_t>(__builtin_ia32_rdtsc());
#else
    int64_t cycles;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(cycles));
    return cycles;
#endif
}

// A block runs its instructions in order, so a barrier has nothing to wait for. The check of order takes note.
template <pipe_t pipe> void PipeBarrier()
{
    using namespace jumar::ascendc;
    complete_all();
    if (PipeOrder* order = pipe_order(core())) order->barrier(pipe);
}
template <HardEvent event> void SetFlag(int32_t eventID, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::set_event(jumar::ascendc::event_index(event), eventID, "SetFlag", site);
}
template <HardEvent event> void WaitFlag(int32_t eventID, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::wait_event(jumar::ascendc::event_index(event), eventID, "WaitFlag", site);
}
template <pipe_t from, pipe_t to> class TQueSync {
public:
    void SetFlag(TEventID id, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        jumar::ascendc::set_event(jumar::ascendc::event_of_pipes(from, to, site), id, "TQueSync::SetFlag", site);
    }
    void WaitFlag(TEventID id, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        jumar::ascendc::wait_event(jumar::ascendc::event_of_pipes(from, to, site), id, "TQueSync::WaitFlag", site);
    }
};
template <MemDsbT scope> void DataSyncBarrier()
{
    jumar::ascendc::complete_all();
}
// Memory is coherent here: what the scalar unit stores is visible at once.
template <typename TypeT, CacheLine line, DcciDst target> void DataCacheCleanAndInvalid(const GlobalTensor<TypeT>& tensor)
{
    jumar::ascendc::record_cache_clean(tensor.raw(), line == CacheLine::ENTIRE_DATA_CACHE);
}
template <typename TypeT, CacheLine line, DcciDst target> void DataCacheCleanAndInvalid(const LocalTensor<TypeT>&) {}
template <typename TypeT, CacheLine line> void DataCacheCleanAndInvalid(const GlobalTensor<TypeT>& tensor)
{
    jumar::ascendc::record_cache_clean(tensor.raw(), line == CacheLine::ENTIRE_DATA_CACHE);
}
inline void ICachePreLoad(const int64_t) {}

inline void InitSocState()
{
    jumar::ascendc::core().registers = jumar::ascendc::Registers();
}
template <int8_t first, int8_t last> void SetCtrlSpr(int64_t value)
{
    constexpr uint64_t width = static_cast<uint64_t>(last - first + 1);
    constexpr uint64_t bits = (width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1) << first;
    int64_t& control = jumar::ascendc::core().registers.control;
    control = static_cast<int64_t>((static_cast<uint64_t>(control) & ~bits) | (static_cast<uint64_t>(value) << first & bits));
}
template <int8_t first, int8_t last> int64_t GetCtrlSpr()
{
    constexpr uint64_t width = static_cast<uint64_t>(last - first + 1);
    constexpr uint64_t bits = width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
    return static_cast<int64_t>(static_cast<uint64_t>(jumar::ascendc::core().registers.control) >> first & bits);
}

[[noreturn]] inline void Trap(jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::fail(site, "Trap");
}

// All cores of a kind, or all cores, wait for one another.
template <bool isAIVOnly = true> void SyncAll(jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Core& self = core();
    if (!isAIVOnly && self.layout_source == LayoutSource::UNKNOWN) use_layout(layout_of(KERNEL_TYPE_MIX_AIC_1_2), LayoutSource::USE);
    Group* group = group_of(self, "SyncAll", site);
    if (!group) return;
    group->need_all_blocks("SyncAll", site);
    Barrier& barrier = group->barriers[isAIVOnly ? (self.type == AIC ? 0 : 1) : 2];
    const uint32_t each = isAIVOnly ? (self.type == AIC ? 1 : self.layout.vectors) : self.layout.cores();
    const uint64_t round = barrier.rounds;
    if (++barrier.arrived == group->blocks * each) {
        barrier.arrived = 0;
        barrier.rounds++;
        order_blocks(self);
        return;
    }
    const Barrier* waiting = &barrier;
    wait_until(self, "SyncAll", site, [waiting, round] { return waiting->rounds != round; });
    // The last block to arrive has cleared what the blocks wrote before.
    if (PipeOrder* order = pipe_order(self)) order->barrier(PIPE_ALL);
}
template <bool isAIVOnly = true>
void SyncAll(const GlobalTensor<int32_t>&, const LocalTensor<int32_t>&, const int32_t = 0, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    SyncAll<isAIVOnly>(site);
}
template <uint8_t modeId, pipe_t pipe> void CrossCoreSetFlag(uint16_t flagId, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(modeId <= 2, "CrossCoreSetFlag has modes 0, 1 and 2 on 910B; mode 4 is one of the 950 (docs/ascendc.md)");
    Core& self = core();
    if (flagId > 15) fail(site, "CrossCoreSetFlag: the flag is %u; it has to be 0 to 15", flagId);
    if (modeId == 2 && self.layout_source == LayoutSource::UNKNOWN) use_layout(layout_of(KERNEL_TYPE_MIX_AIC_1_2), LayoutSource::USE);
    Group* group = group_of(self, "CrossCoreSetFlag", site);
    if (!group) return;
    group->set_flag(self, modeId, flagId, site);
}
// The flag's counter does not depend on the mode of the set.
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S> void CrossCoreWaitFlag(uint16_t flagId, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Core& self = core();
    if (flagId > 15) fail(site, "CrossCoreWaitFlag: the flag is %u; it has to be 0 to 15", flagId);
    Group* group = group_of(self, "CrossCoreWaitFlag", site);
    if (!group) return;
    uint32_t* pending = &group->flags[flagId].pending[group->index(self)];
    wait_until(self, "CrossCoreWaitFlag", site, [pending] { return *pending > 0; });
    --*pending;
    order_blocks(self);
}
// Block by block: IBWait waits for the IBSet of another block.
template <bool isAIVOnly = true>
void IBSet(const GlobalTensor<int32_t>&, const LocalTensor<int32_t>&, int32_t blockIdx, int32_t eventID,
           jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Core& self = core();
    Group* group = group_of(self, "IBSet", site);
    if (!group) return;
    group->need_all_blocks("IBSet", site);
    const size_t at = static_cast<size_t>(eventID) * group->blocks + static_cast<size_t>(blockIdx);
    if (blockIdx < 0 || static_cast<uint32_t>(blockIdx) >= group->blocks || eventID < 0 || eventID > 4095)
        fail(site, "IBSet: block %d, event %d; there are %u blocks", blockIdx, eventID, group->blocks);
    if (group->events_set.size() <= at) group->events_set.resize(at + 1);
    group->events_set[at]++;
}
template <bool isAIVOnly = true>
void IBWait(const GlobalTensor<int32_t>&, const LocalTensor<int32_t>&, int32_t blockIdx, int32_t eventID,
            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Core& self = core();
    Group* group = group_of(self, "IBWait", site);
    if (!group) return;
    group->need_all_blocks("IBWait", site);
    const size_t at = static_cast<size_t>(eventID) * group->blocks + static_cast<size_t>(blockIdx);
    if (blockIdx < 0 || static_cast<uint32_t>(blockIdx) >= group->blocks || eventID < 0 || eventID > 4095)
        fail(site, "IBWait: block %d, event %d; there are %u blocks", blockIdx, eventID, group->blocks);
    wait_until(self, "IBWait", site, [group, at] { return group->events_set.size() > at && group->events_set[at] > 0; });
    group->events_set[at]--;
    order_blocks(self);
}

// Blocks in turn: each waits for the one before, and the first one for the last one of the round before.
inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t>&, LocalTensor<int32_t>&)
{
    jumar::ascendc::core().rounds = 0;
}
inline void WaitPreBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Core& self = core();
    const bool is_first = self.block == 0;
    if (self.rounds++ == 0 && is_first) return;
    IBWait(gmWorkspace, ubWorkspace, static_cast<int32_t>(is_first ? self.blocks - 1 : self.block - 1), 4095, site);
}
inline void NotifyNextBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    IBSet(gmWorkspace, ubWorkspace, static_cast<int32_t>(jumar::ascendc::core().block), 4095, site);
}

// The unit that writes a GroupBarrier's messages.
enum class PipeMode : uint8_t { SCALAR_MODE = 0, MTE3_MODE = 1, MAX };

// A group of vector cores, each of which arrives, and a group of which each one waits for all arrivals. The counts are in global memory that
// the program has cleared: 512 bytes for each core that waits.
template <PipeMode pipeMode> class GroupBarrier {
public:
    GroupBarrier(GM_ADDR groupWorkspace, uint32_t arriveSizeIn, uint32_t waitSizeIn, jumar::ascendc::Site site = jumar::ascendc::Site::here())
        : workspace_(groupWorkspace), arriving_(arriveSizeIn), waiting_(waitSizeIn)
    {
        using namespace jumar::ascendc;
        if (pipeMode != PipeMode::MTE3_MODE) fail(site, "GroupBarrier: the mode is not MTE3_MODE, the one that is possible");
        if (!workspace_ || reinterpret_cast<uintptr_t>(workspace_) % LINE != 0)
            fail(site, "GroupBarrier: the workspace begins at %p, and has to begin at a multiple of %u bytes", static_cast<const void*>(workspace_), LINE);
        check_global(workspace_, static_cast<uint64_t>(LINE) * waiting_, "the workspace", Call{"GroupBarrier", site});
    }
    void Arrive(uint32_t arriveIndex, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        using namespace jumar::ascendc;
        need(arriveIndex, arriving_, "GroupBarrier::Arrive", site);
        for (uint32_t at = 0; at < waiting_; at++) atomic_update(line(at), 1, AtomicOperation::ADD);
    }
    void Wait(uint32_t waitIndex, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        using namespace jumar::ascendc;
        need(waitIndex, waiting_, "GroupBarrier::Wait", site);
        const int32_t wanted = static_cast<int32_t>(++rounds_ * arriving_);
        const int32_t* arrived = line(waitIndex);
        Core& self = core();
        if (!self.fiber && *arrived < wanted) fail(site, "GroupBarrier::Wait: the launch has one block, and %d of %d arrivals", *arrived, wanted);
        wait_until(self, "GroupBarrier::Wait", site, [arrived, wanted] { return *static_cast<const volatile int32_t*>(arrived) >= wanted; });
        order_blocks(self);
    }

private:
    static constexpr uint32_t LINE = 512;

    void need(uint32_t index, uint32_t count, const char* call, jumar::ascendc::Site site) const
    {
        using namespace jumar::ascendc;
        if (index >= count) fail(site, "%s: the index is %u, and the group has %u cores", call, index, count);
        if (Group* group = group_of(core(), call, site)) group->need_all_blocks(call, site);
    }
    int32_t* line(uint32_t index) const { return reinterpret_cast<int32_t*>(workspace_ + static_cast<uint64_t>(index) * LINE); }

    GM_ADDR workspace_;
    uint32_t arriving_, waiting_;
    uint32_t rounds_ = 0;
};

// The next kernel of a stream starts when this one has ended.
template <pipe_t vector = PIPE_MTE3, pipe_t cube = PIPE_FIX, bool force = false> void SetNextTaskStart() {}
template <bool force = false> void WaitPreTaskEnd() {}

template <typename TypeT> TypeT ReadGmByPassDCache(__gm__ TypeT* address)
{
    jumar::ascendc::complete_all();
    return *static_cast<volatile TypeT*>(address);
}
template <typename TypeT> void WriteGmByPassDCache(__gm__ TypeT* address, TypeT value)
{
    jumar::ascendc::complete_all();
    *static_cast<volatile TypeT*>(address) = value;
}

// Jumar needs no workspace of its own, so the user's part begins at the start.
inline void SetSysWorkspace(GM_ADDR workspace)
{
    jumar::ascendc::core().workspace = workspace;
}
inline void SetSysWorkspaceForce(GM_ADDR workspace)
{
    SetSysWorkspace(workspace);
}
inline GM_ADDR GetSysWorkSpacePtr()
{
    // Programs test the address; Jumar stores nothing there.
    alignas(512) static uint8_t unused[512];
    GM_ADDR workspace = jumar::ascendc::core().workspace;
    return workspace ? workspace : unused;
}
inline GM_ADDR GetUserWorkspace(GM_ADDR workspace)
{
    return workspace;
}

inline int64_t ScalarCountLeadingZero(uint64_t value)
{
    return value ? __builtin_clzll(value) : 64;
}
inline int64_t CountLeadingZero(uint64_t value)
{
    return ScalarCountLeadingZero(value);
}
template <int bit> int64_t ScalarGetCountOfValue(uint64_t value)
{
    const int64_t ones = __builtin_popcountll(value);
    return bit ? ones : 64 - ones;
}
template <int bit> int64_t GetBitCount(uint64_t value)
{
    return ScalarGetCountOfValue<bit>(value);
}
// The lowest bit that has a value; -1 without one.
template <int bit> int64_t ScalarGetSFFValue(uint64_t value)
{
    const uint64_t wanted = bit ? value : ~value;
    return wanted ? __builtin_ctzll(wanted) : -1;
}
template <int bit> int64_t GetSFFValue(uint64_t value)
{
    return ScalarGetSFFValue<bit>(value);
}

} // namespace AscendC

// The words and intrinsics of the language outside of the namespace.
namespace jumar {
namespace ascendc {
struct BlockIndex {
    operator int64_t() const { return core().block; }
};
struct BlockCount {
    operator int64_t() const { return core().blocks; }
};
#if JUMAR_ASCENDC_PASS == JUMAR_ASCENDC_ALL || JUMAR_ASCENDC_PASS == JUMAR_ASCENDC_HOST
struct CurrentCoreType {
    operator AscendC::CoreType() const { return core_type(); }
};
#else
struct CurrentCoreType {
    constexpr operator AscendC::CoreType() const { return JUMAR_ASCENDC_PASS == JUMAR_ASCENDC_CUBE ? AscendC::AIC : AscendC::AIV; }
};
#endif
} // namespace ascendc
} // namespace jumar
[[maybe_unused]] static const jumar::ascendc::BlockIndex block_idx;
[[maybe_unused]] static const jumar::ascendc::BlockCount block_num;

// The kind of core that runs the code. It is a constant in a pass for one kind of core; otherwise the rewriter makes an ordinary condition
// of "if constexpr" on it.
#if JUMAR_ASCENDC_PASS == JUMAR_ASCENDC_ALL || JUMAR_ASCENDC_PASS == JUMAR_ASCENDC_HOST
[[maybe_unused]] static const jumar::ascendc::CurrentCoreType g_coreType;
#else
[[maybe_unused]] static constexpr jumar::ascendc::CurrentCoreType g_coreType;
#endif
namespace AscendC {
using ::g_coreType;
}
#define ASCEND_IS_AIV (g_coreType == AscendC::AIV)
#define ASCEND_IS_AIC (g_coreType == AscendC::AIC)

inline int64_t get_subblockid()
{
    return AscendC::GetSubBlockIdx();
}
inline int64_t get_subblockdim()
{
    return AscendC::GetSubBlockNum();
}
inline void pipe_barrier(pipe_t pipe)
{
    using namespace jumar::ascendc;
    complete_all();
    if (PipeOrder* order = pipe_order(core())) order->barrier(pipe);
}
template <typename Id> void set_flag(pipe_t from, pipe_t to, Id id, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::set_event(jumar::ascendc::event_of_pipes(from, to, site), static_cast<int32_t>(id), "set_flag", site);
}
template <typename Id> void wait_flag(pipe_t from, pipe_t to, Id id, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::wait_event(jumar::ascendc::event_of_pipes(from, to, site), static_cast<int32_t>(id), "wait_flag", site);
}
// The second argument is 0 for the line of the address, and 1 for all lines.
template <typename TypeT, typename Lines, typename... Arguments> void dcci(TypeT* address, Lines lines, const Arguments&...)
{
    jumar::ascendc::record_cache_clean(address, static_cast<uint64_t>(lines) != 0);
}
inline void set_ffts_base_addr(uint64_t) {}
// Sets a flag between cores: bits 4 and 5 of the value are the mode, bits 8 to 11 the flag.
inline void ffts_cross_core_sync(pipe_t, uint64_t config, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    const uint16_t flag = static_cast<uint16_t>(config >> 8 & 15);
    switch (config >> 4 & 3) {
    case 0: return AscendC::CrossCoreSetFlag<0, PIPE_MTE3>(flag, site);
    case 1: return AscendC::CrossCoreSetFlag<1, PIPE_MTE3>(flag, site);
    case 2: return AscendC::CrossCoreSetFlag<2, PIPE_MTE3>(flag, site);
    default: jumar::ascendc::fail(site, "ffts_cross_core_sync: the value %#llx has mode 3; modes are 0, 1 and 2", static_cast<unsigned long long>(config));
    }
}
inline void wait_flag_dev(uint64_t flag, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    AscendC::CrossCoreWaitFlag(static_cast<uint16_t>(flag), site);
}
inline void set_mask_norm()
{
    AscendC::SetMaskNorm();
}
inline void set_mask_count()
{
    AscendC::SetMaskCount();
}
inline void set_vector_mask(uint64_t high, uint64_t low)
{
    AscendC::SetVectorMask<half>(high, low);
}
// Copies add in the type of their tensors.
inline void set_atomic_add()
{
    AscendC::SetAtomicAdd<float>();
}
inline void set_atomic_none()
{
    AscendC::SetAtomicNone();
}
[[noreturn]] inline void trap(jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::trap(site);
}

using AscendC::GetSysWorkSpacePtr;

#endif
