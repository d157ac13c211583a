// Tiling data and tiling keys.
#ifndef JUMAR_ASCENDC_TILING_H
#define JUMAR_ASCENDC_TILING_H

#include "core.h"

namespace jumar {
namespace ascendc {

// The key that TILING_KEY_IS compares with outside of custom operators, whose launches have a key of their own. Kernels that are launched
// directly run with key 0.
JUMAR_OF_OBJECT uint64_t tiling_key;

inline uint64_t current_tiling_key()
{
    return in_kernel() && core().has_tiling ? core().tiling_key : tiling_key;
}

// Fails if tiling data in memory of the device is shorter than the structure that is read.
inline void check_tiling([[maybe_unused]] const void* from, [[maybe_unused]] uint64_t bytes, [[maybe_unused]] Site site)
{
    const jumar_memory_extent* memory = memory_at(from);
    if (!memory) return;
    const uint64_t at = reinterpret_cast<uintptr_t>(from);
    if (at + bytes > memory->wanted_end)
        fail(site, "the kernel reads %llu bytes of tiling data, and the memory at its address was allocated with %llu bytes from there on",
             static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(at < memory->wanted_end ? memory->wanted_end - at : 0));
}

inline void copy_tiling(void* into, const void* from, uint64_t bytes, Site site)
{
    if (!from) fail(site, "the tiling data's address is null");
    // A custom operator's launch knows how long its tiling data is.
    if (in_kernel() && core().has_tiling) {
        const uintptr_t begin = reinterpret_cast<uintptr_t>(core().tiling), at = reinterpret_cast<uintptr_t>(from);
        const uint64_t length = core().tiling_bytes;
        if (at >= begin && at < begin + length && at + bytes > begin + length)
            fail(site, "the kernel reads %llu bytes of tiling data from byte %llu on, and the tiling function has written %llu",
                 static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(at - begin), static_cast<unsigned long long>(length));
    }
    check_tiling(from, bytes, site);
    std::memcpy(into, from, bytes);
}
template <typename TypeT> inline const TypeT* tiling_at(const void* from, Site site = Site::here())
{
    check_tiling(from, sizeof(TypeT), site);
    return static_cast<const TypeT*>(from);
}
template <typename TypeT> inline void read_tiling(TypeT& into, const void* from, Site site = Site::here())
{
    static_assert(std::is_trivially_copyable_v<TypeT>, "tiling data is copied byte by byte");
    copy_tiling(&into, from, sizeof into, site);
}

} // namespace ascendc
} // namespace jumar

#define TILING_KEY_IS(key) (jumar::ascendc::current_tiling_key() == static_cast<uint64_t>(key))
#define REGISTER_TILING_DEFAULT(structure) using jumar_tiling_structure [[maybe_unused]] = structure
#define REGISTER_TILING_FOR_TILINGKEY(expression, structure) static_assert(true)
#define GET_TILING_DATA(variable, argument) GET_TILING_DATA_WITH_STRUCT(jumar_tiling_structure, variable, argument)
#define GET_TILING_DATA_WITH_STRUCT(structure, variable, argument)                                                                                   \
    structure variable;                                                                                                                              \
    jumar::ascendc::read_tiling(variable, (argument))
#define GET_TILING_DATA_MEMBER(structure, member, variable, argument)                                                                                \
    decltype(structure::member) variable;                                                                                                            \
    jumar::ascendc::read_tiling(variable, reinterpret_cast<const uint8_t*>(argument) + offsetof(structure, member))
#define GET_TILING_DATA_PTR_WITH_STRUCT(structure, variable, argument) const structure* variable = jumar::ascendc::tiling_at<structure>(argument)
#define COPY_TILING_WITH_STRUCT(structure, from, to) jumar::ascendc::read_tiling(*(to), (from))
#define KERNEL_TASK_TYPE_DEFAULT(type) jumar::ascendc::kernel_type(AscendC::type)
#define KERNEL_TASK_TYPE(key, type) jumar::ascendc::kernel_type_of_key(TILING_KEY_IS(key), AscendC::type)
#define ENABLE_PRINTF() static_assert(true)
#define REGISTER_NONE_TILING static_assert(true)
// The values that a template kernel's parameters may have: launches and tests name the values themselves.
#define ASCENDC_TPL_ARGS_DECL(...) static_assert(true)
#define ASCENDC_TPL_SEL(...) static_assert(true)

#endif
