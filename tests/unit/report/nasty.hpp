#pragma once
// Text that tries to be more than text to whoever reads a report.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::report::samples {

// Commands of GitHub, ends of fences and tags, control characters, broken UTF-8, alone and in combinations that
// depend on `seed`.
std::vector<std::string> nasty_texts(std::uint64_t seed);
// A failing test in which `text` stands wherever a test can put text.
runner::TestRecord test_saying(const std::string& text);

}  // namespace distrun::report::samples
