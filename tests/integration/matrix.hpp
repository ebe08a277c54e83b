#pragma once
// The matrix of fixtures x isolations, printed after all tests.
#include <string>
#include <vector>

namespace distrun::testing {

// Records a result; empty `findings`: as expected.
void enter_in_matrix(const std::string& fixture, const std::string& isolation,
                     const std::vector<std::string>& findings);
// Returns one line per fixture; empty if none was run.
std::string matrix_text();

}  // namespace distrun::testing
