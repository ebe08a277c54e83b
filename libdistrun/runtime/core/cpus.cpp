#include <distrun/runtime/core/cpus.hpp>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include <distrun/common/base/cpu_list.hpp>

namespace distrun::core {

int cpus() noexcept {
  int told = 0;
  const char* text = std::getenv("DISTRUN_CPUS");
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), told);
  return told > 0 ? told : base::cpu_count_of_thread();
}

}  // namespace distrun::core
