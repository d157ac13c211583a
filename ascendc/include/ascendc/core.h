// The core that runs a block: its number, its local memories, its registers, and how a block fails.
#ifndef JUMAR_ASCENDC_CORE_H
#define JUMAR_ASCENDC_CORE_H

#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "constants.h"
#include "jumar/kernel.h"

namespace AscendC {
class TPipe;
}

namespace jumar {
namespace ascendc {

// A source location of the kernel. As a default argument it is the location of the outermost call.
struct Site {
    const char* file;
    int line;

    static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return Site{file, line}; }
    const char* name() const
    {
        const char* slash = std::strrchr(file, '/');
        return slash ? slash + 1 : file;
    }
};

// Ends a block. The runtime reports the text with the kernel's name and the block.
struct Failure {
    char text[240];
};

[[noreturn]] __attribute__((format(printf, 2, 3), cold)) inline void fail(Site site, const char* format, ...)
{
    Failure failure;
    int length = std::snprintf(failure.text, sizeof failure.text, "%s:%d: ", site.name(), site.line);
    if (length < 0 || length > 100) length = 0;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(failure.text + length, sizeof failure.text - static_cast<size_t>(length), format, arguments);
    va_end(arguments);
    throw failure;
}

enum Memory : uint8_t { MEMORY_UB, MEMORY_L1, MEMORY_L0A, MEMORY_L0B, MEMORY_L0C, MEMORY_BIAS, MEMORY_FIXPIPE, MEMORY_COUNT };

struct MemoryInfo {
    const char* name;
    uint64_t bytes;
    uint32_t alignment;
};

inline const MemoryInfo& memory_info(Memory memory)
{
    static const MemoryInfo all[MEMORY_COUNT] = {
        {"UB", AscendC::ASC_UB_SIZE, 32},     {"L1", AscendC::ASC_L1_SIZE, 32},    {"L0A", AscendC::ASC_L0A_SIZE, 512}, {"L0B", AscendC::ASC_L0B_SIZE, 512},
        {"L0C", AscendC::ASC_L0C_SIZE, 64},   {"the bias table", AscendC::ASC_BT_SIZE, 64}, {"the fixpipe buffer", 2048, 64},
    };
    return all[memory];
}

constexpr Memory memory_of(AscendC::TPosition position)
{
    using AscendC::TPosition;
    switch (position) {
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
    case TPosition::TSCM:
    case TPosition::SPM: return MEMORY_L1;
    case TPosition::A2: return MEMORY_L0A;
    case TPosition::B2: return MEMORY_L0B;
    case TPosition::CO1: return MEMORY_L0C;
    case TPosition::C2: return MEMORY_BIAS;
    case TPosition::C2PIPE2GM:
    case TPosition::C2PIPE2LOCAL: return MEMORY_FIXPIPE;
    default: return MEMORY_UB;
    }
}

inline const char* position_name(AscendC::TPosition position)
{
    using AscendC::TPosition;
    switch (position) {
    case TPosition::GM: return "GM";
    case TPosition::VECIN: return "VECIN";
    case TPosition::VECOUT: return "VECOUT";
    case TPosition::VECCALC: return "VECCALC";
    default: return memory_info(memory_of(position)).name;
    }
}

enum class BufferState : uint8_t { FREE, ALLOCATED, QUEUED, TAKEN, PLAIN, DEAD };

// For each pipe the last instruction that has ended.
struct PipeClock {
    static constexpr int PIPES = 11;
    uint32_t ended[PIPES] = {};
};

// A buffer of local memory. A tensor knows its buffer, and the generation of the buffer at that time.
struct Buffer {
    uint8_t* begin = nullptr;
    uint32_t bytes = 0;
    uint32_t generation = 0;
    BufferState state = BufferState::PLAIN;
    AscendC::TPosition position = AscendC::TPosition::VECCALC;
    const void* queue = nullptr;
    // Whether it is that of a tensor at a fixed address.
    bool is_fixed = false;
    // What the next user of the buffer waits for.
    PipeClock clock;
    // The last call of the queue for this buffer.
    Site site{"kernel", 0};
    // A copy from global memory that is not done yet (deferred.h), and whether there may be one.
    const uint8_t* source = nullptr;
    uint32_t source_bytes = 0;
    bool may_defer = false;
};

// A local memory. It is allocated when a kernel uses it first, and stays with its thread.
class LocalMemory {
public:
    LocalMemory() = default;
    LocalMemory(const LocalMemory&) = delete;
    LocalMemory& operator=(const LocalMemory&) = delete;
    ~LocalMemory() { std::free(base_); }

    uint8_t* base(Memory memory)
    {
        if (!base_) {
            size_t bytes = (memory_info(memory).bytes + 1023) / 512 * 512;
            base_ = static_cast<uint8_t*>(std::aligned_alloc(512, bytes));
            if (!base_) std::abort();
            std::memset(base_, 0xa5, bytes);
        }
        return base_;
    }
    bool is_made() const { return base_ != nullptr; }
    uint64_t used = 0;

private:
    uint8_t* base_ = nullptr;
};

// The cores that run a block of a kernel: a cube core, vector cores, or both.
struct CoreLayout {
    bool has_cube;
    uint8_t vectors;

    uint32_t cores() const { return (has_cube ? 1u : 0u) + vectors; }
    bool operator==(const CoreLayout& other) const { return has_cube == other.has_cube && vectors == other.vectors; }
};

// What decided on a kernel's layout. A later one overrides an earlier one.
enum class LayoutSource : uint8_t { UNKNOWN, USE, KERNEL_TYPE, KERNEL_TYPE_OF_KEY };

// Ends a block whose kernel needs other cores than the block was started with. The blocks start again with these cores.
struct LayoutFound {
    CoreLayout layout;
    LayoutSource source;
};

// Ends the block of a cube core whose vector cores compute matrix products where they call them.
struct Served {};

enum class AtomicOperation : uint8_t { NONE, ADD, MAX, MIN };

// The registers of a cube core.
struct Cube {
    uint64_t padding = 0;
    uint64_t quantisation = 0;
    const uint64_t* quantisations = nullptr;
    bool relu = false;
    uint16_t matrices = 1;
    uint16_t source_stride = 0;
    uint32_t target_stride = 0;
    uint16_t map_height[2] = {0, 0};
    uint16_t map_width[2] = {0, 0};
    uint8_t map_padding[2][4] = {};
};

// The registers of a core. A block begins with these values.
struct Registers {
    uint64_t mask[2] = {~uint64_t(0), ~uint64_t(0)};
    bool counts = false;
    AtomicOperation atomic = AtomicOperation::NONE;
    float deq_scale = 1;
    uint64_t compare[2] = {0, 0};
    int64_t control = 0;
    double sum = 0;
    double extreme = 0;
    uint64_t extreme_index = 0;
    uint16_t merged[4] = {0, 0, 0, 0};
    uint64_t pad_value = 0;
    bool has_pad_value = false;
    uint64_t kept = 0;
    Cube cube;
};

class PipeOrder;
class GlobalOrder;

// What checks ask about the device that a kernel runs on. A kernel without a stream has none of it, or what a test allocated.
struct DeviceFacts {
    // Finds the memory that holds an address.
    bool (*find_memory)(const void* address, jumar_memory_extent* found) = nullptr;
    // How many cores of a kind the device has. 0: unknown.
    uint32_t (*count_cores)(AscendC::CoreType type) = nullptr;
};

// A fault of a block, and where the block is left.
struct Fault {
    sigjmp_buf left;
    int32_t signal = 0;
    uint64_t address = 0;
};

struct Core {
    uint32_t block = 0;
    uint32_t blocks = 1;
    CoreLayout layout{false, 1};
    LayoutSource layout_source = LayoutSource::UNKNOWN;
    AscendC::CoreType type = AscendC::AIV;
    // The number of a vector core among those of its block.
    uint32_t sub_block = 0;
    bool waits_with_others = false;
    const char* kernel = "";
    AscendC::TPipe* pipe = nullptr;
    uint8_t* workspace = nullptr;
    // The tiling data and the key of a custom operator's launch.
    bool has_tiling = false;
    uint64_t tiling_key = 0;
    const void* tiling = nullptr;
    uint64_t tiling_bytes = 0;
    // How often the block has waited for its turn.
    uint32_t rounds = 0;
    LocalMemory memories[MEMORY_COUNT];
    std::deque<Buffer> buffers;
    // Buffers whose copies are not done yet.
    static constexpr uint32_t MOST_DEFERRED = 8;
    Buffer* deferred[MOST_DEFERRED] = {};
    uint32_t deferred_count = 0;
    bool may_defer = true;
    // Where the last copy to global memory ended, and the bytes of copies that follow each other up to there.
    const uint8_t* written_end = nullptr;
    uint64_t written = 0;
    Registers registers;
    uint8_t events[static_cast<int>(AscendC::HardEvent::MAX)][8] = {};
    // Where the events were set.
    Site event_sites[static_cast<int>(AscendC::HardEvent::MAX)][8] = {};
    uint8_t reserved_events[static_cast<int>(AscendC::HardEvent::MAX)] = {};
    bool events_used = false;
    // Indices of the sparse matrix in L0B: two bits for each byte (sparse.h).
    std::vector<uint8_t> sparse_indices;
    // For JUMAR_ASCENDC_CHECK=2 (order.h).
    std::shared_ptr<PipeOrder> order;
    GlobalOrder* global = nullptr;
    bool is_new_block = true;
    // Suspends the block until the condition holds. Set for kernels whose blocks wait for each other.
    void* fiber = nullptr;
    DeviceFacts device;
    // The memory that this call of the kernel has looked up.
    static constexpr uint32_t MOST_KNOWN = 8;
    jumar_memory_extent known[MOST_KNOWN] = {};
    uint32_t known_next = 0;
    // Where a fault of the block leads, and the last call of a function that had its operands checked.
    Fault* fault = nullptr;
    Site last_call{nullptr, 0};

    // Takes what is known of the device at the start of a call of the kernel: memory may have been freed since the last one.
    void start(const DeviceFacts& facts)
    {
        device = facts;
        known_next = 0;
        for (jumar_memory_extent& one : known) one = {};
    }

    // Starts a block on core `index` of the layout. The cube core is the first one.
    void begin(uint32_t number, uint32_t count, const LayoutFound& found = {{false, 1}, LayoutSource::UNKNOWN}, uint32_t index = 0)
    {
        block = number;
        blocks = count;
        layout = found.layout;
        layout_source = found.source;
        type = layout.has_cube && index == 0 ? AscendC::AIC : AscendC::AIV;
        sub_block = type == AscendC::AIV ? index - (layout.has_cube ? 1 : 0) : 0;
        pipe = nullptr;
        workspace = nullptr;
        has_tiling = false;
        rounds = 0;
        is_new_block = true;
        last_call = Site{nullptr, 0};
        global = nullptr;
        for (auto& memory : memories) memory.used = 0;
        buffers.clear();
        deferred_count = 0;
        may_defer = true;
        registers = Registers();
        sparse_indices.clear();
        if (events_used) {
            std::memset(events, 0, sizeof events);
            std::memset(reserved_events, 0, sizeof reserved_events);
            events_used = false;
        }
    }

    // Takes the next bytes of a local memory and fills them with 0xa5.
    Buffer* allocate(AscendC::TPosition position, uint64_t bytes, Site site)
    {
        Memory memory = memory_of(position);
        const MemoryInfo& info = memory_info(memory);
        LocalMemory& local = memories[memory];
        uint64_t begin = (local.used + info.alignment - 1) / info.alignment * info.alignment;
        if (begin + bytes > info.bytes)
            fail(site, "%llu more bytes do not fit into %s, where %llu of %llu bytes are in use", static_cast<unsigned long long>(bytes), info.name,
                 static_cast<unsigned long long>(begin), static_cast<unsigned long long>(info.bytes));
        local.used = begin + bytes;
        return add(position, local.base(memory) + begin, bytes);
    }

    Buffer* add(AscendC::TPosition position, uint8_t* begin, uint64_t bytes)
    {
        complete_all();
        std::memset(begin, 0xa5, bytes);
        buffers.emplace_back();
        Buffer& buffer = buffers.back();
        buffer.begin = begin;
        buffer.bytes = static_cast<uint32_t>(bytes);
        buffer.position = position;
        return &buffer;
    }

    // Does the copies that were deferred.
    void complete_all()
    {
        while (deferred_count > 0) {
            Buffer& buffer = *deferred[--deferred_count];
            std::memcpy(buffer.begin, buffer.source, buffer.source_bytes);
            buffer.source = nullptr;
        }
    }
};

// The core whose block the calling thread runs; null outside of kernels.
JUMAR_OF_OBJECT __thread Core* current_core;

// Whether a kernel of the object prints (print.h). A launch waits for the output then (launch.h).
JUMAR_OF_OBJECT bool object_prints;

inline bool in_kernel()
{
    return current_core != nullptr;
}

inline Core& core()
{
    if (!current_core) {
        std::fputs("jumar: a function of Ascend C was called outside of a kernel\n", stderr);
        std::abort();
    }
    return *current_core;
}

// Returns the memory of the device that holds an address; null if there is none or no check is made.
inline const jumar_memory_extent* memory_at([[maybe_unused]] const void* address)
{
#if JUMAR_ASCENDC_CHECK
    if (!in_kernel() || !address || !core().device.find_memory) return nullptr;
    Core& self = core();
    const uint64_t at = reinterpret_cast<uintptr_t>(address);
    for (const jumar_memory_extent& one : self.known)
        if (at >= one.begin && at < one.end) return &one;
    jumar_memory_extent found{};
    if (!self.device.find_memory(address, &found)) return nullptr;
    jumar_memory_extent& kept = self.known[self.known_next++ % Core::MOST_KNOWN];
    kept = found;
    return &kept;
#else
    return nullptr;
#endif
}

inline AscendC::CoreType core_type()
{
    return core().type;
}

// The block's number on this core: vector cores count on over all blocks.
inline uint32_t block_index(const Core& self)
{
    return self.type == AscendC::AIV ? self.block * self.layout.vectors + self.sub_block : self.block;
}

// Selects the cores that run the kernel. The block starts again if it runs on others.
inline void use_layout(CoreLayout layout, LayoutSource source)
{
    Core& self = core();
    if (self.layout_source > source) return;
    if (self.layout == layout) {
        self.layout_source = source;
        return;
    }
    if (self.layout_source < source) throw LayoutFound{layout, source};
}

constexpr CoreLayout layout_of(AscendC::KernelMetaType type)
{
    using namespace AscendC;
#if JUMAR_ASCENDC_CHIP != 2002
    switch (type) {
    case KERNEL_TYPE_AIC_ONLY:
    case KERNEL_TYPE_MIX_AIC_1_0: return {true, 0};
    case KERNEL_TYPE_MIX_AIC_1_1: return {true, 1};
    case KERNEL_TYPE_MIX_AIC_1_2: return {true, 2};
    default: break;
    }
#else
    static_cast<void>(type);
#endif
    return {false, 1};
}

// What KERNEL_TASK_TYPE_DEFAULT and KERNEL_TASK_TYPE become.
inline void kernel_type(AscendC::KernelMetaType type)
{
    if (in_kernel()) use_layout(layout_of(type), LayoutSource::KERNEL_TYPE);
}
inline void kernel_type_of_key(bool is_key, AscendC::KernelMetaType type)
{
    if (is_key && in_kernel()) use_layout(layout_of(type), LayoutSource::KERNEL_TYPE_OF_KEY);
}

// What the rewriter puts in front of a kernel's body for __mix__, __cube__ and __vector__.
inline void kernel_cores(int cubes, int vectors)
{
#if JUMAR_ASCENDC_CHIP != 2002
    if (in_kernel()) use_layout({cubes > 0, static_cast<uint8_t>(vectors)}, LayoutSource::KERNEL_TYPE);
#else
    static_cast<void>(cubes);
    static_cast<void>(vectors);
#endif
}

// What it puts in front of a kernel without a type that calls functions of cube cores and asks for the kind of core.
inline void kernel_uses_both()
{
    if (in_kernel()) use_layout(layout_of(AscendC::KERNEL_TYPE_MIX_AIC_1_2), LayoutSource::USE);
}

// Fails on a vector core. A kernel that has no type starts again on cube cores; 310P has one kind of core.
inline void need_cube([[maybe_unused]] const char* call, [[maybe_unused]] Site site)
{
#if JUMAR_ASCENDC_CHIP != 2002
    Core& self = core();
    if (self.type == AscendC::AIC) return;
    if (!self.layout.has_cube) throw LayoutFound{{true, 0}, LayoutSource::KERNEL_TYPE_OF_KEY};
    fail(site, "%s runs on cube cores, and this is a vector core; ASCEND_IS_AIC selects the code of the cube core", call);
#endif
}

// What the rewriter makes of the C library's function for assertions that failed.
[[noreturn]] inline void assertion_failed(const char* condition, const char* file, unsigned line, const char* function)
{
    if (!in_kernel()) {
        std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, condition);
        std::abort();
    }
    fail(Site{file, static_cast<int>(line)}, "assertion \"%s\" failed", condition);
}

// What asm("trap") becomes.
[[noreturn]] inline void trap(Site site = Site::here())
{
    fail(site, "trap");
}

} // namespace ascendc
} // namespace jumar

#endif
