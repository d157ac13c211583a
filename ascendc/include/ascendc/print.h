// Output of kernels: printf, DumpTensor and assertions.
#ifndef JUMAR_ASCENDC_PRINT_H
#define JUMAR_ASCENDC_PRINT_H

#include <cassert>
#include <string>

#include "sync.h"

namespace jumar {
namespace ascendc {

// What is longer is cut, as on a card.
constexpr size_t MOST_PRINTED = 30 * 1024;

// Set while the object is loaded if a kernel in it prints: a member of a template exists where a template that is used names it.
template <typename PrintedT> struct PrintMark {
    static const bool is_set;
};
template <typename PrintedT> const bool PrintMark<PrintedT>::is_set = object_prints = true;

// An argument as the C library's printf takes it.
template <typename TypeT> inline auto printable(TypeT value)
{
    if constexpr (is_half<TypeT> || is_bfloat16<TypeT> || std::is_same_v<TypeT, float>) return static_cast<double>(static_cast<float>(value));
    else return value;
}

inline void write_out(const std::string& text)
{
    std::fwrite(text.data(), 1, text.size() < MOST_PRINTED ? text.size() : MOST_PRINTED, stdout);
    std::fflush(stdout);
}

inline std::string prefix()
{
    if (!in_kernel()) return {};
    const Core& self = core();
    const bool is_vector = self.type == AscendC::AIV;
    return std::string(is_vector ? "[AIV" : "[AIC") + " Block " + std::to_string(block_index(self)) + "/" +
           std::to_string(self.blocks * (is_vector ? self.layout.vectors : 1)) + "] ";
}

template <typename... Arguments> inline void print(const char* format, Arguments... arguments)
{
#if ASCENDC_DUMP
    static_cast<void>(PrintMark<void(Arguments...)>::is_set);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int length = std::snprintf(nullptr, 0, format, printable(arguments)...);
    if (length < 0) return;
    std::string text(static_cast<size_t>(length) + 1, '\0');
    std::snprintf(text.data(), text.size(), format, printable(arguments)...);
#pragma GCC diagnostic pop
    text.resize(static_cast<size_t>(length));
    write_out(prefix() + text);
#else
    static_cast<void>(format);
    (static_cast<void>(arguments), ...);
#endif
}

template <typename TypeT> inline std::string element_text(TypeT value)
{
    char text[48];
    if constexpr (is_float<TypeT>) std::snprintf(text, sizeof text, "%f", static_cast<double>(static_cast<Wide<TypeT>>(value)));
    else if constexpr (std::is_signed_v<TypeT>) std::snprintf(text, sizeof text, "%lld", static_cast<long long>(value));
    else std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(value));
    return text;
}

// Values in brackets; a shape adds nested brackets.
template <typename TypeT> inline void append_values(std::string& text, const TypeT* values, uint64_t count, const AscendC::ShapeInfo& shape)
{
    uint64_t row = shape.shapeDim ? shape.shape[shape.shapeDim - 1] : count;
    if (row == 0) row = count;
    for (uint64_t at = 0; at < count; at++) {
        if (at % row == 0) text += at ? "]\n[" : "[";
        else text += ", ";
        text += element_text(values[at]);
    }
    text += "]\n";
}

template <typename TypeT>
inline void dump(const TypeT* values, const char* position, uint64_t address, uint32_t number, uint64_t count, const AscendC::ShapeInfo& shape)
{
#if ASCENDC_DUMP
    static_cast<void>(PrintMark<TypeT>::is_set);
    std::string text = prefix() + "DumpTensor: desc=" + std::to_string(number) + ", addr=" + std::to_string(address) + ", data_type=" + type_name<TypeT>() +
                       ", position=" + position + ", dump_size=" + std::to_string(count) + "\n";
    append_values(text, values, count, shape);
    write_out(text);
#else
    static_cast<void>(values);
    static_cast<void>(position);
    static_cast<void>(address);
    static_cast<void>(number);
    static_cast<void>(count);
    static_cast<void>(shape);
#endif
}

// Writes a line with its level: KERNEL_ERROR becomes ERROR.
template <typename... Arguments> inline void log_from_kernel(const char* level, const char* format, Arguments... arguments)
{
    const std::string line = std::string("[") + (std::strncmp(level, "KERNEL_", 7) == 0 ? level + 7 : level) + "] " + format + "\n";
    print(line.c_str(), arguments...);
}

template <typename... Arguments>
inline void check_assertion(bool holds, const char* condition, Site site, const char* format = nullptr, Arguments... arguments)
{
    if (holds) return;
    if (format) print(format, arguments...);
    assertion_failed(condition, site.file, static_cast<unsigned>(site.line), "");
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

template <typename... Arguments> void printf(const char* format, Arguments... arguments)
{
    jumar::ascendc::print(format, arguments...);
}
template <typename... Arguments> void PRINTF(const char* format, Arguments... arguments)
{
    jumar::ascendc::print(format, arguments...);
}
template <typename TypeT>
void DumpTensor(const LocalTensor<TypeT>& tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo& shape,
                jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    check_access(tensor, bytes_of<TypeT>(dumpSize), "tensor", Call{"DumpTensor", site}, 1);
    const Buffer* buffer = tensor.buffer();
    const Memory memory = memory_of(buffer->position);
    const uint64_t address = static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(tensor.raw()) - core().memories[memory].base(memory));
    dump(tensor.raw(), memory_info(memory).name, address, desc, dumpSize, shape);
}
template <typename TypeT>
void DumpTensor(const LocalTensor<TypeT>& tensor, uint32_t desc, uint32_t dumpSize, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    DumpTensor(tensor, desc, dumpSize, ShapeInfo(), site);
}
template <typename TypeT>
void DumpTensor(const GlobalTensor<TypeT>& tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo& shape,
                jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    if (dumpSize) tensor.check(0, dumpSize, "DumpTensor", site);
    jumar::ascendc::dump(tensor.raw(), "GM", reinterpret_cast<uint64_t>(tensor.raw()), desc, dumpSize, shape);
}
template <typename TypeT>
void DumpTensor(const GlobalTensor<TypeT>& tensor, uint32_t desc, uint32_t dumpSize, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    DumpTensor(tensor, desc, dumpSize, ShapeInfo(), site);
}

// Prints a number with the time, if the kernel is compiled with ASCENDC_TIME_STAMP_ON.
__attribute__((noinline)) inline void PrintTimeStamp([[maybe_unused]] uint32_t descId)
{
#ifdef ASCENDC_TIME_STAMP_ON
    jumar::ascendc::print("descId is %u, rsv is 0, timeStamp is %llu, pcPtr is %llu, entry is 0.\n", descId, static_cast<unsigned long long>(GetSystemCycle()),
                          static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(__builtin_return_address(0))));
#endif
}

} // namespace AscendC

// What the library's functions log in tests on the CPU.
#if defined(ASCENDC_CPU_DEBUG) && ASCENDC_CPU_DEBUG
#define KERNEL_LOG(level, ...) jumar::ascendc::log_from_kernel(#level, __VA_ARGS__)
#else
#define KERNEL_LOG(level, ...) static_cast<void>(0)
#endif
#define ascendc_assert(condition, ...) jumar::ascendc::check_assertion(static_cast<bool>(condition), #condition, jumar::ascendc::Site::here(), ##__VA_ARGS__)
#if defined(ASCENDC_DEBUG) && ASCENDC_DEBUG
#define ASSERT(condition) ascendc_assert(condition)
#else
#define ASSERT(condition) static_cast<void>(0)
#endif
// In kernels an assertion ends the kernel, and may have a text; in host code it ends the process as it does elsewhere.
#undef assert
#define assert(condition, ...) ascendc_assert(condition, ##__VA_ARGS__)

#endif
