#include <distrun/common/base/clock.hpp>

#include <cstdio>
#include <ctime>

namespace distrun::base {
namespace {

class SystemClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::steady_clock::now(); }
  std::int64_t wall_ns() const override {
    return std::chrono::duration_cast<Nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
};

}  // namespace

const Clock& system_clock() noexcept {
  static const SystemClock clock;
  return clock;
}

std::string iso8601(std::int64_t wall_ns) {
  const std::time_t seconds = wall_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
  char text[64];
  std::snprintf(text, sizeof text, "%s.%03dZ", date, static_cast<int>(wall_ns / 1'000'000 % 1000));
  return text;
}

std::string human(Nanoseconds duration) {
  const double seconds = static_cast<double>(duration.count()) / 1e9;
  char text[48];
  if (seconds < 0.9995e-3) {  // more would round to 1000 us
    std::snprintf(text, sizeof text, "%.0f us", seconds * 1e6);
  } else if (seconds < 0.99995) {
    std::snprintf(text, sizeof text, "%.1f ms", seconds * 1e3);
  } else if (seconds < 120.0) {
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  } else {
    const auto whole = static_cast<long long>(seconds);
    std::snprintf(text, sizeof text, "%lld min %02lld s", whole / 60, whole % 60);
  }
  return text;
}

}  // namespace distrun::base
