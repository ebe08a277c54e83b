#include <distrun/plugin/rank/sanitizer_preload.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string>

#include <distrun/common/base/elf_file.hpp>

namespace distrun::rank {
namespace {

constexpr char kPreload[] = "LD_PRELOAD";
constexpr char kBefore[] = "DISTRUN_PRELOAD_BEFORE";  // the previous value, in a process that was restarted

bool is_runtime(const std::string& library) {
  return library.starts_with("libasan.so") || library.starts_with("liblsan.so") || library.starts_with("libtsan.so") ||
         library.starts_with("libclang_rt.asan") || library.starts_with("libclang_rt.tsan");
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

void preload_sanitizer(const char* plugin, char** arguments) {
  if (has_been_here() || ::dlsym(RTLD_DEFAULT, "__sanitizer_set_death_callback") != nullptr) return;
  for (const std::string& library : base::ElfFile(plugin).needed()) {
    if (is_runtime(library)) return start_again(library, arguments);
  }
}

}  // namespace distrun::rank
