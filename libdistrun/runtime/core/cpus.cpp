#include <distrun/runtime/core/cpus.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace distrun::core {

int cpus() noexcept {
  cpu_set_t usable;
  const bool is_told = ::sched_getaffinity(0, sizeof usable, &usable) == 0;
  return std::max(1, is_told ? CPU_COUNT(&usable) : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace distrun::core
