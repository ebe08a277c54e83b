#pragma once
// All output of a run: console, event stream, static probes, summary, JUnit, CTRF, traces, and GitHub.
#include <memory>
#include <set>
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/report/json/event_stream.hpp>
#include <distrun/runner/report/text/console.hpp>
#include <distrun/runner/report/trace/trace_files.hpp>

#include "fan_out.hpp"
#include "github_output.hpp"
#include "options/options.hpp"
#include "probe_events.hpp"

namespace distrun::cli {

class Outputs {
 public:
  // Throws Error{Failed} if the event stream cannot be opened.
  Outputs(const RunOptions& options, const base::Clock& clock);

  runner::EventSink& sink() noexcept { return sinks_; }
  report::Console& console() noexcept { return console_; }
  // Adds another sink for all events; it must outlive the run.
  void add(runner::EventSink& sink) { sinks_.add(sink); }
  // Null if no traces are requested.
  runner::TraceSink* traces() noexcept { return traces_.get(); }
  // Writes the reports, adds failures of writing to the record, and prints the end.
  void finish(runner::RunRecord& record);

 private:
  void write(runner::RunRecord& record, const std::string& path, std::string (*compose)(const runner::RunRecord&));
  void name_reports();
  void add_to_github_summary(runner::RunRecord& record);
  void note_console(runner::RunRecord& record);

  ReportPaths paths_;
  GithubOutput github_;  // before the console, which it encloses
  report::Console console_;
  std::unique_ptr<report::EventStream> events_;
  std::unique_ptr<report::TraceFiles> traces_;
  std::string trace_files_;          // as shown to users
  std::set<std::string> unwritten_;  // reports that could not be written
  bool console_noted_ = false;       // a console failure was reported
  ProbeEvents probes_;
  FanOut sinks_;
};

}  // namespace distrun::cli
