#pragma once
// Traces of an attempt's ranks, and the interface of the report that takes them.
#include <string>
#include <vector>

#include <distrun/common/trace/reader.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// An attempt that is over and judged. References are valid only during the call.
struct TracedAttempt {
  const std::string& plugin;
  const std::string& test;  // its id
  const AttemptRecord& attempt;
  base::TimePoint began;
  base::TimePoint ended;
  std::vector<trace::RankTrace> traces;  // by rank; times by this machine's clock
  std::vector<RankView> views;           // what ranks showed on the board at the end
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Writes the traces to a file. Returns its path, or empty on failure. On the coordinator's loop; never throws.
  virtual std::string write(const TracedAttempt& traced) = 0;
  // Reports that an attempt has no trace, and why.
  virtual void miss(const std::string& why) = 0;
};

}  // namespace distrun::runner
