#pragma once
// Writes the causes of a hang as JSON, for the summary and the event stream, and reads them back.
#include <vector>

#include <distrun/runner/record/doctor/hang_cause.hpp>
#include <distrun/runner/report/json/json_fields.hpp>
#include <distrun/runner/report/json/json_writer.hpp>

namespace distrun::report {

// Writes the field `hang_causes` into an open object: an array, the headline first. Writes nothing if there are none.
void write_hang_causes(JsonWriter& out, const std::vector<runner::HangCause>& causes);

// Reads one element of that array. Throws Error{InvalidArgument}.
runner::HangCause read_hang_cause(const Json& from);

}  // namespace distrun::report
