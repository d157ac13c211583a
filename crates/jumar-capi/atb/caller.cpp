/* The layout of strings of a caller. Programs of both layouts exist, and one virtual function returns a string for all of them. */
#include <dlfcn.h>
#include <link.h>

#include <unordered_map>

#include "objects.h"

extern "C" {
void jumar_atb_newer_string(void *memory, const char *text);
void jumar_atb_older_string(void *memory, const char *text);
}

namespace jumar {
namespace {

bool Contains(const char *begin, size_t size, const char *word) {
  return memmem(begin, size, word, std::strlen(word)) != nullptr;
}

/* The names that a library uses or defines say which strings it has. One without strings has none to return. */
bool NamesOlderString(const link_map *map) {
  const char *names = nullptr;
  size_t size = 0;
  for (const ElfW(Dyn) *entry = map->l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) {
      ElfW(Addr) address = entry->d_un.d_ptr;
      // Some loaders leave the address as it is in the file.
      if (address < map->l_addr) {
        address += map->l_addr;
      }
      names = reinterpret_cast<const char *>(address);
    } else if (entry->d_tag == DT_STRSZ) {
      size = entry->d_un.d_val;
    }
  }
  if (names == nullptr || Contains(names, size, "NSt7__cxx11")) {
    return false;
  }
  return Contains(names, size, "_ZNSs") || Contains(names, size, "RKSs") || Contains(names, size, "_ZNKSs");
}

}  // namespace

bool UsesOlderString(const void *address) {
  Dl_info info;
  link_map *map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) {
    return false;
  }
  static auto *mutex = new std::mutex();
  static auto *known = new std::unordered_map<const void *, bool>();
  std::lock_guard<std::mutex> lock(*mutex);
  const auto found = known->find(map->l_ld);
  if (found != known->end()) {
    return found->second;
  }
  const bool older = NamesOlderString(map);
  known->emplace(map->l_ld, older);
  return older;
}

CallerString::CallerString(const char *text, const void *caller) {
  if (UsesOlderString(caller)) {
    jumar_atb_older_string(bytes_, text);
  } else {
    jumar_atb_newer_string(bytes_, text);
  }
}

}  // namespace jumar
