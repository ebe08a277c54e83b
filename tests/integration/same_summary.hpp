#pragma once
// Whether two runs of the same tests came to the same: what is left of their summaries without times, pids, addresses
// and names of temporary places.
#include <string>
#include <vector>

#include "fixtures/row.hpp"
#include "support/summary.hpp"

namespace distrun::testing {

// What differs, one sentence each. Where a row says that more than one end is right, that much is not compared.
std::vector<std::string> unequal(const std::vector<fixtures::Row>& rows, const Summary& one, const Summary& other);

}  // namespace distrun::testing
