/* What host code of prebuilt operators asks of the chip (namespace fe). Such code is linked with the old layout of std::string, so
 * this unit is compiled for that layout alone. The objects are the program's own: each holds a shared pointer, null at first, which
 * keeps the kind of cores that the program chose. */
#include <cstdint>
#include <memory>
#include <string>

// The header declares a class of the same name for sources that are compiled with it. The sizes of the chips are taken from it.
#define PlatFormInfos SourcePlatFormInfos
#include "tiling/platform/platform_ascendc.h"
#undef PlatFormInfos

extern "C" const char *aclrtGetSocName();

#pragma GCC visibility push(default)
namespace fe {

enum class LocalMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED = 7 };

struct PlatFormInfosImpl {
  bool vector_cores;
};

class PlatFormInfos {
 public:
  uint32_t GetCoreNum() const;
  void SetCoreNumByCoreType(const std::string &type);
  void GetLocalMemSize(const LocalMemType &memory, uint64_t &size);
  void GetLocalMemBw(const LocalMemType &memory, uint64_t &bandwidth);
  bool GetPlatformResWithLock(const std::string &label, const std::string &key, std::string &value);

 private:
  std::shared_ptr<PlatFormInfosImpl> impl_;
};
static_assert(sizeof(PlatFormInfos) == 16, "programs allocate it");

class OptionalInfos;

class PlatformInfoManager {
 public:
  static PlatformInfoManager &GeInstance();
  static PlatformInfoManager &Instance();
  uint32_t InitRuntimePlatformInfos(const std::string &chip);
  uint32_t GetPlatformInfos(const std::string chip, PlatFormInfos &infos, OptionalInfos &optional);
  uint32_t GetRuntimePlatformInfosByDevice(const uint32_t &device, PlatFormInfos &infos, bool refresh);
};

}  // namespace fe
#pragma GCC visibility pop

namespace fe {
namespace {

bool Is310p() {
  const char *name = aclrtGetSocName();
  return name != nullptr && std::string(name).find("310P") != std::string::npos;
}

platform_ascendc::PlatformAscendC Chip() {
  return platform_ascendc::PlatformAscendC(Is310p() ? platform_ascendc::SocVersion::ASCEND310P
                                                    : platform_ascendc::SocVersion::ASCEND910B);
}

uint64_t SizeOf(platform_ascendc::CoreMemType memory) {
  uint64_t bytes = 0;
  Chip().GetCoreMemSize(memory, bytes);
  return bytes;
}

}  // namespace

uint32_t PlatFormInfos::GetCoreNum() const {
  const platform_ascendc::PlatformAscendC chip = Chip();
  return impl_ && impl_->vector_cores ? chip.GetCoreNumAiv() : chip.GetCoreNumAic();
}

void PlatFormInfos::SetCoreNumByCoreType(const std::string &type) {
  const bool vector_cores = type == "VectorCore";
  if (impl_) {
    impl_->vector_cores = vector_cores;
  } else {
    impl_ = std::make_shared<PlatFormInfosImpl>(PlatFormInfosImpl{vector_cores});
  }
}

void PlatFormInfos::GetLocalMemSize(const LocalMemType &memory, uint64_t &size) {
  size = memory < LocalMemType::RESERVED ? SizeOf(static_cast<platform_ascendc::CoreMemType>(memory)) : 0;
}

// Bytes of a cycle. Programs choose between tilings by it; every tiling computes the same.
void PlatFormInfos::GetLocalMemBw(const LocalMemType &memory, uint64_t &bandwidth) {
  bandwidth = memory == LocalMemType::HBM ? 32 : memory == LocalMemType::L2 ? 110 : 0;
}

bool PlatFormInfos::GetPlatformResWithLock(const std::string &label, const std::string &key, std::string &value) {
  using platform_ascendc::CoreMemType;
  const platform_ascendc::PlatformAscendC chip = Chip();
  if (label == "SoCInfo" && (key == "ai_core_cnt" || key == "cube_core_cnt")) {
    value = std::to_string(chip.GetCoreNumAic());
  } else if (label == "SoCInfo" && key == "vector_core_cnt") {
    value = std::to_string(chip.GetCoreNumAiv());
  } else if (label == "version" && key == "Short_SoC_version") {
    value = Is310p() ? "Ascend310P" : "Ascend910B";
  } else if (label == "version" && key == "NpuArch") {
    value = Is310p() ? "2002" : "2201";
  } else if (label == "AICoreSpec" && key == "bt_size") {
    value = std::to_string(SizeOf(CoreMemType::BT));
  } else if (label == "AICoreSpec" && (key == "fb0_size" || key == "fb_size")) {
    value = std::to_string(SizeOf(CoreMemType::FB));
  } else {
    return false;
  }
  return true;
}

PlatformInfoManager &PlatformInfoManager::GeInstance() {
  static PlatformInfoManager manager;
  return manager;
}
PlatformInfoManager &PlatformInfoManager::Instance() { return GeInstance(); }
uint32_t PlatformInfoManager::InitRuntimePlatformInfos(const std::string &) { return 0; }
uint32_t PlatformInfoManager::GetPlatformInfos(const std::string, PlatFormInfos &, OptionalInfos &) { return 0; }
uint32_t PlatformInfoManager::GetRuntimePlatformInfosByDevice(const uint32_t &, PlatFormInfos &, bool) { return 0; }

}  // namespace fe
