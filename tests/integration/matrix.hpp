#pragma once
// The matrix of fixtures x isolations, printed when all tests have run.
#include <string>
#include <vector>

namespace distrun::testing {

// `findings` empty: the fixture came to what it must.
void enter_in_matrix(const std::string& fixture, const std::string& isolation,
                     const std::vector<std::string>& findings);
// One line per fixture; nothing if none was run.
std::string matrix_text();

}  // namespace distrun::testing
