#include "ps_json.hpp"

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/report/json/json_parts.hpp>

namespace distrun::cli {
namespace {

void write_rank(report::JsonWriter& out, const wire::RankStatus& rank) {
  out.begin_object();
  out.field("rank", rank.rank);
  out.field_if(rank.pid > 0, "pid", rank.pid);
  if (!rank.host.empty()) out.field("host", rank.host);
  out.field("doing", rank.doing);
  out.field_if(rank.since_ms >= 0, "since_ms", rank.since_ms);
  out.field_if(!rank.waits.empty(), "waits_in", rank.waits);
  out.field("cpu_ms", rank.cpu_ms);
  out.field_if(rank.host.empty(), "memory_bytes", rank.memory_bytes);
  out.end_object();
}

void write_test(report::JsonWriter& out, const wire::TestStatus& test) {
  out.begin_object();
  out.field("id", test.test);
  out.field("attempt", test.attempt);
  out.field("duration_ms", test.test_ms);
  out.key("ranks");
  out.begin_array();
  for (const wire::RankStatus& rank : test.ranks) write_rank(out, rank);
  out.end_array();
  out.end_object();
}

void write_run(report::JsonWriter& out, const wire::RunStatus& run) {
  out.begin_object();
  out.field("run_id", run.run_id);
  out.field("pid", run.pid);
  out.field("started", base::iso8601(run.started_ms * 1'000'000));
  report::write_array(out, "command_line", run.command);
  report::write_array(out, "plugins", run.plugins);
  out.field("directory", run.directory);
  out.field("tests_done", run.done);
  out.field("tests_count", run.count);
  out.key("tests");
  out.begin_array();
  for (const wire::TestStatus& test : run.tests) write_test(out, test);
  out.end_array();
  out.end_object();
}

// Writes a run of the daemon that has no coordinator to ask.
void write_waiting(report::JsonWriter& out, const wire::DaemonRun& run) {
  out.begin_object();
  out.field("run_id", run.run_id);
  out.field_if(run.pid > 0, "pid", run.pid);
  out.field("state", run.pid == 0 ? "waiting" : run.over ? "over" : "starting");
  out.field("since_ms", run.since_ms);
  out.field("ahead", run.ahead);
  out.field("stopped", run.stopped);
  out.field("command", run.command);
  out.field_if(!run.directory.empty(), "directory", run.directory);
  out.end_object();
}

}  // namespace

std::string ps_json(const std::vector<wire::RunStatus>& running, const std::vector<wire::DaemonRun>& waiting) {
  report::JsonWriter out(report::JsonWriter::Layout::Pretty);
  out.begin_object();
  out.field("schema", "distrun.ps/1");
  out.key("runs");
  out.begin_array();
  for (const wire::RunStatus& run : running) write_run(out, run);
  out.end_array();
  out.key("waiting");
  out.begin_array();
  for (const wire::DaemonRun& run : waiting) write_waiting(out, run);
  out.end_array();
  out.end_object();
  return out.take() + "\n";
}

}  // namespace distrun::cli
