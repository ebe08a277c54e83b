#include <distrun/common/base/isolation.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::base {
namespace {

constexpr std::array<const char*, 5> kIsolationNames{"process", "exec", "pool", "threads", "program"};

}  // namespace

const char* name_of(Isolation isolation) noexcept { return kIsolationNames.at(static_cast<std::size_t>(isolation)); }

std::optional<Isolation> find_isolation(std::string_view name) noexcept {
  const auto found = std::find(kIsolationNames.begin(), kIsolationNames.end(), name);
  if (found == kIsolationNames.end()) return std::nullopt;
  return static_cast<Isolation>(found - kIsolationNames.begin());
}

Isolation parse_isolation(std::string_view name) {
  if (const auto isolation = find_isolation(name)) return *isolation;
  throw Error(ErrorKind::InvalidArgument,
              "unknown isolation '" + one_line(std::string(name)) + "'; expected process, exec, pool or threads");
}

}  // namespace distrun::base
