#pragma once
// What the ranks of an attempt have written down of what they did, and who takes it: a report does.
#include <string>
#include <vector>

#include <distrun/common/trace/memory.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// The attempt is over and judged. References are good for the call only.
struct TracedAttempt {
  const std::string& plugin;
  const std::string& test;  // its id
  const AttemptRecord& attempt;
  base::TimePoint began;
  base::TimePoint ended;
  const trace::Memory& memory;
  std::vector<RankView> views;  // what ranks showed on the board in the end
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Writes it to a file, whose path is returned; empty: it cannot be written. On the coordinator's loop; never throws.
  virtual std::string write(const TracedAttempt& traced) = 0;
  // An attempt goes without, for this reason.
  virtual void miss(const std::string& why) = 0;
};

}  // namespace distrun::runner
