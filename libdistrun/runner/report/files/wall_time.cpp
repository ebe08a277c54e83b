#include <distrun/runner/report/files/wall_time.hpp>

#include <cstdio>
#include <ctime>

namespace distrun::report {
namespace {

// Checks the range of each part; other values could overflow the conversion to seconds.
bool is_date(const std::tm& parts) {
  const auto within = [](int value, int low, int high) { return value >= low && value <= high; };
  return within(parts.tm_year, 1970, 2261) && within(parts.tm_mon, 1, 12) && within(parts.tm_mday, 1, 31) &&
         within(parts.tm_hour, 0, 23) && within(parts.tm_min, 0, 59) && within(parts.tm_sec, 0, 60);
}

}  // namespace

std::optional<std::int64_t> try_read_wall_time(const std::string& text) {
  std::tm parts{};
  int ms = 0;
  const int fields = std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ", &parts.tm_year, &parts.tm_mon,
                                 &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &ms);
  if (fields < 6 || !is_date(parts)) return std::nullopt;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return static_cast<std::int64_t>(timegm(&parts)) * 1'000'000'000 + ms * 1'000'000LL;
}

}  // namespace distrun::report
