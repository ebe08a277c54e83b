#pragma once
// Compares two runs of the same tests by their summaries, without times, pids, addresses and names of temporary files.
#include <string>
#include <vector>

#include "fixtures/row.hpp"
#include "support/summary.hpp"

namespace distrun::testing {

// Returns the differences, one sentence each. Results that a row leaves open are not compared.
std::vector<std::string> unequal(const std::vector<fixtures::Row>& rows, const Summary& one, const Summary& other);

}  // namespace distrun::testing
