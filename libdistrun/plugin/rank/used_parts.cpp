#include <distrun/plugin/rank/used_parts.hpp>

#include <link.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace distrun::rank {
namespace {

// What the dynamic section of a loaded library says.
struct Imports {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  // The table of hashes begins with four words; the second is the index of the first symbol in the table. Those that
  // the library imports are before it.
  const std::uint32_t* hashes = nullptr;

  std::size_t count() const noexcept {
    return symbols != nullptr && names != nullptr && hashes != nullptr ? hashes[1] : 0;
  }
};

Imports imports_of(const dl_phdr_info& library, const ElfW(Phdr) & header) {
  Imports imports;
  for (const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + header.p_vaddr);
       entry->d_tag != DT_NULL; ++entry) {
    // The loader relocates these addresses, but not on every architecture.
    const ElfW(Addr) bias = entry->d_un.d_ptr < library.dlpi_addr ? library.dlpi_addr : 0;
    const auto* const address = reinterpret_cast<const void*>(entry->d_un.d_ptr + bias);
    if (entry->d_tag == DT_SYMTAB) imports.symbols = static_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) imports.names = static_cast<const char*>(address);
    if (entry->d_tag == DT_GNU_HASH) imports.hashes = static_cast<const std::uint32_t*>(address);
  }
  return imports;
}

// The addresses in the kernel's library are not relocated; the program itself is distrun's.
bool is_library(const dl_phdr_info& object) {
  const std::string_view name = object.dlpi_name != nullptr ? object.dlpi_name : "";
  return name.find('/') != std::string_view::npos;
}

int add_parts_of(dl_phdr_info* object, std::size_t, void* parts) {
  if (!is_library(*object)) return 0;
  for (const auto* header = object->dlpi_phdr; header != object->dlpi_phdr + object->dlpi_phnum; ++header) {
    if (header->p_type != PT_DYNAMIC) continue;
    const Imports imports = imports_of(*object, *header);
    for (std::size_t i = 1; i < imports.count(); ++i) {
      if (imports.symbols[i].st_shndx != SHN_UNDEF) continue;
      add_part_of(imports.names + imports.symbols[i].st_name, *static_cast<UsedParts*>(parts));
    }
  }
  return 0;
}

bool has_any(std::string_view symbol, const auto& names) {
  for (const std::string_view name : names) {
    if (symbol.find(name) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

void add_part_of(std::string_view symbol, UsedParts& parts) {
  using namespace std::string_view_literals;
  constexpr std::array kOfGroups{"7distrun11collectives"sv};
  constexpr std::array kOfRpc{"7distrun3rpc"sv, "7distrun4rref"sv, "7distrun13dist_autograd"sv};
  parts.backend = parts.backend || has_any(symbol, kOfGroups);
  parts.agent = parts.agent || has_any(symbol, kOfRpc);
}

UsedParts find_used_parts() {
  UsedParts parts;
  ::dl_iterate_phdr(add_parts_of, &parts);
  return parts;
}

}  // namespace distrun::rank
