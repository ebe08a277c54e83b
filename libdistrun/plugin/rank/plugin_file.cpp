#include <distrun/plugin/rank/plugin_file.hpp>

#include <dlfcn.h>
#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>

#include <distrun/common/base/demangle.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::rank {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kOwnMachine = EM_AARCH64;
#else
constexpr std::uint16_t kOwnMachine = EM_NONE;
#endif

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

std::string first_bytes(const std::string& path) {
  std::string bytes(sizeof(Elf64_Ehdr), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

bool is_source(std::string_view path) {
  for (const char* const ending : {".cpp", ".cc", ".cxx", ".c", ".cu", ".hpp", ".h"}) {
    if (path.ends_with(ending)) return true;
  }
  return false;
}

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_386: return "32-bit x86";
    case EM_X86_64: return "x86-64";
    case EM_ARM: return "32-bit ARM";
    case EM_AARCH64: return "AArch64";
    case EM_PPC64: return "PowerPC64";
    case EM_S390: return "s390";
    case EM_RISCV: return "RISC-V";
    default: return "the processor with ELF number " + std::to_string(machine);
  }
}

// Refuses a file that does not begin like an ELF file.
void refuse_other(const std::string& path, const std::string& begin) {
  if (is_source(path)) {
    refuse_plugin(path, "is a source file; compile it to a shared object (distrun_add_plugin in CMake), and pass that");
  }
  if (begin.starts_with("#!"))
    refuse_plugin(path, "is a script; to run it on ranks, use 'distrun exec -- " + path + "'");
  if (begin.starts_with("!<arch>")) refuse_plugin(path, "is a static library; a plugin is a shared object (.so)");
  if (begin.empty()) refuse_plugin(path, "is empty; a plugin is a shared object (.so)");
  refuse_plugin(path, "is not a shared object (.so): it is not in the ELF format");
}

void check_machine(const std::string& path, const std::string& begin) {
  Elf64_Ehdr head{};  // the fields up to the machine are the same in 32-bit files
  std::memcpy(&head, begin.data(), std::min(begin.size(), sizeof head));
  if (begin.size() < offsetof(Elf64_Ehdr, e_version) || kOwnMachine == EM_NONE) return;
  const bool is_own = head.e_machine == kOwnMachine && head.e_ident[EI_CLASS] == ELFCLASS64;
  if (is_own) return;
  refuse_plugin(path, "was built for " + machine_name(head.e_machine) + ", but this machine is " +
                          machine_name(kOwnMachine) + "; build it for this machine");
}

// Adds load(int) to "a.so: undefined symbol: _Z4loadi".
std::string with_demangled(std::string text) {
  constexpr std::string_view kBefore = "undefined symbol: ";
  const std::size_t begin = text.find(kBefore);
  if (begin == std::string::npos) return text;
  const std::size_t symbol = begin + kBefore.size();
  const std::size_t end = std::min(text.find_first_of(",\n ", symbol), text.size());
  const std::string mangled = text.substr(symbol, end - symbol), name = base::demangled(mangled);
  if (name != mangled) text.replace(symbol, end - symbol, name + " (" + mangled + ")");
  return text + "; link the plugin with the library or source that defines it";
}

}  // namespace

void refuse_plugin(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::InvalidArgument, "PluginError", path + " " + why);
}

void check_plugin_file(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return;
  if (!S_ISREG(found.st_mode)) {
    refuse_plugin(path,
                  std::string("is ") + kind_of(found.st_mode) + ", not a file; a plugin is a shared object (.so)");
  }
  const std::string begin = first_bytes(path);
  if (begin.empty() && found.st_size > 0) return;  // unreadable: the loader will report it
  if (!begin.starts_with(ELFMAG)) refuse_other(path, begin);
  check_machine(path, begin);
}

std::string why_not_loaded() {
  const char* const said = ::dlerror();
  std::string why = with_demangled(said != nullptr ? said : "the loader reports no reason");
  if (why.find("libdistrun.so") != std::string::npos) {
    why += " (its runtime, which is searched where the plugin was built or installed, and in LD_LIBRARY_PATH)";
  }
  return why;
}

}  // namespace distrun::rank
