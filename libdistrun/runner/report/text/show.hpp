#pragma once
#include <string>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// A run read back from its summary, as the console told it: a line per test, then what went wrong.
std::string show_text(const runner::RunRecord& run, const Paint& paint, std::size_t slow = 0);

}  // namespace distrun::report
