// Runs the blocks of a call: one after another, or as fibers if they wait for each other.
#ifndef JUMAR_ASCENDC_FIBERS_H
#define JUMAR_ASCENDC_FIBERS_H

#include <csignal>
#include <memory>
#include <new>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

#include "jumar/kernel.h"
#include "sync.h"

namespace jumar {
namespace ascendc {

using BlockBody = std::function<void()>;
// Receives the block that failed, and why.
using BlockFailed = std::function<void(uint32_t block, const char* text)>;

// Runs a function of a core up to a fault. Objects on the stack of the function that has the fault are not destroyed. Returns whether
// the function has ended.
__attribute__((noinline)) inline bool run_up_to_fault(Core& self, const BlockBody& body, Fault& fault)
{
    struct Restored {
        Core& core;
        Fault* outer;
        ~Restored() { core.fault = outer; }
    };
    const Restored restored{self, self.fault};
    self.fault = &fault;
    if (sigsetjmp(fault.left, 0) != 0) return false;
    body();
    return true;
}

// Leaves a block that has a fault: jumar_launch's on_fault.
inline void leave_block(jumar_launch*, int32_t signal, uint64_t address)
{
    Fault* fault = current_core ? current_core->fault : nullptr;
    if (!fault) return;
    fault->signal = signal;
    fault->address = address;
    siglongjmp(fault->left, 1);
}

// Fails a block that had a fault.
[[noreturn]] inline void fail_with(const Fault& fault, const Core& self)
{
    char after[100] = "";
    if (self.last_call.file) std::snprintf(after, sizeof after, "; the last call before it is at %.60s:%d", self.last_call.name(), self.last_call.line);
    Failure failure;
    switch (fault.signal) {
    case SIGSEGV:
        std::snprintf(failure.text, sizeof failure.text, "a fault: it accessed the address 0x%llx, where no memory is%s",
                      static_cast<unsigned long long>(fault.address), after);
        break;
    case SIGFPE: std::snprintf(failure.text, sizeof failure.text, "a fault: it divided an integer by 0%s", after); break;
    default: std::snprintf(failure.text, sizeof failure.text, "a fault: it has an instruction that this processor does not know%s", after); break;
    }
    throw failure;
}

// Runs the block of a core. A block that has to start again with other cores throws what it found.
inline void run_one(Core& self, const BlockBody& body, const BlockFailed& failed)
{
    auto report = [&](const char* text) {
        if (self.layout.cores() == 1) return failed(self.block, text);
        const std::string core = self.type == AscendC::AIC ? "the cube core: " : "vector core " + std::to_string(self.sub_block) + ": ";
        failed(self.block, (core + text).c_str());
    };
    try {
        Fault fault;
        if (!run_up_to_fault(self, body, fault)) fail_with(fault, self);
    } catch (const Failure& failure) {
        report(failure.text);
    } catch (const LayoutFound&) {
        throw;
    } catch (const Abandoned&) {
    } catch (const Served&) {
    } catch (const char* text) {
        report(text);
    } catch (...) {
        report("it threw an exception");
    }
}

// One core for each thread. Its local memories stay for the next kernel.
inline Core& worker_core()
{
    static thread_local Core core;
    return core;
}

// Sets the block that get_block_idx() of the kernel's interface returns.
inline void set_block_of_launch(uint32_t block)
{
    if (jumar_current) jumar_current->block = block;
}

// A launch for get_block_num() of the kernel's interface, if the blocks run without a stream.
class LaunchWithoutStream {
public:
    explicit LaunchWithoutStream(uint32_t blocks)
    {
        if (jumar_current) return;
        launch_.grid[0] = blocks;
        for (uint32_t* extent : {&launch_.grid[1], &launch_.grid[2], &launch_.group[0], &launch_.group[1], &launch_.group[2]}) *extent = 1;
        jumar_current = &launch_;
    }
    ~LaunchWithoutStream()
    {
        if (jumar_current == &launch_) jumar_current = nullptr;
    }
    LaunchWithoutStream(const LaunchWithoutStream&) = delete;
    LaunchWithoutStream& operator=(const LaunchWithoutStream&) = delete;

private:
    jumar_launch launch_{};
};

// Runs blocks one after another on one core. Returns the first block that has to start again with other cores.
inline uint32_t run_in_turn(uint32_t begin, uint32_t end, uint32_t blocks, LayoutFound& found, const BlockBody& body, const BlockFailed& failed,
                            const DeviceFacts& device)
{
    Core& self = worker_core();
    self.start(device);
    Core* outer = current_core;
    current_core = &self;
    uint32_t block = begin;
    try {
        for (; block < end; block++) {
            self.begin(block, blocks, found);
            set_block_of_launch(block);
            run_one(self, body, failed);
            found.source = self.layout_source;
        }
    } catch (const LayoutFound& other) {
        found = other;
    }
    current_core = outer;
    return block;
}

// The stack of a coroutine. Below it lies memory without access, so that a kernel that needs more has a fault. Each thread keeps some
// for its next kernels.
class Stack {
public:
    static constexpr size_t BYTES = 512 * 1024;

    Stack()
    {
        auto& free = free_stacks().all;
        if (!free.empty()) {
            base_ = free.back();
            free.pop_back();
            return;
        }
        void* mapped = mmap(nullptr, GUARD + BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (mapped == MAP_FAILED) throw std::bad_alloc();
        base_ = static_cast<char*>(mapped);
        // The system limits the number of mappings. Stacks beyond have no guard.
        static_cast<void>(mprotect(mapped, GUARD, PROT_NONE));
    }
    ~Stack()
    {
        auto& free = free_stacks().all;
        if (free.size() < MOST_FREE) free.push_back(base_);
        else munmap(base_, GUARD + BYTES);
    }
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;
    char* begin() const { return base_ + GUARD; }

private:
    static constexpr size_t GUARD = 64 * 1024, MOST_FREE = 64;
    struct Free {
        std::vector<char*> all;
        Free() { all.reserve(MOST_FREE); }
        ~Free()
        {
            for (char* base : all) munmap(base, GUARD + BYTES);
        }
    };
    static Free& free_stacks()
    {
        static thread_local Free free;
        return free;
    }
    char* base_;
};

// Blocks whose cores wait for each other. Each core is a coroutine.
class Fibers {
public:
    Fibers(uint32_t begin, uint32_t end, uint32_t blocks, LayoutFound& found, const BlockBody& body, const BlockFailed& failed,
           const DeviceFacts& device)
        : body_(body), failed_(failed), found_(found), group_(begin, end - begin, blocks, found.layout)
    {
        for (uint32_t at = 0; at < (end - begin) * found.layout.cores(); at++) {
            all_.push_back(std::make_unique<One>());
            One& one = *all_.back();
            one.fibers = this;
            one.fiber.group = &group_;
            one.fiber.owner = &one;
            one.fiber.suspend = [](Fiber* fiber) {
                One* self = static_cast<One*>(fiber->owner);
                swapcontext(&self->context, &self->fibers->scheduler_);
            };
            one.core.fiber = &one.fiber;
            one.core.start(device);
            one.core.begin(begin + at / found.layout.cores(), blocks, found, at % found.layout.cores());
        }
    }
    Fibers(const Fibers&) = delete;
    Fibers& operator=(const Fibers&) = delete;

    // Returns whether the blocks have run; otherwise they have to start again with the cores that were found.
    bool run()
    {
        Core* outer = current_core;
        for (size_t left = all_.size(); left > 0;) {
            bool progress = false;
            for (auto& one : all_) {
                if (group_.abandoned && !one->ended && !one->stack) {
                    one->ended = true;
                    left--;
                }
                if (one->ended || (one->fiber.condition && !group_.deadlock && !group_.abandoned && !one->fiber.condition())) continue;
                progress = true;
                resume(*one);
                if (!one->ended) continue;
                left--;
                one->stack.reset();
            }
            if (!progress) group_.deadlock = true;
        }
        current_core = outer;
        return !group_.abandoned;
    }

private:
    struct One {
        Fiber fiber;
        Fibers* fibers = nullptr;
        Core core;
        ucontext_t context;
        std::unique_ptr<Stack> stack;
        bool ended = false;
    };

    void resume(One& one)
    {
        current_core = &one.core;
        set_block_of_launch(one.core.block);
        if (!one.stack) {
            one.stack = std::make_unique<Stack>();
            getcontext(&one.context);
            one.context.uc_stack.ss_sp = one.stack->begin();
            one.context.uc_stack.ss_size = Stack::BYTES;
            one.context.uc_link = &scheduler_;
            const uintptr_t at = reinterpret_cast<uintptr_t>(&one);
            makecontext(&one.context, reinterpret_cast<void (*)()>(&Fibers::enter), 2, static_cast<unsigned>(at), static_cast<unsigned>(at >> 32));
        }
        swapcontext(&scheduler_, &one.context);
    }
    static void enter(unsigned low, unsigned high)
    {
        One& one = *reinterpret_cast<One*>(static_cast<uintptr_t>(low) | static_cast<uintptr_t>(high) << 32);
        try {
            run_one(one.core, one.fibers->body_, one.fibers->failed_);
        } catch (const LayoutFound& other) {
            if (!one.fibers->group_.abandoned) one.fibers->found_ = other;
            one.fibers->group_.abandoned = true;
        }
        one.ended = true;
    }

    const BlockBody& body_;
    const BlockFailed& failed_;
    LayoutFound& found_;
    Group group_;
    std::vector<std::unique_ptr<One>> all_;
    ucontext_t scheduler_;
};

inline void run_blocks(uint32_t begin, uint32_t end, uint32_t blocks, bool together, const BlockBody& body, const BlockFailed& failed,
                       LayoutFound found = {{false, 1}, LayoutSource::UNKNOWN}, const DeviceFacts& device = {})
{
    together = together && begin == 0 && end == blocks;
    const LaunchWithoutStream launch(blocks);
#if JUMAR_ASCENDC_CHECK >= 2
    GlobalOrder global;
    const BlockBody recorded = [&] {
        core().global = &global;
        body();
        check_end(core());
    };
    const BlockBody& run = recorded;
#else
    const BlockBody& run = body;
#endif
    for (uint32_t block = begin; block < end;) {
        const bool is_single = found.layout.cores() == 1;
        if (together && (blocks > 1 || !is_single)) {
            if (Fibers(begin, end, blocks, found, run, failed, device).run()) return;
        } else if (is_single) {
            block = run_in_turn(block, end, blocks, found, run, failed, device);
        } else if (Fibers(block, block + 1, blocks, found, run, failed, device).run()) {
            block++;
        }
    }
}

} // namespace ascendc
} // namespace jumar

#endif
