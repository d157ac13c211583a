// Copies from global memory into the buffers of queues that are not done until a function needs them there: one that reads the first elements of
// such a tensor once reads global memory instead, which saves a pass over the data. Kernels without checks do this.
//
// A kernel cannot see the difference. What it does to the tensor itself completes the copy first: every function of the library but those
// elementwise reads, and each address that is handed out (GetPhyAddr, operator()), after which the buffer's copies are not deferred any more. What
// could change the source completes all copies of the core: writes to global memory, scalar accesses, events, barriers, flags between cores.
// A card needs one of these between a copy and a change of its source as well, since copies run beside the scalar unit. Memory
// that other tensors may share (pools, fixed addresses) is never part of this.
#ifndef JUMAR_ASCENDC_DEFERRED_H
#define JUMAR_ASCENDC_DEFERRED_H

#include "core.h"

namespace jumar {
namespace ascendc {

inline void forget_deferred(Core& self, Buffer& buffer)
{
    buffer.source = nullptr;
    for (uint32_t at = 0; at < self.deferred_count; at++)
        if (self.deferred[at] == &buffer) self.deferred[at--] = self.deferred[--self.deferred_count];
}

// Does the copy into a buffer, if it was deferred.
inline void complete(Buffer* buffer)
{
    if (!buffer || __builtin_expect(!buffer->source, 1)) return;
    std::memcpy(buffer->begin, buffer->source, buffer->source_bytes);
    forget_deferred(core(), *buffer);
}
inline void complete_all()
{
    if (current_core && __builtin_expect(current_core->deferred_count > 0, 0)) current_core->complete_all();
}
// An address of the buffer's memory is known to the kernel from here on.
inline void escape(Buffer* buffer)
{
    if (!buffer) return;
    complete(buffer);
    buffer->may_defer = false;
}

// Small copies are not worth it.
constexpr uint64_t LEAST_DEFERRED = 1024;

// Defers a copy to the start of a buffer. Returns false if it has to be done now.
inline bool defer_copy([[maybe_unused]] Buffer* buffer, [[maybe_unused]] const uint8_t* to, [[maybe_unused]] const uint8_t* from,
                       [[maybe_unused]] uint64_t bytes)
{
#if !JUMAR_ASCENDC_CHECK
    Core& self = core();
    if (!buffer || !buffer->may_defer || !self.may_defer || buffer->state != BufferState::ALLOCATED || to != buffer->begin || bytes < LEAST_DEFERRED ||
        bytes > buffer->bytes || self.deferred_count == Core::MOST_DEFERRED)
        return false;
    buffer->source = from;
    buffer->source_bytes = static_cast<uint32_t>(bytes);
    self.deferred[self.deferred_count++] = buffer;
    return true;
#else
    return false;
#endif
}

} // namespace ascendc
} // namespace jumar

#endif
