#include "outputs.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/report/files/whole_file.hpp>
#include <distrun/runner/report/json/ctrf.hpp>
#include <distrun/runner/report/json/summary.hpp>
#include <distrun/runner/report/xml/junit.hpp>

#include "terminal/terminal.hpp"

namespace distrun::cli {
namespace {

report::ConsoleOptions console_options(const RunOptions& options) {
  report::ConsoleOptions console;
  if (!options.settings.program.empty()) {
    // The programs' output is shown there: no status line, and only what the programs do not print.
    console.color = wants_color(options.color, STDERR_FILENO);
    console.quiet = console.silent = !options.program.verbose;
    console.verbose = options.program.verbose;
    console.shown_live = true;
    return console;
  }
  console.color = wants_color(options.color);
  console.tty = output_is_terminal();
  console.width = terminal_width();
  console.has_terminal = terminal_is_ours;
  console.quiet = options.quiet;
  console.output = options.show_output && !options.live_output;
  console.shown_live = options.live_output;
  if (options.live_output) console.live = report::LiveOptions{true, {console.color, console.color}};
  console.verbose = options.verbose;
  console.slow = options.slow;
  console.slow_after = options.slow_after;
  return console;
}

}  // namespace

Outputs::Outputs(const RunOptions& options, const base::Clock& clock)
    : paths_(options.reports),
      github_(options.github, !writes_to_stdout(options.reports)),
      console_(options.settings.program.empty() ? STDOUT_FILENO : STDERR_FILENO, console_options(options), clock) {
  if (!paths_.events.empty()) {
    events_ = std::make_unique<report::EventStream>(paths_.events, clock);
    sinks_.add(*events_);  // before the console: a machine that waits for an event should not wait for a terminal
  }
  sinks_.add(console_);
  sinks_.add(probes_);
  if (const std::string& directory = options.settings.trace_dir; !directory.empty()) {
    traces_ = std::make_unique<report::TraceFiles>(directory);
    trace_files_ = directory + "/*.json (traces, for ui.perfetto.dev)";
  }
}

void Outputs::write(runner::RunRecord& record, const std::string& path,
                    std::string (*compose)(const runner::RunRecord&)) {
  if (path.empty()) return;
  try {
    report::write_whole_file(path, compose(record));
  } catch (const Error& error) {
    record.problems.push_back({"", "report", error.what()});
    unwritten_.insert(path);
  }
}

// Names the files with more details for readers of the console.
void Outputs::name_reports() {
  if (events_ && !events_->error().empty()) unwritten_.insert(paths_.events);
  std::vector<std::string> named;
  for (const std::string& path : {paths_.summary, paths_.junit, paths_.events, paths_.ctrf}) {
    if (!path.empty() && !unwritten_.contains(path)) named.push_back(path);
  }
  if (traces_ && traces_->failure().empty()) named.push_back(trace_files_);
  console_.reports(std::move(named));
}

void Outputs::add_to_github_summary(runner::RunRecord& record) {
  try {
    github_.add_summary(record);
  } catch (const Error& error) {
    record.problems.push_back({"", "report", error.what()});
  }
}

// Reports a failed console output on stderr, as briefly as possible.
void Outputs::note_console(runner::RunRecord& record) {
  if (console_.error() == 0 || std::exchange(console_noted_, true)) return;
  const char* const stream = record.settings.program.empty() ? "standard output" : "standard error";
  const std::string text = std::string("cannot write ") + stream + ": " + base::errno_text(console_.error());
  std::fprintf(stderr, "distrun: %s\n", text.c_str());
  record.problems.push_back({"", "report", text});
}

void Outputs::finish(runner::RunRecord& record) {
  note_console(record);  // before the reports, so that they include it
  if (events_ && !events_->error().empty()) record.problems.push_back({"", "report", events_->error()});
  if (traces_ && !traces_->failure().empty()) record.problems.push_back({"", "report", traces_->failure()});
  add_to_github_summary(record);
  write(record, paths_.ctrf, report::ctrf_json);
  write(record, paths_.junit, report::junit_xml);
  write(record, paths_.summary, report::summary_json);
  const bool events_were_fine = events_ && events_->error().empty();
  if (events_) events_->on_run_end(record);
  if (events_were_fine && !events_->error().empty()) record.problems.push_back({"", "report", events_->error()});
  name_reports();
  console_.on_run_end(record);
  note_console(record);
  github_.annotate(record);
}

}  // namespace distrun::cli
