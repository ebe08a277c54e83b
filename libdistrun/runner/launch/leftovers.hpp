#pragma once
// The children of this process that have outlived the ranks that started them. Lives on: the coordinator's loop.
#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <distrun/runner/launch/node.hpp>

namespace distrun::launch {

class Leftovers {
 public:
  // `is_leftover` tells a leftover from children that belong to the caller.
  explicit Leftovers(std::function<bool(pid_t)> is_leftover) : is_leftover_(std::move(is_leftover)) {}

  // Returns those that still exist; reaps those that have ended.
  std::vector<Leftover> find() const;
  // Returns the names in these directories that they have open.
  std::vector<base::HeldName> held(const std::vector<std::string>& directories) const;
  // Kills them and what they have started. Blocks for at most a few milliseconds.
  EndedLeftovers end() const;

 private:
  std::function<bool(pid_t)> is_leftover_;
};

}  // namespace distrun::launch
