// Arrays of local memory that a kernel declares: __ubuf__ float x[256]. The rewriter makes objects of this class of them.
#ifndef JUMAR_ASCENDC_LOCAL_ARRAY_H
#define JUMAR_ASCENDC_LOCAL_ARRAY_H

#include "tensor.h"

namespace jumar {
namespace ascendc {

constexpr AscendC::TPosition position_of(Memory memory)
{
    using AscendC::TPosition;
    switch (memory) {
    case MEMORY_L1: return TPosition::A1;
    case MEMORY_L0A: return TPosition::A2;
    case MEMORY_L0B: return TPosition::B2;
    case MEMORY_L0C: return TPosition::CO1;
    case MEMORY_BIAS: return TPosition::C2;
    case MEMORY_FIXPIPE: return TPosition::C2PIPE2GM;
    default: return TPosition::VECCALC;
    }
}

// Takes memory for an array until the end of its scope.
template <Memory memory, typename Array> class LocalArray {
public:
    explicit LocalArray(Site site = Site::here()) : used_(core().memories[memory].used), buffer_(core().allocate(position_of(memory), sizeof(Array), site))
    {
        if (PipeOrder* order = pipe_order(core())) order->forget(core(), *buffer_);
    }
    LocalArray(const LocalArray&) = delete;
    LocalArray& operator=(const LocalArray&) = delete;
    ~LocalArray()
    {
        Core& self = core();
        // What was taken after the array and is still there stays where it is.
        const uint64_t end = static_cast<uint64_t>(buffer_->begin - self.memories[memory].base(memory)) + sizeof(Array);
        if (self.memories[memory].used == end) self.memories[memory].used = used_;
        if (&self.buffers.back() == buffer_) self.buffers.pop_back();
        else buffer_->bytes = 0;
    }

    Array& get() const { return *reinterpret_cast<Array*>(buffer_->begin); }

private:
    uint64_t used_;
    Buffer* buffer_;
};

} // namespace ascendc
} // namespace jumar

#endif
