#include "symbol_index.hpp"

#include <algorithm>
#include <cstring>

namespace distrun::probe {
namespace {

// Of the names of one address, the one that people know: pthread_mutex_lock rather than ___pthread_mutex_lock.
bool is_plainer(const char* name, const char* than) {
  const std::size_t mine = std::strspn(name, "_");
  const std::size_t other = std::strspn(than, "_");
  return mine != other ? mine < other : std::strlen(name) < std::strlen(than);
}

}  // namespace

SymbolIndex::SymbolIndex(Dwfl_Module* module) {
  const int count = dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    const char* name = dwfl_module_getsym_info(module, i, &symbol, &address, nullptr, nullptr, nullptr);
    const int type = GELF_ST_TYPE(symbol.st_info);
    const bool code = type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && symbol.st_size > 0);
    if (name == nullptr || *name == '\0' || !code || symbol.st_shndx == SHN_UNDEF) continue;
    entries_.push_back({address, address + symbol.st_size, name});
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    return a.end != b.end ? a.end > b.end : is_plainer(a.name, b.name);
  });
  const auto same_begin = [](const Entry& a, const Entry& b) { return a.begin == b.begin; };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same_begin), entries_.end());
}

const char* SymbolIndex::find(std::uint64_t address) const {
  auto next = std::upper_bound(entries_.begin(), entries_.end(), address,
                               [](std::uint64_t value, const Entry& entry) { return value < entry.begin; });
  if (next == entries_.begin()) return nullptr;
  const Entry& entry = *--next;
  // Hand-written assembly often has no size: it reaches to the next symbol.
  return address < entry.end || entry.begin == entry.end ? entry.name : nullptr;
}

}  // namespace distrun::probe
