#pragma once
// What a profile records: something with a name that began and ended.
#include <cstdint>
#include <string>

#include <distrun/common/base/clock.hpp>

namespace distrun::profiler {

struct Event {
  std::string name;
  base::TimePoint begin;
  base::TimePoint end;
  std::int32_t thread = 0;  // where it began, by the kernel's number
};

}  // namespace distrun::profiler
