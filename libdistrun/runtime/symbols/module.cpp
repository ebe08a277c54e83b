// distrun_dw.so: looks up addresses in files with libdw, as declared in dw_line.hpp. Does not look for separate debug
// information files, since that may query servers.
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <distrun/common/base/fd.hpp>
#include <distrun/runtime/symbols/dw_line.hpp>

namespace distrun::symbols {
namespace {

using dw_line::Module;
using Addresses = std::span<const std::uint64_t>;

constexpr std::int64_t kFileBytesMax = std::int64_t{1} << 30;

struct EndElf {
  void operator()(Elf* elf) const noexcept { ::elf_end(elf); }
};
struct EndDwarf {
  void operator()(Dwarf* dwarf) const noexcept { ::dwarf_end(dwarf); }
};

base::Fd open_bounded(const std::string& path) {
  base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return status.st_size <= kFileBytesMax ? std::move(file) : base::Fd();
}

bool is_as_loaded(Elf* elf, const LoadedFile& loaded) {
  return std::all_of(loaded.notes.begin(), loaded.notes.end(), [elf](const LoadedFile::Note& each) {
    const std::size_t size = each.bytes.size();
    const Elf_Data* const there = ::elf_getdata_rawchunk(elf, static_cast<std::int64_t>(each.at), size, ELF_T_BYTE);
    return there != nullptr && there->d_size == size && std::memcmp(there->d_buf, each.bytes.data(), size) == 0;
  });
}

bool is_function(const GElf_Sym& symbol) {
  return GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
}

// Calls on_function(symbol, header) for each function; `header` is the symbol table's.
template <class OnFunction>
void for_each_function(Elf* elf, const OnFunction& on_function) {
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB) continue;
    Elf_Data* const data = ::elf_getdata(section, nullptr);
    GElf_Sym symbol;
    for (int i = 1; ::gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      if (is_function(symbol)) on_function(symbol, header);
    }
  }
}

void name_functions(Elf* elf, Addresses addresses, std::vector<NamedPlace>& places) {
  const auto [least, most] = std::minmax_element(addresses.begin(), addresses.end());
  for_each_function(elf, [&, from = *least, to = *most](const GElf_Sym& symbol, const GElf_Shdr& table) {
    if (symbol.st_value > to || symbol.st_value + symbol.st_size <= from) return;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      if (addresses[i] - symbol.st_value >= symbol.st_size || !places[i].function.empty()) continue;
      const char* const name = ::elf_strptr(elf, table.sh_link, symbol.st_name);
      if (name != nullptr) places[i].function = name;
    }
  });
}

bool find_unit(Dwarf* dwarf, Dwarf_Addr address, Dwarf_Die& unit) {
  if (::dwarf_addrdie(dwarf, address, &unit) != nullptr) return true;
  // clang writes no table that maps addresses to units.
  for (Dwarf_CU* each = nullptr; ::dwarf_get_units(dwarf, each, &each, nullptr, nullptr, &unit, nullptr) == 0;) {
    if (::dwarf_haspc(&unit, address) > 0) return true;
  }
  return false;
}

std::optional<std::uint64_t> number_of(Dwarf_Die* entry, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word number = 0;
  const bool is_there = ::dwarf_attr(entry, attribute, &found) != nullptr && ::dwarf_formudata(&found, &number) == 0;
  return is_there ? std::optional<std::uint64_t>(number) : std::nullopt;
}

// Returns the call sites of the functions that were inlined at the address.
std::vector<SourceLine> find_inlined(Dwarf_Die unit, Dwarf_Addr address) {
  std::vector<SourceLine> lines;
  Dwarf_Files* files = nullptr;
  Dwarf_Die* found = nullptr;
  const int count = ::dwarf_getscopes(&unit, address, &found);  // innermost first; -1: an error
  const std::unique_ptr<Dwarf_Die, void (*)(void*)> scopes(found, std::free);
  if (count <= 0 || ::dwarf_getsrcfiles(&unit, &files, nullptr) != 0) return lines;
  for (Dwarf_Die* scope = found; scope != found + count; ++scope) {
    if (::dwarf_tag(scope) != DW_TAG_inlined_subroutine) continue;
    const auto file = number_of(scope, DW_AT_call_file), line = number_of(scope, DW_AT_call_line);
    const char* const name = file && line ? ::dwarf_filesrc(files, *file, nullptr, nullptr) : nullptr;
    if (name != nullptr) lines.push_back({name, static_cast<std::uint32_t>(*line)});
  }
  return lines;
}

void find_lines(Dwarf* dwarf, Addresses addresses, std::vector<NamedPlace>& places) {
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    Dwarf_Die unit;
    if (!find_unit(dwarf, addresses[i], unit)) continue;
    Dwarf_Line* const line = ::dwarf_getsrc_die(&unit, addresses[i]);
    const char* const file = line != nullptr ? ::dwarf_linesrc(line, nullptr, nullptr) : nullptr;
    int number = 0;
    if (file == nullptr || ::dwarf_lineno(line, &number) != 0) continue;
    places[i].source = {file, static_cast<std::uint32_t>(number)};
    places[i].inlined_at = find_inlined(unit, addresses[i]);
  }
}

// Without memory libdw ends the process, unless it has a handler, which it calls without holding a lock.
// Only in this form is the attribute part of the type.
__attribute__((noreturn)) void throw_bad_alloc() { throw std::bad_alloc(); }

std::vector<NamedPlace> name_places(const LoadedFile& loaded, Addresses addresses) {
  std::vector<NamedPlace> places(addresses.size());
  const base::Fd file = open_bounded(loaded.path);
  if (!file || addresses.empty()) return places;
  ::elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, EndElf> elf(::elf_begin(file.get(), ELF_C_READ_MMAP, nullptr));
  if (elf == nullptr || !is_as_loaded(elf.get(), loaded)) return places;
  name_functions(elf.get(), addresses, places);
  const std::unique_ptr<Dwarf, EndDwarf> dwarf(::dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr));
  if (dwarf == nullptr) return places;
  ::dwarf_new_oom_handler(dwarf.get(), throw_bad_alloc);
  find_lines(dwarf.get(), addresses, places);
  return places;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const Module distrun_dw_module{dw_line::kVersion, &name_places};

}  // namespace distrun::symbols
