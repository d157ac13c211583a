// TPipe, queues and buffers: where local memory comes from, and who may use it when.
#ifndef JUMAR_ASCENDC_PIPE_H
#define JUMAR_ASCENDC_PIPE_H

#include "tensor.h"

namespace jumar {
namespace ascendc {

// A buffer at an address of a pool that a kernel shares out itself. Buffers of such a pool may lie over each other.
template <typename Pool> inline Buffer* take_at(const Pool* pool, uint32_t address, uint32_t bytes, AscendC::TPosition position, Site site)
{
    Core& self = core();
    const Buffer* whole = pool ? pool->buffer() : nullptr;
    if (!whole) fail(site, "InitBufHandle: the pool has no memory; InitBufPool was not called");
    uint8_t* begin = self.memories[memory_of(whole->position)].base(memory_of(whole->position)) + address;
    if (bytes == 0 || address % 32 != 0 || begin < whole->begin || begin + bytes > whole->begin + whole->bytes)
        fail(site, "InitBufHandle: %u bytes at %u; wanted are an address of a multiple of 32 bytes, and bytes inside of the pool's %u", bytes, address, whole->bytes);
    self.may_defer = false;
    return self.add(position, begin, bytes);
}

// A pool that lies over another one.
inline Buffer* overlay(const Buffer* other, uint32_t bytes, AscendC::TPosition position, Site site)
{
    if (!other || bytes > other->bytes) fail(site, "InitBufPool: %u bytes do not fit over the other pool, which has %u", bytes, other ? other->bytes : 0);
    core().may_defer = false;
    return core().add(position, other->begin, (bytes + 31) / 32 * 32);
}

// What EXTERN_IMPL_BUFPOOL adds to a class: the pool's memory, the next free address, and the number of buffers.
template <uint32_t count> struct PoolState {
    Buffer* buffer = nullptr;
    uint32_t address = 0;
    uint8_t used = 0;
    uint8_t handles[count] = {};

    void set(Buffer* memory)
    {
        buffer = memory;
        reset();
    }
    void reset()
    {
        used = 0;
        address = 0;
        if (!buffer) return;
        const Memory memory = memory_of(buffer->position);
        address = static_cast<uint32_t>(buffer->begin - core().memories[memory].base(memory));
        if (PipeOrder* order = pipe_order(core())) order->barrier(PIPE_ALL);
    }
    uint8_t* handle(uint32_t number, Site site)
    {
        if (number >= count) fail(site, "GetBufHandle: the pool has %u buffers at most", count);
        return handles + number;
    }
};

} // namespace ascendc
} // namespace jumar

namespace AscendC {

using TBufHandle = uint8_t*;

template <TPosition source, TPosition destination, int32_t depth, auto mask = 0> class TQueBind {
public:
    static constexpr TPosition position = destination == TPosition::GM || source == TPosition::CO1 ? source : destination;
    static constexpr bool isTQue = true;
    static constexpr jumar::ascendc::QueuePipes pipes = jumar::ascendc::queue_pipes(source, destination);

    TQueBind() = default;

    template <typename TypeT> LocalTensor<TypeT> AllocTensor(jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        using namespace jumar::ascendc;
        if (count_ == 0) fail(site, "AllocTensor: the queue has no buffers; InitBuffer was not called");
        // The first free buffer is probably still in the processor's cache. Checks of order need the turns of a card: a buffer that is used
        // again at once waits for its last reader, and so hides that other buffers do not.
        if (JUMAR_ASCENDC_CHECK < 2) next_ = 0;
        for (uint32_t tried = 0; tried < count_; tried++) {
            Buffer* buffer = buffers_[next_];
            next_ = (next_ + 1) % count_;
            if (buffer->state == BufferState::FREE) {
                buffer->state = BufferState::ALLOCATED;
                buffer->site = site;
                if (PipeOrder* order = pipe_order(core())) {
                    order->acquire(pipes.producer, buffer->clock);
                    order->forget(core(), *buffer);
                }
                return LocalTensor<TypeT>(buffer, 0, elements_in<TypeT>(buffer->bytes));
            }
        }
        fail(site, "AllocTensor: all %u buffers of the queue (%s) are in use; FreeTensor is missing", count_, position_name(position));
    }
    template <typename TypeT> void AllocTensor(LocalTensor<TypeT>& tensor, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        tensor = AllocTensor<TypeT>(site);
    }

    template <typename TypeT> bool EnQue(const LocalTensor<TypeT>& tensor, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        using namespace jumar::ascendc;
        Buffer* buffer = own(tensor, "EnQue", site);
        if (buffer->state == BufferState::QUEUED) fail(site, "EnQue: the tensor is in the queue already");
        if (buffer->state == BufferState::FREE || buffer->generation != tensor.generation())
            fail(site, "EnQue: the tensor was freed; only a tensor from AllocTensor or DeQue can be queued");
        constexpr uint32_t most = depth > 0 ? static_cast<uint32_t>(depth) : 1;
        if (queued_ >= most)
            fail(site, "EnQue: %u tensors are in the queue, whose depth is %d", queued_, static_cast<int>(depth));
        buffer->state = BufferState::QUEUED;
        buffer->site = site;
        order_[(first_ + queued_) % MOST_BUFFERS] = buffer;
        sizes_[(first_ + queued_) % MOST_BUFFERS] = static_cast<uint32_t>(bytes_of<TypeT>(tensor.GetSize()));
        starts_[(first_ + queued_) % MOST_BUFFERS] =
            static_cast<uint32_t>(static_cast<const uint8_t*>(tensor.address()) - buffer->begin);
        queued_++;
        if (PipeOrder* order = pipe_order(core())) buffer->clock = order->release(pipes.producer);
        return true;
    }
    template <TPosition from, TPosition to, typename TypeT> bool EnQue(const LocalTensor<TypeT>& tensor, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        return EnQue(tensor, site);
    }

    template <typename TypeT> LocalTensor<TypeT> DeQue(jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        using namespace jumar::ascendc;
        if (queued_ == 0) fail(site, "DeQue: the queue (%s) is empty; EnQue is missing", position_name(position));
        Buffer* buffer = order_[first_];
        uint32_t bytes = sizes_[first_];
        uint32_t start = starts_[first_];
        first_ = (first_ + 1) % MOST_BUFFERS;
        queued_--;
        buffer->state = BufferState::TAKEN;
        buffer->site = site;
        if (PipeOrder* order = pipe_order(core())) order->acquire(pipes.consumer, buffer->clock);
        return LocalTensor<TypeT>(buffer, start, elements_in<TypeT>(bytes));
    }
    template <typename TypeT> void DeQue(LocalTensor<TypeT>& tensor, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        tensor = DeQue<TypeT>(site);
    }
    template <TPosition from, TPosition to, typename TypeT> LocalTensor<TypeT> DeQue(jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        return DeQue<TypeT>(site);
    }

    template <typename TypeT> void FreeTensor(LocalTensor<TypeT>& tensor, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        using namespace jumar::ascendc;
        Buffer* buffer = own(tensor, "FreeTensor", site);
        if (buffer->state == BufferState::FREE || buffer->generation != tensor.generation()) fail(site, "FreeTensor: the tensor was freed already");
        if (buffer->state == BufferState::QUEUED) fail(site, "FreeTensor: the tensor is still in the queue; DeQue is missing");
        buffer->state = BufferState::FREE;
        buffer->generation++;
        if (buffer->source) forget_deferred(core(), *buffer);
        if (PipeOrder* order = pipe_order(core())) buffer->clock = order->release(pipes.consumer);
    }
    void FreeAllEvent() {}

    bool VacantInQue() const { return queued_ < (depth > 0 ? static_cast<uint32_t>(depth) : 1); }
    bool HasTensorInQue() const { return queued_ > 0; }
    int32_t GetTensorCountInQue() const { return static_cast<int32_t>(queued_); }
    bool HasIdleBuffer() const
    {
        for (uint32_t at = 0; at < count_; at++)
            if (buffers_[at]->state == jumar::ascendc::BufferState::FREE) return true;
        return false;
    }

    // For pools that a kernel writes itself: the number of buffers, then each buffer's address.
    void InitStartBufHandle(TBufHandle, uint8_t num, uint32_t, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        if (num == 0 || num > MOST_BUFFERS) jumar::ascendc::fail(site, "InitStartBufHandle: %u buffers; a queue has 1 to %u", num, MOST_BUFFERS);
        clear();
        announced_ = num;
    }
    template <typename Pool>
    void InitBufHandle(Pool* bufPool, uint32_t index, TBufHandle, uint32_t curPoolAddr, uint32_t len, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        using namespace jumar::ascendc;
        if (index != count_ || index >= announced_)
            fail(site, "InitBufHandle: buffer %u of a queue that has %u; InitStartBufHandle was called for %u, and they are set in order", index, count_, announced_);
        add(take_at(bufPool, curPoolAddr, len, position, site));
    }

    // For TPipe and TBufPool: adds one more buffer to the queue.
    void add(jumar::ascendc::Buffer* buffer)
    {
        buffer->state = jumar::ascendc::BufferState::FREE;
        buffer->queue = this;
        buffers_[count_++] = buffer;
    }
    void clear() { count_ = queued_ = first_ = next_ = 0; }
    static constexpr uint32_t MOST_BUFFERS = 64;

private:
    template <typename TypeT> jumar::ascendc::Buffer* own(const LocalTensor<TypeT>& tensor, const char* call, jumar::ascendc::Site site) const
    {
        using namespace jumar::ascendc;
        Buffer* buffer = tensor.buffer();
        if (!buffer) fail(site, "%s: the tensor has no memory", call);
        if (buffer->queue != this) fail(site, "%s: the tensor is not of this queue", call);
        return buffer;
    }

    jumar::ascendc::Buffer* buffers_[MOST_BUFFERS];
    jumar::ascendc::Buffer* order_[MOST_BUFFERS];
    uint32_t sizes_[MOST_BUFFERS];
    uint32_t starts_[MOST_BUFFERS];
    uint32_t count_ = 0;
    uint32_t next_ = 0;
    uint32_t first_ = 0;
    uint32_t queued_ = 0;
    uint32_t announced_ = 0;
};

namespace queue_ends {
constexpr TPosition source(TPosition position)
{
    switch (position) {
    case TPosition::VECIN:
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1: return TPosition::GM;
    case TPosition::A2: return TPosition::A1;
    case TPosition::B2: return TPosition::B1;
    case TPosition::C2: return TPosition::C1;
    default: return position;
    }
}
constexpr TPosition destination(TPosition position)
{
    switch (position) {
    case TPosition::VECOUT:
    case TPosition::CO2: return TPosition::GM;
    case TPosition::CO1: return TPosition::CO2;
    default: return position;
    }
}
} // namespace queue_ends

template <TPosition pos, int32_t depth, auto mask = 0> class TQue : public TQueBind<queue_ends::source(pos), queue_ends::destination(pos), depth, mask> {
};

template <TPosition pos = TPosition::LCM> class TBuf {
public:
    static constexpr TPosition position = pos;

    template <typename TypeT> LocalTensor<TypeT> Get(jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        need(site);
        return LocalTensor<TypeT>(buffer_, 0, jumar::ascendc::elements_in<TypeT>(buffer_->bytes));
    }
    template <typename TypeT> LocalTensor<TypeT> Get(uint32_t elements, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        return GetWithOffset<TypeT>(elements, 0, site);
    }
    template <typename TypeT> LocalTensor<TypeT> GetWithOffset(uint32_t elements, uint32_t byte_offset, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        using namespace jumar::ascendc;
        need(site);
        if (byte_offset + bytes_of<TypeT>(elements) > buffer_->bytes)
            fail(site, "TBuf: %u elements of %s at byte %u were asked for, and the buffer has %u bytes", elements, type_name<TypeT>(), byte_offset,
                 buffer_->bytes);
        return LocalTensor<TypeT>(buffer_, byte_offset, elements);
    }
    // A TBuf needs no release; kernels may call this all the same.
    template <typename TypeT> void FreeTensor(LocalTensor<TypeT>&) {}
    template <typename TypeT> LocalTensor<TypeT> AllocTensor(jumar::ascendc::Site site = jumar::ascendc::Site::here()) { return Get<TypeT>(site); }
    uint32_t GetBufLen() const { return buffer_ ? buffer_->bytes : 0; }

    void InitStartBufHandle(TBufHandle, uint8_t num, uint32_t, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        if (num != 1) jumar::ascendc::fail(site, "InitStartBufHandle: %u buffers; a TBuf has one", num);
    }
    template <typename Pool>
    void InitBufHandle(Pool* bufPool, uint32_t index, TBufHandle, uint32_t curPoolAddr, uint32_t len, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        if (index != 0) jumar::ascendc::fail(site, "InitBufHandle: buffer %u; a TBuf has one", index);
        buffer_ = jumar::ascendc::take_at(bufPool, curPoolAddr, len, pos, site);
    }

    void set(jumar::ascendc::Buffer* buffer) { buffer_ = buffer; }
    jumar::ascendc::Buffer* buffer() const { return buffer_; }

private:
    void need(jumar::ascendc::Site site) const
    {
        if (!buffer_) jumar::ascendc::fail(site, "TBuf: the buffer has no memory; InitBuffer was not called");
    }
    jumar::ascendc::Buffer* buffer_ = nullptr;
};

// A part of a pipe's memory that queues and buffers share out again.
template <TPosition pos, uint32_t = 4> class TBufPool {
public:
    static constexpr TPosition position = pos;

    template <class Queue> bool InitBuffer(Queue& queue, uint8_t count, uint32_t bytes, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        queue.clear();
        for (uint8_t at = 0; at < count; at++) queue.add(take(bytes, Queue::position, site));
        return true;
    }
    template <TPosition other> bool InitBuffer(TBuf<other>& buffer, uint32_t bytes, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        buffer.set(take(bytes, other, site));
        return true;
    }
    template <class Pool> bool InitBufPool(Pool& pool, uint32_t bytes, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        pool.set(take(bytes, Pool::position, site));
        return true;
    }
    // A pool that lies over another one of this pool.
    template <class Pool, class Other>
    bool InitBufPool(Pool& pool, uint32_t bytes, Other& other, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        pool.set(jumar::ascendc::overlay(other.buffer(), bytes, Pool::position, site));
        return true;
    }
    void Reset()
    {
        used_ = 0;
        if (jumar::ascendc::PipeOrder* order = jumar::ascendc::pipe_order(jumar::ascendc::core())) order->barrier(PIPE_ALL);
    }

    void set(jumar::ascendc::Buffer* buffer)
    {
        buffer_ = buffer;
        used_ = 0;
    }
    jumar::ascendc::Buffer* buffer() const { return buffer_; }

private:
    jumar::ascendc::Buffer* take(uint32_t bytes, TPosition position, jumar::ascendc::Site site)
    {
        using namespace jumar::ascendc;
        uint32_t rounded = (bytes + 31) / 32 * 32;
        if (!buffer_ || used_ + rounded > buffer_->bytes)
            fail(site, "InitBuffer: %u bytes do not fit into the pool, where %u of %u are in use", rounded, used_, buffer_ ? buffer_->bytes : 0);
        Buffer* part = core().add(position, buffer_->begin + used_, rounded);
        used_ += rounded;
        return part;
    }
    jumar::ascendc::Buffer* buffer_ = nullptr;
    uint32_t used_ = 0;
};

class TPipe {
public:
    TPipe() { Init(); }
    TPipe(const TPipe&) = delete;
    TPipe& operator=(const TPipe&) = delete;
    ~TPipe()
    {
        if (jumar::ascendc::in_kernel() && jumar::ascendc::core().pipe == this) jumar::ascendc::core().pipe = nullptr;
    }

    void Init()
    {
        jumar::ascendc::core().pipe = this;
    }
    void Destroy() { Reset(); }
    void Reset()
    {
        using namespace jumar::ascendc;
        Core& self = core();
        for (auto& memory : self.memories) memory.used = 0;
        self.complete_all();
        for (auto& buffer : self.buffers) {
            buffer.generation++;
            buffer.state = BufferState::DEAD;
        }
        queue_buffers_ = 0;
        if (PipeOrder* order = pipe_order(self)) order->barrier(PIPE_ALL);
    }

    template <class Queue> bool InitBuffer(Queue& queue, uint8_t count, uint32_t bytes, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        using namespace jumar::ascendc;
        queue_buffers_ += count;
        if (queue_buffers_ > Queue::MOST_BUFFERS) fail(site, "InitBuffer: a kernel has %u buffers at most", Queue::MOST_BUFFERS);
        uint32_t rounded = (bytes + 31) / 32 * 32;
        queue.clear();
        for (uint8_t at = 0; at < count; at++) {
            Buffer* buffer = core().allocate(Queue::position, rounded, site);
            buffer->may_defer = memory_of(Queue::position) == MEMORY_UB;
            queue.add(buffer);
        }
        return true;
    }
    template <TPosition pos> bool InitBuffer(TBuf<pos>& buffer, uint32_t bytes, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        buffer.set(jumar::ascendc::core().allocate(pos, (bytes + 31) / 32 * 32, site));
        return true;
    }
    template <class Pool> bool InitBufPool(Pool& pool, uint32_t bytes, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        pool.set(jumar::ascendc::core().allocate(Pool::position, (bytes + 31) / 32 * 32, site));
        return true;
    }
    // A pool that lies over another one.
    template <class Pool, class Other>
    bool InitBufPool(Pool& pool, uint32_t bytes, Other& other, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        pool.set(jumar::ascendc::overlay(other.buffer(), bytes, Pool::position, site));
        return true;
    }

    template <HardEvent event> TEventID AllocEventID(jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        using namespace jumar::ascendc;
        Core& self = core();
        uint8_t& reserved = self.reserved_events[static_cast<int>(event)];
        self.events_used = true;
        for (TEventID id = 0; id < 8; id++) {
            if (!(reserved >> id & 1)) {
                reserved = static_cast<uint8_t>(reserved | 1 << id);
                return id;
            }
        }
        fail(site, "AllocEventID: all 8 events of this kind are reserved; ReleaseEventID is missing");
    }
    template <HardEvent event> void ReleaseEventID(TEventID id)
    {
        uint8_t& reserved = jumar::ascendc::core().reserved_events[static_cast<int>(event)];
        reserved = static_cast<uint8_t>(reserved & ~(1 << (id & 7)));
    }
    template <HardEvent event> TEventID FetchEventID() { return FetchEventID(event); }
    TEventID FetchEventID(HardEvent event)
    {
        uint8_t reserved = jumar::ascendc::core().reserved_events[static_cast<int>(event)];
        for (TEventID id = 0; id < 8; id++)
            if (!(reserved >> id & 1)) return id;
        return 0;
    }
    template <TPosition pos> TBuf<pos> InitBuffer(uint32_t bytes)
    {
        TBuf<pos> buffer;
        InitBuffer(buffer, bytes);
        return buffer;
    }
    uint8_t* GetBaseAddr(int8_t position)
    {
        using namespace jumar::ascendc;
        Memory memory = memory_of(static_cast<TPosition>(position));
        core().complete_all();
        core().may_defer = false;
        return core().memories[memory].base(memory);
    }

private:
    uint32_t queue_buffers_ = 0;
};

inline TPipe* GetTPipePtr()
{
    return jumar::ascendc::core().pipe;
}
} // namespace AscendC
using AscendC::GetTPipePtr;
namespace AscendC {

// The rest of UB, as far as no queue or buffer has it.
template <typename TypeT, TPosition pos> bool PopStackBuffer(LocalTensor<TypeT>& tensor, jumar::ascendc::Site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Core& self = core();
    constexpr Memory memory = memory_of(pos);
    uint64_t begin = (self.memories[memory].used + 31) / 32 * 32;
    uint64_t bytes = (memory_info(memory).bytes - begin) / 32 * 32;
    self.buffers.emplace_back();
    Buffer& buffer = self.buffers.back();
    buffer.begin = self.memories[memory].base(memory) + begin;
    buffer.bytes = static_cast<uint32_t>(bytes);
    buffer.position = pos;
    tensor = LocalTensor<TypeT>(&buffer, 0, elements_in<TypeT>(bytes));
    return true;
}

// Tensors one behind the other in a local memory, without a TPipe.
template <Hardware hardware = Hardware::UB> class LocalMemAllocator {
public:
    template <TPosition pos, class TypeT, uint32_t elements> LocalTensor<TypeT> Alloc(jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        return Alloc<pos, TypeT>(elements, site);
    }
    template <TPosition pos, class TypeT> LocalTensor<TypeT> Alloc(uint32_t elements, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        using namespace jumar::ascendc;
        uint64_t bytes = (bytes_of<TypeT>(elements) + 31) / 32 * 32;
        return LocalTensor<TypeT>(core().allocate(pos, bytes, site), 0, elements);
    }
    template <class TypeT, uint32_t elements> LocalTensor<TypeT> Alloc(jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        return Alloc<default_position(), TypeT>(elements, site);
    }
    template <class TypeT> LocalTensor<TypeT> Alloc(uint32_t elements, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        return Alloc<default_position(), TypeT>(elements, site);
    }
    uint32_t GetCurAddr() const { return static_cast<uint32_t>(jumar::ascendc::core().memories[jumar::ascendc::memory_of(default_position())].used); }

private:
    static constexpr TPosition default_position()
    {
        switch (hardware) {
        case Hardware::L1: return TPosition::A1;
        case Hardware::L0A: return TPosition::A2;
        case Hardware::L0B: return TPosition::B2;
        case Hardware::L0C: return TPosition::CO1;
        case Hardware::BIAS: return TPosition::C2;
        case Hardware::FIXBUF: return TPosition::C2PIPE2GM;
        default: return TPosition::VECCALC;
        }
    }
};

} // namespace AscendC

// Makes a class a pool whose InitBuffer the kernel writes: TPipe::InitBufPool reserves its memory.
#define EXTERN_IMPL_BUFPOOL(Pool, pos, count)                                                                                                        \
private:                                                                                                                                             \
    jumar::ascendc::PoolState<count> jumar_pool_;                                                                                                    \
                                                                                                                                                     \
public:                                                                                                                                              \
    static constexpr AscendC::TPosition position = pos;                                                                                              \
    void set(jumar::ascendc::Buffer* memory) { jumar_pool_.set(memory); }                                                                            \
    jumar::ascendc::Buffer* buffer() const { return jumar_pool_.buffer; }                                                                            \
    void Init() { jumar_pool_ = {}; }                                                                                                                \
    void Reset() { jumar_pool_.reset(); }                                                                                                            \
    AscendC::TBufHandle GetBufHandle(uint8_t number, jumar::ascendc::Site site = jumar::ascendc::Site::here()) { return jumar_pool_.handle(number, site); } \
    void SetCurAddr(uint32_t address) { jumar_pool_.address = address; }                                                                             \
    uint32_t GetCurAddr() const { return jumar_pool_.address; }                                                                                      \
    void SetCurBufSize(uint8_t used) { jumar_pool_.used = used; }                                                                                    \
    uint8_t GetCurBufSize() const { return jumar_pool_.used; }

#endif
