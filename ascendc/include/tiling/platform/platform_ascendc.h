// What host programs ask of the chip that kernels are compiled for.
#ifndef JUMAR_PLATFORM_ASCENDC_H
#define JUMAR_PLATFORM_ASCENDC_H

#include <cstdint>
#include <cstring>
// Programs expect it of the headers.
#include <iostream>

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, FB = 7, BT = 8, RESERVED };
enum class SocVersion { ASCEND910 = 0, ASCEND910B, ASCEND310P, ASCEND310B, ASCEND910_95, RESERVED_VERSION = 99999 };

} // namespace platform_ascendc

namespace fe {
// The chip that a tiling function is called for.
class PlatFormInfos {
public:
    explicit PlatFormInfos(platform_ascendc::SocVersion version = platform_ascendc::SocVersion::ASCEND910B) : version_(version) {}
    platform_ascendc::SocVersion version() const { return version_; }

private:
    platform_ascendc::SocVersion version_;
};
} // namespace fe

namespace platform_ascendc {

class PlatformAscendC {
public:
    explicit PlatformAscendC(SocVersion version) : version_(version) {}
    explicit PlatformAscendC(const fe::PlatFormInfos* platform) : version_(platform ? platform->version() : SocVersion::ASCEND910B) {}

    SocVersion GetSocVersion() const { return version_; }
    // A 910B has 20 cube cores with two vector cores each, a 310P has 8 cores.
    uint32_t GetCoreNumAic() const { return is_310p() ? 8 : 20; }
    uint32_t GetCoreNumAiv() const { return is_310p() ? 8 : 40; }
    uint32_t GetCoreNum() const { return GetCoreNumAic(); }
    uint32_t GetCoreNumVector() const { return is_310p() ? 7 : 0; }
    void GetCoreMemSize(const CoreMemType& memory, uint64_t& bytes) const
    {
        constexpr uint64_t kib = 1024;
        switch (memory) {
        case CoreMemType::L0_A:
        case CoreMemType::L0_B: bytes = 64 * kib; break;
        case CoreMemType::L0_C: bytes = is_310p() ? 256 * kib : 128 * kib; break;
        case CoreMemType::L1: bytes = is_310p() ? 1024 * kib : 512 * kib - 256; break;
        case CoreMemType::UB: bytes = is_310p() ? 256 * kib : 192 * kib - 256; break;
        case CoreMemType::L2: bytes = is_310p() ? 16 * kib * kib : 192 * kib * kib; break;
        case CoreMemType::HBM: bytes = 32 * kib * kib * kib; break;
        case CoreMemType::FB: bytes = is_310p() ? 0 : 2 * kib; break;
        case CoreMemType::BT: bytes = is_310p() ? 0 : kib; break;
        default: bytes = 0; break;
        }
    }
    uint32_t GetLibApiWorkSpaceSize() const { return is_310p() ? 2 * 1024 * 1024 : 16 * 1024 * 1024; }
    uint32_t GetResCubeGroupWorkSpaceSize() const { return 0; }
    // The number of blocks of a kernel that needs `slices` vector cores.
    uint32_t CalcTschBlockDim(uint32_t slices, uint32_t cubes, uint32_t vectors) const
    {
        if (cubes == 0 || vectors == 0 || cubes > vectors) return slices;
        const uint32_t ratio = vectors / cubes;
        return (slices + ratio - 1) / ratio;
    }
    uint32_t CalcTschNumBlocks(uint32_t slices, uint32_t cubes, uint32_t vectors) const { return CalcTschBlockDim(slices, cubes, vectors); }

private:
    bool is_310p() const { return version_ == SocVersion::ASCEND310P; }
    SocVersion version_;
};

class PlatformAscendCManager {
public:
    // The chip that the source is compiled for.
    static PlatformAscendC* GetInstance()
    {
#if defined(__NPU_ARCH__) && __NPU_ARCH__ == 2002
        static PlatformAscendC platform(SocVersion::ASCEND310P);
#else
        static PlatformAscendC platform(SocVersion::ASCEND910B);
#endif
        return &platform;
    }
    // Returns null for a chip other than 910B, 910C and 310P.
    static PlatformAscendC* GetInstance(const char* name)
    {
        static PlatformAscendC a910b(SocVersion::ASCEND910B), a310p(SocVersion::ASCEND310P);
        if (!name) return nullptr;
        if (std::strncmp(name, "Ascend310P", 10) == 0) return &a310p;
        return std::strncmp(name, "Ascend910B", 10) == 0 || std::strncmp(name, "Ascend910_93", 12) == 0 ? &a910b : nullptr;
    }
};

} // namespace platform_ascendc

#endif
