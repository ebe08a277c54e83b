#include <distrun/common/base/elf_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace distrun::base {
namespace {

constexpr std::size_t kHeadersMax = 1024;  // read per file
constexpr std::size_t kEntriesMax = 4096;
constexpr std::size_t kTextMax = 4096;

}  // namespace

ElfFile::ElfFile(const char* path) : file_(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  readable_ = read(0, header_) && std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
              header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_phentsize == sizeof(Elf64_Phdr);
}

template <class T>
bool ElfFile::read(std::uint64_t offset, T& value) const {
  static_assert(std::is_trivially_copyable_v<T>);
  return file_ && ::pread(file_.get(), &value, sizeof value, static_cast<off_t>(offset)) == sizeof value;
}

std::string ElfFile::string_at(std::uint64_t offset) const {
  char text[kTextMax] = "";
  const ssize_t got = ::pread(file_.get(), text, sizeof text - 1, static_cast<off_t>(offset));
  return got > 0 ? std::string(text) : "";
}

template <class Matches>
std::optional<Elf64_Phdr> ElfFile::segment(const Matches& matches) const {
  for (std::size_t i = 0; readable_ && i < header_.e_phnum && i < kHeadersMax; ++i) {
    Elf64_Phdr segment{};
    if (!read(header_.e_phoff + i * sizeof segment, segment)) break;
    if (matches(segment)) return segment;
  }
  return std::nullopt;
}

std::vector<std::string> ElfFile::texts_of(const std::vector<std::int64_t>& tags) const {
  std::vector<std::string> texts;
  const auto dynamic = segment([](const Elf64_Phdr& segment) { return segment.p_type == PT_DYNAMIC; });
  if (!dynamic) return texts;
  std::vector<std::uint64_t> offsets;
  std::uint64_t strings = 0;
  for (std::size_t i = 0; i < kEntriesMax; ++i) {
    Elf64_Dyn entry{};
    if (!read(dynamic->p_offset + i * sizeof entry, entry) || entry.d_tag == DT_NULL) break;
    if (std::find(tags.begin(), tags.end(), entry.d_tag) != tags.end()) offsets.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
  }
  const auto table = segment([strings](const Elf64_Phdr& segment) {
    return segment.p_type == PT_LOAD && strings - segment.p_vaddr < segment.p_filesz;
  });
  if (!table) return texts;
  for (const std::uint64_t offset : offsets) {
    texts.push_back(string_at(table->p_offset + (strings - table->p_vaddr) + offset));
  }
  return texts;
}

// DT_RPATH is the older of the two; a file has one of them.
std::string ElfFile::run_path() const {
  const std::vector<std::string> paths = texts_of({DT_RUNPATH, DT_RPATH});
  return paths.empty() ? "" : paths.front();
}

}  // namespace distrun::base
