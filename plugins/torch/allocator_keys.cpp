// Lets the Ascend adapter load beside the CUDA build of PyTorch; python/jumar_torch.py calls it.
//
// Both register names of allocator options in one set when they are loaded, and a name that is there already ends the
// process. PyTorch's CUDA build registers the names below although no CUDA device is used. This function removes them
// again, before the adapter is loaded. The names that every device shares stay.
#include <string>
#include <unordered_set>

// Returns how many names were removed. `get_keys` is PyTorch's function that returns the set.
extern "C" int jumar_remove_cuda_allocator_keys(std::unordered_set<std::string> &(*get_keys)())
{
    const char *names[] = {
        "backend", "release_lock_on_cudamalloc", "release_lock_on_hipmalloc", "throw_on_cudamalloc_oom",
        "per_process_memory_fraction", "graph_capture_record_stream_reuse", "pinned_free_catch_all",
        "pinned_num_register_threads", "pinned_reserve_segment_size_mb", "pinned_use_cuda_host_register",
        "pinned_use_hip_host_register",
    };
    int removed = 0;
    for (const char *name : names) {
        removed += static_cast<int>(get_keys().erase(name));
    }
    return removed;
}
