#pragma once
// --wrap and --wrap-rank in a summary.
#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/json/json_fields.hpp>
#include <distrun/runner/report/json/json_writer.hpp>

namespace distrun::report {

void write_wrappers(JsonWriter& out, const std::vector<runner::Wrapper>& wrappers);
void read_wrappers(const Json& from, std::vector<runner::Wrapper>& wrappers);

}  // namespace distrun::report
