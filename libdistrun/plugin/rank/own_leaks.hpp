#pragma once
// Finds descriptors and threads that a test leaves open in its own process, for --leaks strict. Not used otherwise:
// after a read of /proc/self the kernel needs milliseconds more to end the process.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <distrun/common/wire/control.hpp>

namespace distrun::rank {

class OwnLeaks {
 public:
  // Everything open now counts as old.
  OwnLeaks();
  // Returns what is new since. A thread that is just ending gets a moment.
  std::vector<wire::LeakReport> look() const;

 private:
  std::map<int, std::string> descriptors_;  // number, target
  std::set<int> threads_;
};

}  // namespace distrun::rank
