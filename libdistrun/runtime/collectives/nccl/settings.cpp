#include <distrun/runtime/collectives/nccl/settings.hpp>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <distrun/common/base/error.hpp>

namespace distrun::collectives {
namespace {

std::optional<int> number_in(const std::string& variable) {
  const char* const value = std::getenv(variable.c_str());
  if (value == nullptr) return std::nullopt;
  const std::string_view text = value;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return number;
  throw Error(ErrorKind::InvalidArgument, "ValueError",
              "Invalid value for environment variable: " + variable + " must be a number, not \"" + value + "\"");
}

// Reads the variable by its present name, or its former one.
int number_of(const std::string& variable, int otherwise) {
  if (const auto number = number_in("TORCH_" + variable)) return *number;
  return number_in(variable).value_or(otherwise);
}

}  // namespace

NcclSettings read_nccl_settings() {
  NcclSettings settings;
  settings.blocking_wait = number_of("NCCL_BLOCKING_WAIT", 0) != 0;
  settings.has_watchdog = number_of("NCCL_ASYNC_ERROR_HANDLING", 3) != 0;
  return settings;
}

}  // namespace distrun::collectives
