/* What has a std::string: compiled for each layout of it. */
#include <new>
#include <string>

#include "../../../include/atb/utils.h"

#if _GLIBCXX_USE_CXX11_ABI
extern "C" void jumar_atb_newer_string(void *memory, const char *text) { new (memory) std::string(text); }
#else
extern "C" void jumar_atb_older_string(void *memory, const char *text) { new (memory) std::string(text); }
#endif

namespace atb {

std::string Utils::GetAtbVersion() { return JUMAR_ATB_VERSION; }

}  // namespace atb
