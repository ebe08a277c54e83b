#include <distrun/plugin/rank/sanitizer_preload.hpp>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <type_traits>

#include <distrun/common/base/fd.hpp>

namespace distrun::rank {
namespace {

constexpr char kPreload[] = "LD_PRELOAD";
constexpr char kBefore[] = "DISTRUN_PRELOAD_BEFORE";  // the previous value, in a process that was restarted
constexpr std::size_t kHeadersMax = 1024;             // read per file
constexpr std::size_t kEntriesMax = 4096;
constexpr std::size_t kNameMax = 256;

// Reads structures of an ELF file.
class ElfFile {
 public:
  explicit ElfFile(const char* path) : file_(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    readable_ = read(0, header_) && std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
                header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_phentsize == sizeof(Elf64_Phdr);
  }

  std::vector<std::string> needed() const {
    std::vector<std::string> names;
    const auto dynamic = segment([](const Elf64_Phdr& segment) { return segment.p_type == PT_DYNAMIC; });
    if (!dynamic) return names;
    std::vector<std::uint64_t> offsets;
    std::uint64_t strings = 0;
    for (std::size_t i = 0; i < kEntriesMax; ++i) {
      Elf64_Dyn entry{};
      if (!read(dynamic->p_offset + i * sizeof entry, entry) || entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) offsets.push_back(entry.d_un.d_val);
      if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
    }
    const auto table = segment([strings](const Elf64_Phdr& segment) {
      return segment.p_type == PT_LOAD && strings - segment.p_vaddr < segment.p_filesz;
    });
    if (!table) return names;
    for (const std::uint64_t offset : offsets) {
      names.push_back(string_at(table->p_offset + (strings - table->p_vaddr) + offset));
    }
    return names;
  }

 private:
  template <class T>
  bool read(std::uint64_t offset, T& value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return file_ && ::pread(file_.get(), &value, sizeof value, static_cast<off_t>(offset)) == sizeof value;
  }

  std::string string_at(std::uint64_t offset) const {
    char text[kNameMax] = "";
    const ssize_t got = ::pread(file_.get(), text, sizeof text - 1, static_cast<off_t>(offset));
    return got > 0 ? std::string(text) : "";
  }

  template <class Matches>
  std::optional<Elf64_Phdr> segment(const Matches& matches) const {
    for (std::size_t i = 0; readable_ && i < header_.e_phnum && i < kHeadersMax; ++i) {
      Elf64_Phdr segment{};
      if (!read(header_.e_phoff + i * sizeof segment, segment)) break;
      if (matches(segment)) return segment;
    }
    return std::nullopt;
  }

  base::Fd file_;
  Elf64_Ehdr header_{};
  bool readable_ = false;
};

bool is_runtime(const std::string& library) {
  return library.starts_with("libasan.so") || library.starts_with("liblsan.so") ||
         library.starts_with("libclang_rt.asan");
}

// Restores the variables, so that child processes do not inherit the preload.
bool has_been_here() {
  const char* before = std::getenv(kBefore);
  if (before == nullptr) return false;
  *before == '\0' ? ::unsetenv(kPreload) : ::setenv(kPreload, before, 1);
  ::unsetenv(kBefore);
  return true;
}

[[gnu::cold]] void start_again(const std::string& runtime, char** arguments) {
  char program[PATH_MAX] = "";
  if (::readlink("/proc/self/exe", program, sizeof program - 1) <= 0) return;
  const char* before = std::getenv(kPreload);
  const std::string others = before != nullptr ? before : "";
  ::setenv(kBefore, others.c_str(), 1);
  ::setenv(kPreload, (others.empty() ? runtime : runtime + ":" + others).c_str(), 1);
  ::execv(program, arguments);
  has_been_here();  // exec failed: the plugin's runtime reports what is missing
}

}  // namespace

std::vector<std::string> needed_libraries(const char* path) { return ElfFile(path).needed(); }

void preload_sanitizer(const char* plugin, char** arguments) {
  if (has_been_here() || ::dlsym(RTLD_DEFAULT, "__lsan_do_leak_check") != nullptr) return;
  for (const std::string& library : needed_libraries(plugin)) {
    if (is_runtime(library)) return start_again(library, arguments);
  }
}

}  // namespace distrun::rank
