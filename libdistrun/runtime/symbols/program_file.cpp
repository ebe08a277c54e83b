#include <distrun/runtime/symbols/program_file.hpp>

#include <dlfcn.h>
#include <link.h>

#include <utility>

#include <distrun/runtime/core/module.hpp>

namespace distrun::symbols {
namespace {

constexpr std::uint64_t kNoteBytesMax = 4096;
constexpr core::ModuleName kDw{"libdw", dw_line::kFile, dw_line::kEntry};

struct Search {
  std::uint64_t address;
  LoadedFile found;
};

void take_file(const dl_phdr_info& info, LoadedFile& found) {
  found.path = info.dlpi_name != nullptr && *info.dlpi_name != '\0' ? info.dlpi_name : kProgram;
  found.bias = info.dlpi_addr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    if (part.p_type != PT_NOTE || part.p_filesz > kNoteBytesMax) continue;
    const auto* const notes = reinterpret_cast<const char*>(info.dlpi_addr + part.p_vaddr);
    found.notes.push_back({part.p_offset, std::string(notes, part.p_filesz)});
  }
}

int visit_file(dl_phdr_info* info, std::size_t, void* self) {
  Search& search = *static_cast<Search*>(self);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || search.address - info->dlpi_addr - part.p_vaddr >= part.p_memsz) continue;
    take_file(*info, search.found);
    return 1;
  }
  return 0;
}

// Null if unavailable. Failures are retried each time, since descriptors may have been short.
const dw_line::Module* dw_module() {
  static const dw_line::Module* opened = nullptr;
  if (opened != nullptr) return opened;
  const auto* const found = static_cast<const dw_line::Module*>(core::open_module(kDw).entry);
  if (found != nullptr && found->version == dw_line::kVersion) opened = found;
  return opened;
}

// Returns the exported function that holds the address, or an empty name.
std::string linked_name(std::uint64_t address) {
  Dl_info info;
  const bool is_found = ::dladdr(reinterpret_cast<const void*>(address), &info) != 0 && info.dli_sname != nullptr;
  return is_found ? info.dli_sname : "";
}

}  // namespace

std::uint64_t unload_count() noexcept {
  std::uint64_t count = 0;
  const auto first = [](dl_phdr_info* info, std::size_t, void* self) {
    *static_cast<std::uint64_t*>(self) = info->dlpi_subs;
    return 1;
  };
  ::dl_iterate_phdr(first, &count);
  return count;
}

LoadedFile find_loaded(std::uint64_t address) {
  Search search{address, {}};
  ::dl_iterate_phdr(visit_file, &search);
  return std::move(search.found);
}

std::vector<NamedPlace> name_places(const LoadedFile& loaded, std::span<const std::uint64_t> addresses) {
  std::vector<NamedPlace> places(addresses.size());
  if (const dw_line::Module* const module = dw_module()) places = module->name_places(loaded, addresses);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].function.empty()) places[i].function = linked_name(loaded.bias + addresses[i]);
  }
  return places;
}

}  // namespace distrun::symbols
