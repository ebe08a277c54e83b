#pragma once
// Who has not come, and what they do instead, for the errors of those who wait for them.
#include <string>
#include <vector>

namespace distrun::rpc {

// "rank 2 (waits in receive "x" at a.cpp:7), rank 3 (has ended its test's body)": by what the board shows, if there is
// one.
std::string what_they_do(const std::vector<int>& ranks);

}  // namespace distrun::rpc
