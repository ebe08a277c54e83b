#pragma once
// Values that a test measures, such as times and rates, for the reports.
//
//   DISTRUN_MEASURE("bandwidth", 12.4, "GB/s");
//   DISTRUN_MEASURE("steps", 1000);
#include <string_view>

namespace distrun::detail {

void measure(std::string_view name, double value, std::string_view unit = "");

}  // namespace distrun::detail

// Adds a value to the report, measured by the rank that this thread works for: DISTRUN_MEASURE(name, value, unit), or
// without a unit. Values of one name and unit are shown together, with their median and range over all ranks; the JSON
// report has each. A rank may add 1000, with 4 MiB of names and notes; later ones are dropped. Throws
// Error{InvalidArgument} if the name is empty or the value is not finite, Error{Failed} outside a test. Thread-safe.
#define DISTRUN_MEASURE(name, ...) ::distrun::detail::measure(name, __VA_ARGS__)
