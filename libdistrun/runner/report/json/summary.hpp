#pragma once
// Formats the run as one JSON document, "distrun.summary/1", with everything that is known about it. Its shape:
// schema/summary.schema.json. Its inverse: read_summary.hpp.
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

inline constexpr char kSummarySchema[] = "distrun.summary/1";

std::string summary_json(const runner::RunRecord& run);

}  // namespace distrun::report
