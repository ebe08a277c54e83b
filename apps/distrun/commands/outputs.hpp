#pragma once
// Everything that a run writes: console, event stream, summary, JUnit, CTRF, traces, and what GitHub shows.
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

namespace distrun::cli {

class Outputs {
 public:
  // Throws Error{Failed} if the event stream cannot be opened.
  Outputs(const RunOptions& options, const base::Clock& clock);

  runner::EventSink& sink() noexcept { return sinks_; }
  report::Console& console() noexcept { return console_; }
  // `sink` hears everything as well; it must outlive the run.
  void add(runner::EventSink& sink) { sinks_.add(sink); }
  // Null: none are wanted.
  runner::TraceSink* traces() noexcept { return traces_.get(); }
  // Writes the reports, adds to the record what could not be written, and tells the end.
  void finish(runner::RunRecord& record);

 private:
  void write(runner::RunRecord& record, const std::string& path, std::string (*compose)(const runner::RunRecord&));
  void name_reports();
  void add_to_github_summary(runner::RunRecord& record);
  void note_console(runner::RunRecord& record);

  ReportPaths paths_;
  GithubOutput github_;  // before the console, whose text it frames
  report::Console console_;
  std::unique_ptr<report::EventStream> events_;
  std::unique_ptr<report::TraceFiles> traces_;
  std::string trace_files_;          // as people are told of them
  std::set<std::string> unwritten_;  // reports that could not be written
  bool console_noted_ = false;       // that it could not be written
  FanOut sinks_;
};

}  // namespace distrun::cli
