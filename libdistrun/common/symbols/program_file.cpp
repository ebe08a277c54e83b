#include <distrun/common/symbols/program_file.hpp>

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include <distrun/common/base/fd.hpp>

namespace distrun::symbols {
namespace {

constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 30;
constexpr std::uint64_t kNoteBytesMax = 4096;

// A file's bytes, read when they are touched.
class Mapping {
 public:
  explicit Mapping(const std::string& path) {
    const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size == 0 || size > kFileBytesMax) return;
    void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (at != MAP_FAILED) bytes_ = {static_cast<const char*>(at), size};
  }
  ~Mapping() {
    if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::string_view bytes() const noexcept { return bytes_; }

 private:
  std::string_view bytes_;
};

// Empty: it is not there.
std::string_view part(std::string_view all, std::uint64_t at, std::uint64_t size) noexcept {
  return at <= all.size() && size <= all.size() - at ? all.substr(at, size) : std::string_view();
}

template <class T>
T read(std::string_view all, std::uint64_t at) noexcept {
  T value{};
  const std::string_view bytes = part(all, at, sizeof value);
  if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string_view text_at(std::string_view texts, std::uint64_t at) noexcept {
  if (at >= texts.size()) return {};
  texts.remove_prefix(at);
  return texts.substr(0, texts.find('\0'));
}

class Sections {
 public:
  explicit Sections(std::string_view file) : file_(file) {
    const auto header = read<Elf64_Ehdr>(file, 0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return;
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
      sections_.push_back(read<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    if (header.e_shstrndx < sections_.size()) names_ = bytes(sections_[header.e_shstrndx]);
  }

  std::string_view named(std::string_view name) const noexcept {
    for (const Elf64_Shdr& each : sections_) {
      if ((each.sh_flags & SHF_COMPRESSED) == 0 && text_at(names_, each.sh_name) == name) return bytes(each);
    }
    return {};
  }
  struct Symbols {
    std::string_view entries, names;
  };
  Symbols symbols(std::uint32_t type) const noexcept {
    for (const Elf64_Shdr& each : sections_) {
      if (each.sh_type == type && each.sh_link < sections_.size()) return {bytes(each), bytes(sections_[each.sh_link])};
    }
    return {};
  }

 private:
  std::string_view bytes(const Elf64_Shdr& of) const noexcept {
    return of.sh_type == SHT_NOBITS ? std::string_view() : part(file_, of.sh_offset, of.sh_size);
  }

  std::string_view file_, names_;
  std::vector<Elf64_Shdr> sections_;
};

void name_functions(const Sections::Symbols& symbols, std::span<const std::uint64_t> addresses,
                    std::vector<NamedPlace>& places) {
  const auto [least, most] = std::minmax_element(addresses.begin(), addresses.end());
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.entries.size(); at += sizeof(Elf64_Sym)) {
    const auto symbol = read<Elf64_Sym>(symbols.entries, at);
    const bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
    if (!is_function || symbol.st_value > *most || symbol.st_value + symbol.st_size <= *least) continue;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      if (addresses[i] - symbol.st_value >= symbol.st_size || !places[i].function.empty()) continue;
      places[i].function = text_at(symbols.names, symbol.st_name);
    }
  }
}

struct Search {
  std::uint64_t address;
  LoadedFile found;
};

void take_file(const dl_phdr_info& info, LoadedFile& found) {
  found.path = info.dlpi_name != nullptr && *info.dlpi_name != '\0' ? info.dlpi_name : "/proc/self/exe";
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

bool is_as_loaded(const LoadedFile& loaded, std::string_view file) noexcept {
  return std::all_of(loaded.notes.begin(), loaded.notes.end(), [file](const LoadedFile::Note& each) {
    return part(file, each.at, each.bytes.size()) == each.bytes;
  });
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
  const Mapping file(loaded.path);
  if (addresses.empty() || file.bytes().empty() || !is_as_loaded(loaded, file.bytes())) return places;
  const Sections sections(file.bytes());
  name_functions(sections.symbols(SHT_SYMTAB), addresses, places);
  name_functions(sections.symbols(SHT_DYNSYM), addresses, places);
  const std::vector<SourceLine> lines = find_lines(
      {sections.named(".debug_line"), sections.named(".debug_line_str"), sections.named(".debug_str")}, addresses);
  for (std::size_t i = 0; i < places.size(); ++i) places[i].at = lines[i];
  return places;
}

}  // namespace distrun::symbols
