#pragma once
// The processes that others have forked or spawned: children and their children, as far as their parents live. Reads
// /proc and never blocks.
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/wire/stacks.hpp>

namespace distrun::probe {

struct Descendant {
  pid_t pid = 0;
  std::int32_t of = 0;  // index of its ancestor in `pids`
};

struct Descendants {
  std::vector<Descendant> list;  // children before grandchildren
  std::int32_t left_out = 0;     // further ones that were found
};

// Returns at most `limit` living descendants that are not among `pids`, and stops looking at `end`. Those in `adopted`
// count as children of their parents.
Descendants descendants_of(const std::vector<pid_t>& pids, std::size_t limit, base::TimePoint end,
                           const std::vector<wire::AdoptedProcess>& adopted = {});

// Returns its command line as far as that fits, else its name.
std::string command_line_of(pid_t pid);

}  // namespace distrun::probe
