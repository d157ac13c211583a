// Runs the blocks of a call: one after another, or as fibers if they wait for each other.
#ifndef JUMAR_ASCENDC_FIBERS_H
#define JUMAR_ASCENDC_FIBERS_H

#include <memory>
#include <ucontext.h>

#include "jumar/kernel.h"
#include "sync.h"

namespace jumar {
namespace ascendc {

using BlockBody = std::function<void()>;
// Receives the block that failed, and why.
using BlockFailed = std::function<void(uint32_t block, const char* text)>;

inline void run_one(Core& self, const BlockBody& body, const BlockFailed& failed)
{
    try {
        body();
    } catch (const Failure& failure) {
        failed(self.block, failure.text);
    } catch (const char* text) {
        failed(self.block, text);
    } catch (...) {
        failed(self.block, "it threw an exception");
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

inline void run_in_turn(uint32_t begin, uint32_t end, uint32_t blocks, const BlockBody& body, const BlockFailed& failed)
{
    Core& self = worker_core();
    Core* outer = current_core;
    current_core = &self;
    for (uint32_t block = begin; block < end; block++) {
        self.begin(block, blocks);
        set_block_of_launch(block);
        run_one(self, body, failed);
    }
    current_core = outer;
}

class Fibers {
public:
    Fibers(uint32_t blocks, const BlockBody& body, const BlockFailed& failed) : body_(body), failed_(failed)
    {
        group_.blocks = blocks;
        for (auto& flags : group_.flags_set) flags.resize(blocks);
        for (auto& flags : group_.flags_taken) flags.resize(blocks);
        for (uint32_t block = 0; block < blocks; block++) {
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
            one.core.begin(block, blocks);
        }
    }
    Fibers(const Fibers&) = delete;
    Fibers& operator=(const Fibers&) = delete;

    void run()
    {
        Core* outer = current_core;
        for (size_t left = all_.size(); left > 0;) {
            bool progress = false;
            for (auto& one : all_) {
                if (one->ended || (one->fiber.condition && !group_.deadlock && !one->fiber.condition())) continue;
                progress = true;
                resume(*one);
                if (one->ended) left--;
            }
            if (!progress) group_.deadlock = true;
        }
        current_core = outer;
    }

private:
    struct One {
        Fiber fiber;
        Fibers* fibers = nullptr;
        Core core;
        ucontext_t context;
        std::unique_ptr<char[]> stack;
        bool ended = false;
    };
    static constexpr size_t STACK = 512 * 1024;

    void resume(One& one)
    {
        current_core = &one.core;
        set_block_of_launch(one.core.block);
        if (!one.stack) {
            one.stack.reset(new char[STACK]);
            getcontext(&one.context);
            one.context.uc_stack.ss_sp = one.stack.get();
            one.context.uc_stack.ss_size = STACK;
            one.context.uc_link = &scheduler_;
            const uintptr_t at = reinterpret_cast<uintptr_t>(&one);
            makecontext(&one.context, reinterpret_cast<void (*)()>(&Fibers::enter), 2, static_cast<unsigned>(at), static_cast<unsigned>(at >> 32));
        }
        swapcontext(&scheduler_, &one.context);
    }
    static void enter(unsigned low, unsigned high)
    {
        One& one = *reinterpret_cast<One*>(static_cast<uintptr_t>(low) | static_cast<uintptr_t>(high) << 32);
        run_one(one.core, one.fibers->body_, one.fibers->failed_);
        one.ended = true;
    }

    const BlockBody& body_;
    const BlockFailed& failed_;
    Group group_;
    std::vector<std::unique_ptr<One>> all_;
    ucontext_t scheduler_;
};

inline void run_blocks(uint32_t begin, uint32_t end, uint32_t blocks, bool together, const BlockBody& body, const BlockFailed& failed)
{
    if (together && blocks > 1 && begin == 0 && end == blocks) Fibers(blocks, body, failed).run();
    else run_in_turn(begin, end, blocks, body, failed);
}

} // namespace ascendc
} // namespace jumar

#endif
