#include "symbol_index.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace distrun::probe {
namespace {

// Returns the end of the section that holds a symbol, in the module's addresses; `address` if there is none.
std::uint64_t section_end(Elf* elf, std::size_t section, const GElf_Sym& symbol, std::uint64_t address) {
  GElf_Shdr header;
  Elf_Scn* found = elf_getscn(elf, section);
  if (found == nullptr || gelf_getshdr(found, &header) == nullptr) return address;
  return address + (header.sh_addr + header.sh_size - symbol.st_value);
}

// Prefers the well-known name of an address: pthread_mutex_lock rather than ___pthread_mutex_lock.
bool is_plainer(const char* name, const char* than) {
  const std::size_t mine = std::strspn(name, "_");
  const std::size_t other = std::strspn(than, "_");
  return mine != other ? mine < other : std::strlen(name) < std::strlen(than);
}

}  // namespace

SymbolIndex::SymbolIndex(Dwfl_Module* module) : module_(module) {
  constexpr std::uint64_t kSizeMax = std::numeric_limits<std::uint32_t>::max();
  const int count = dwfl_module_getsymtab(module);
  entries_.reserve(static_cast<std::size_t>(std::max(count, 0)));
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    if (dwfl_module_getsym_info(module, i, &symbol, &address, nullptr, nullptr, nullptr) == nullptr) continue;
    const int type = GELF_ST_TYPE(symbol.st_info);
    const bool code = type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && symbol.st_size > 0);
    if (symbol.st_name == 0 || !code || symbol.st_shndx == SHN_UNDEF) continue;
    entries_.push_back({address, static_cast<std::uint32_t>(std::min<std::uint64_t>(symbol.st_size, kSizeMax)), i});
  }
}

const char* SymbolIndex::name_of(const Entry& entry) const {
  GElf_Sym symbol;
  GElf_Addr address = 0;
  const char* name = dwfl_module_getsym_info(module_, entry.number, &symbol, &address, nullptr, nullptr, nullptr);
  return name != nullptr ? name : "";
}

// Returns where the code of a symbol ends; without a size, where its section ends.
std::uint64_t SymbolIndex::reach_of(const Entry& entry) const {
  if (entry.size > 0) return entry.end();
  GElf_Sym symbol;
  GElf_Addr address = 0;
  GElf_Word section = 0;
  Elf* elf = nullptr;
  dwfl_module_getsym_info(module_, entry.number, &symbol, &address, &section, &elf, nullptr);
  return section_end(elf, section, symbol, address);
}

// Compares two symbols that begin at or before the address. A symbol without a size (hand-written assembly) reaches to
// the next one in its section, so only its beginning counts.
bool SymbolIndex::is_better(const Entry& entry, const Entry* than, std::uint64_t address) const {
  const bool holds = address < entry.end();
  const bool other_holds = than != nullptr && address < than->end();
  if (than == nullptr || holds != other_holds) return than == nullptr || holds;
  return entry.begin != than->begin ? entry.begin > than->begin : is_plainer(name_of(entry), name_of(*than));
}

const char* SymbolIndex::find(std::uint64_t address) const {
  const Entry* best = nullptr;
  for (const Entry& entry : entries_) {
    if (entry.begin <= address && is_better(entry, best, address)) best = &entry;
  }
  return best != nullptr && address < reach_of(*best) ? name_of(*best) : nullptr;
}

}  // namespace distrun::probe
