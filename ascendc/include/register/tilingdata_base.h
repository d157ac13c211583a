// Tiling data that the host's side of a custom operator declares by macros. The kernel's side is a structure with the same fields, which
// the build generates.
#ifndef JUMAR_REGISTER_TILINGDATA_BASE_H
#define JUMAR_REGISTER_TILINGDATA_BASE_H

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace optiling {

// A field of a tiling structure, as the kernel declares it.
struct TilingField {
    std::string type, name;
    size_t count;
    bool is_structure;
};

// The bytes of a tiling structure. Fields are aligned as those of a C structure.
class TilingDef {
public:
    explicit TilingDef(const char* name) : name_(name) {}
    virtual ~TilingDef() = default;

    const char* GetTilingClassName() const { return name_; }
    size_t GetDataSize() const { return (bytes_.size() + alignment_ - 1) / alignment_ * alignment_; }
    void SaveToBuffer(void* buffer, size_t capacity) const
    {
        if (!buffer || capacity < GetDataSize()) return;
        std::memset(buffer, 0, GetDataSize());
        std::memcpy(buffer, bytes_.data(), bytes_.size());
        for (const Structure& one : structures_) one.save(reinterpret_cast<const char*>(this) + one.member, static_cast<char*>(buffer) + one.offset);
    }
    const std::vector<TilingField>& fields() const { return fields_; }
    size_t alignment() const { return alignment_; }

protected:
    size_t add(const char* type, const char* name, size_t size, size_t alignment, size_t count)
    {
        fields_.push_back({type, name, count, false});
        return reserve(size * count, alignment);
    }
    // Adds a member that is a tiling structure itself.
    template <typename TypeT> size_t add_structure(const char* type, const char* name, const TypeT& member)
    {
        fields_.push_back({type, name, 1, true});
        const size_t offset = reserve(member.GetDataSize(), 8);
        structures_.push_back({reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(this), offset, [](const void* from, void* to) {
                                   const TypeT& structure = *static_cast<const TypeT*>(from);
                                   structure.SaveToBuffer(to, structure.GetDataSize());
                               }});
        return offset;
    }
    template <typename TypeT> void store(size_t offset, const TypeT* values, size_t count) { std::memcpy(bytes_.data() + offset, values, sizeof(TypeT) * count); }
    template <typename TypeT> TypeT load(size_t offset) const
    {
        TypeT value;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }
    template <typename TypeT> TypeT* address(size_t offset) { return reinterpret_cast<TypeT*>(bytes_.data() + offset); }

private:
    struct Structure {
        ptrdiff_t member;
        size_t offset;
        void (*save)(const void*, void*);
    };
    size_t reserve(size_t size, size_t alignment)
    {
        if (alignment > alignment_) alignment_ = alignment;
        const size_t offset = (bytes_.size() + alignment - 1) / alignment * alignment;
        bytes_.resize(offset + size);
        return offset;
    }

    const char* name_;
    std::vector<uint8_t> bytes_;
    std::vector<TilingField> fields_;
    std::vector<Structure> structures_;
    size_t alignment_ = 1;
};

// Tiling structures by the operator, or by the name of a structure that is a member of others.
using TilingMaker = std::shared_ptr<TilingDef> (*)();
inline std::map<std::string, TilingMaker>& tiling_classes()
{
    static std::map<std::string, TilingMaker> all;
    return all;
}
struct TilingRegistration {
    TilingRegistration(const char* name, TilingMaker maker) { tiling_classes()[name] = maker; }
};

} // namespace optiling

#define BEGIN_TILING_DATA_DEF(class_name)                                                                                                            \
    class class_name : public ::optiling::TilingDef {                                                                                                \
    public:                                                                                                                                          \
        class_name() : TilingDef(#class_name) {}
#define TILING_DATA_FIELD_DEF(data_type, field_name)                                                                                                 \
    void set_##field_name(data_type value) { store(field_name##_at_, &value, 1); }                                                                   \
    data_type get_##field_name() const { return load<data_type>(field_name##_at_); }                                                                 \
                                                                                                                                                     \
private:                                                                                                                                             \
    size_t field_name##_at_ = add(#data_type, #field_name, sizeof(data_type), alignof(data_type), 1);                                                \
                                                                                                                                                     \
public:
#define TILING_DATA_FIELD_DEF_ARR(arr_type, arr_size, field_name)                                                                                    \
    void set_##field_name(const arr_type* values) { store(field_name##_at_, values, arr_size); }                                                     \
    arr_type* get_##field_name() { return address<arr_type>(field_name##_at_); }                                                                     \
                                                                                                                                                     \
private:                                                                                                                                             \
    size_t field_name##_at_ = add(#arr_type, #field_name, sizeof(arr_type), alignof(arr_type), arr_size);                                            \
                                                                                                                                                     \
public:
#define TILING_DATA_FIELD_DEF_STRUCT(struct_type, field_name)                                                                                        \
    struct_type field_name;                                                                                                                          \
                                                                                                                                                     \
private:                                                                                                                                             \
    size_t field_name##_at_ = add_structure(#struct_type, #field_name, field_name);                                                                  \
                                                                                                                                                     \
public:
#define END_TILING_DATA_DEF                                                                                                                          \
    }                                                                                                                                                \
    ;
#define REGISTER_TILING_DATA_CLASS(op_type, class_name)                                                                                              \
    [[maybe_unused]] static const ::optiling::TilingRegistration jumar_tiling_of_##op_type(                                                          \
        #op_type, []() -> std::shared_ptr<::optiling::TilingDef> { return std::make_shared<class_name>(); });

#endif
