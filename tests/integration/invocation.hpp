#pragma once
// An invocation of distrun for fixtures, as a process beside others.
#include <memory>
#include <string>
#include <vector>

#include "fixtures/row.hpp"
#include "support/sandbox.hpp"

namespace distrun::testing {

inline constexpr char kDaemon[] = "daemon";  // each isolation again, through the daemon
inline constexpr char kHosts[] = "hosts";    // ranks of two nodes, on this machine

// One invocation of distrun for some of the rows of a group.
struct Invocation {
  std::string way;  // an isolation, kDaemon or kHosts
  std::string isolation;
  std::vector<fixtures::Row> rows;
  std::unique_ptr<Sandbox> sandbox;
  std::unique_ptr<Running> running;
  Ended ended;
  bool retried = false;  // a row differed beside the others, and was run alone
};

// Starts it; its way, isolation and rows are set.
void begin(const fixtures::Group& group, Invocation& invocation);

}  // namespace distrun::testing
