#pragma once
// A look at the ranks in JSON, for the summary and the event stream: what each rank showed, the threads with their
// stacks as indices into a table of frames, and the text that people read.
#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/json/json_writer.hpp>

namespace distrun::report {

// Into an object that is open.
void write_look_fields(JsonWriter& out, const runner::Look& look);
void write_looks(JsonWriter& out, const std::vector<runner::Look>& looks);

}  // namespace distrun::report
