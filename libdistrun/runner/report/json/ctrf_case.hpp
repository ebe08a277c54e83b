#pragma once
#include <cstdint>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/json/json_writer.hpp>

namespace distrun::report {

enum class CtrfStatus : std::uint8_t { Passed, Failed, Skipped, Pending, Other };
inline constexpr int kCtrfStatusCount = 5;
const char* name_of(CtrfStatus status) noexcept;  // "passed"
CtrfStatus ctrf_status(runner::Verdict verdict) noexcept;

// An element of `tests` for one test with all its attempts. Message, trace and output are those of the attempt that
// explains the verdict.
void write_ctrf_case(JsonWriter& out, const runner::Settings& settings, const runner::TestRecord& test);
// An element for something that kept tests from running.
void write_ctrf_problem(JsonWriter& out, const runner::Problem& problem);

}  // namespace distrun::report
