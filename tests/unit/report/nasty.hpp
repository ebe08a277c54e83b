#pragma once
// Text that tries to be interpreted by the readers of reports.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::report::samples {

// Returns GitHub commands, ends of fences and tags, control characters, broken UTF-8, separately and in combinations
// derived from `seed`.
std::vector<std::string> nasty_texts(std::uint64_t seed);
// Returns a failing test with `text` in every text field.
runner::TestRecord test_saying(const std::string& text);

}  // namespace distrun::report::samples
