#include "symbol_index.hpp"

#include <cstring>

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

SymbolIndex::SymbolIndex(Dwfl_Module* module) {
  const int count = dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = 0;
    Elf* elf = nullptr;
    const char* name = dwfl_module_getsym_info(module, i, &symbol, &address, &section, &elf, nullptr);
    const int type = GELF_ST_TYPE(symbol.st_info);
    const bool code = type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && symbol.st_size > 0);
    if (name == nullptr || *name == '\0' || !code || symbol.st_shndx == SHN_UNDEF) continue;
    const std::uint64_t end = address + symbol.st_size;
    entries_.push_back({address, end, symbol.st_size > 0 ? end : section_end(elf, section, symbol, address), name});
  }
}

// Compares two symbols that begin at or before the address. A symbol without a size (hand-written assembly) reaches to
// the next one in its section, so only its beginning counts.
bool SymbolIndex::is_better(const Entry& entry, const Entry* than, std::uint64_t address) {
  const bool holds = address < entry.end;
  const bool other_holds = than != nullptr && address < than->end;
  if (than == nullptr || holds != other_holds) return than == nullptr || holds;
  return entry.begin != than->begin ? entry.begin > than->begin : is_plainer(entry.name, than->name);
}

const char* SymbolIndex::find(std::uint64_t address) const {
  const Entry* best = nullptr;
  for (const Entry& entry : entries_) {
    if (entry.begin <= address && is_better(entry, best, address)) best = &entry;
  }
  return best != nullptr && address < best->reach ? best->name : nullptr;
}

}  // namespace distrun::probe
