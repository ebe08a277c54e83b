#include <distrun/runtime/core/cpus.hpp>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include <distrun/common/base/cpu_list.hpp>

namespace distrun::core {

int cpus() noexcept {
  int told = 0;
  const char* text = std::getenv("DISTRUN_CPUS");
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), told);
  if (told > 0) return told;
  const int usable = base::cpu_count_of_thread();
  return std::max(1, usable > 0 ? usable : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace distrun::core
