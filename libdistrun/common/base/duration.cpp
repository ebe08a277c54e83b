#include <distrun/common/base/duration.hpp>

#include <charconv>
#include <string_view>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::base {
namespace {

constexpr double kMaxSeconds = 7 * 24 * 3600;

double seconds_per(std::string_view unit) {
  if (unit == "ms") return 1e-3;
  if (unit.empty() || unit == "s") return 1;
  if (unit == "m" || unit == "min") return 60;
  if (unit == "h") return 3600;
  return 0;
}

}  // namespace

Nanoseconds parse_duration(const std::string& option, const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double seconds = error == std::errc{} ? number * seconds_per(unit) : 0;
  if (!(seconds > 0 && seconds <= kMaxSeconds)) {
    throw Error(ErrorKind::InvalidArgument,
                option + " " + one_line(text) +
                    ": expected a duration such as 500ms, 30s, 5m or 1h, more than 0 and at most 7 days");
  }
  return nanoseconds_of(seconds);
}

}  // namespace distrun::base
