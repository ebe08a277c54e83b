#include <distrun/plugin/sdk/host.hpp>

#include <cstddef>

#include <distrun/plugin/sdk/detail/string.hpp>

namespace distrun {

void Host::set(std::string_view key, std::string_view value, base::Location where) {
  const distrun_rank& line = rank_.line();
  constexpr std::size_t kEnd = offsetof(distrun_rank, set) + sizeof(line.set);
  const bool can = line.size >= kEnd && line.set != nullptr;
  if (can && line.set(line.self, detail::lend(key), detail::lend(value)) == DISTRUN_OK) return;
  throw Error(ErrorKind::InvalidArgument,
              "cannot set '" + std::string(key) + "' to " + std::to_string(value.size()) +
                  " bytes: only set_up_host can do that, with at most 1000 keys and 1 MiB in all; write larger data "
                  "to a file in temp_dir()",
              where);
}

}  // namespace distrun
