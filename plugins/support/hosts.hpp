#pragma once
// Runs on several hosts (distrun --hosts): ranks of different hosts share no directory, no memory and no process ids.
// Tests about these cannot run there.
#include <cstdlib>
#include <string>

#include <distrun/test.hpp>

namespace distrun::suites {

// Returns whether the ranks of this test run on several hosts.
inline bool are_hosts_several() { return std::getenv("DISTRUN_HOSTS") != nullptr; }

// Skips the test, with this reason, if its ranks run on several hosts. Call it on all ranks, before they wait for each
// other.
inline void needs_one_host(const Rank& /*rank*/, const std::string& reason = "hosts share no directory") {
  if (are_hosts_several()) skip("needs ranks on one host: " + reason);
}

}  // namespace distrun::suites
