#pragma once
// The machines of a snapshot's ranks, as numbers that are equal for all processes of one machine. Processes of two
// machines may have the same ids, and wait for objects with the same keys: only the number tells them apart.
#include <map>
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner::doctor {

class Machines {
 public:
  explicit Machines(const Snapshot& snapshot);

  // Returns the number of the rank's machine, which is evidence::Process::host of its process. A machine of which no
  // process was seen has a negative number. All that is known of the host of a suite is on one machine.
  int of_rank(int rank) const;
  // The machines' names, by number; without this machine.
  const std::map<int, std::string>& names() const noexcept { return names_; }

 private:
  int first_ = 0;  // of the first process
  std::map<int, int> by_rank_;
  std::map<int, std::string> names_;
};

}  // namespace distrun::runner::doctor
