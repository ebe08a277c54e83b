#pragma once
// Formats the result of `distrun doctor`: the first cause in three lines, its evidence and what would contradict it,
// then the other causes in a line each.
#include <vector>

#include <distrun/runner/record/doctor/examination.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::report {

std::vector<evidence::Line> examination_lines(const runner::doctor::Examination& examination);

}  // namespace distrun::report
