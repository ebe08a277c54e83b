#pragma once
// What a test leaves open in its own process, for --leaks strict: descriptors and threads. Not looked for
// otherwise: whoever reads /proc/self makes the kernel spend milliseconds on the process's end.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <distrun/common/wire/control.hpp>

namespace distrun::rank {

class OwnLeaks {
 public:
  // What is open now counts as old.
  OwnLeaks();
  // What has come since. A thread that is just ending gets a moment.
  std::vector<wire::LeakReport> look() const;

 private:
  std::map<int, std::string> descriptors_;  // number, target
  std::set<int> threads_;
};

}  // namespace distrun::rank
