#include <distrun/runner/proc/exit_status.hpp>

#include <distrun/common/base/text.hpp>

namespace distrun::proc {

ExitStatus ExitStatus::from(const siginfo_t& info) noexcept {
  return info.si_code == CLD_EXITED ? of_code(info.si_status) : of_signal(info.si_status);
}

std::string ExitStatus::describe() const {
  if (exited()) return "exited with code " + std::to_string(code_);
  return "was killed by signal " + std::to_string(signal_) + " (" + base::signal_name(signal_) + ")";
}

}  // namespace distrun::proc
