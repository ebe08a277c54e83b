#include <distrun/plugin/sdk/measure.hpp>

#include <cmath>
#include <cstddef>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/plugin/sdk/context.hpp>
#include <distrun/plugin/sdk/detail/string.hpp>

namespace distrun::detail {

void measure(std::string_view name, double value, std::string_view unit) {
  Rank& rank = this_rank();
  if (name.empty()) throw Error(ErrorKind::InvalidArgument, "a measured value needs a name");
  if (!std::isfinite(value)) {
    throw Error(ErrorKind::InvalidArgument,
                "the measured value \"" + std::string(name) + "\" is " + std::to_string(value) + "; it must be finite");
  }
  const distrun_rank& line = rank.line();
  constexpr std::size_t kEnd = offsetof(distrun_rank, measure) + sizeof line.measure;
  if (line.size >= kEnd) return line.measure(line.self, lend(name), value, lend(unit));
  rank.note(name, std::to_string(value) + " " + std::string(unit));  // an older distrun
}

}  // namespace distrun::detail
