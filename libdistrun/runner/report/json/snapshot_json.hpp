#pragma once
// Writes a snapshot (Look) of the ranks as JSON, for the summary and the event stream: the state of each rank, the
// threads with their stacks as indices into a table of frames, and the text for people.
#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/json/json_writer.hpp>

namespace distrun::report {

// Writes fields into an open object.
void write_snapshot_fields(JsonWriter& out, const runner::Snapshot& snapshot);
void write_snapshots(JsonWriter& out, const std::vector<runner::Snapshot>& snapshots);

}  // namespace distrun::report
