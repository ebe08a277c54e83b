// distrun show: an earlier run, from its summary.
#include <cstdio>

#include <distrun/runner/report/files/whole_file.hpp>
#include <distrun/runner/report/json/ctrf.hpp>
#include <distrun/runner/report/text/run_text.hpp>
#include <distrun/runner/report/xml/junit.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "github_output.hpp"
#include "options/report_file.hpp"
#include "terminal/terminal.hpp"

namespace distrun::cli {
namespace {

void print(const runner::RunRecord& run, const ShowOptions& options) {
  const std::string text =
      report::show_text(run, report::Paint(wants_color(options.color)), options.slow, options.verbose);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

int show(const ShowOptions& options) {
  const runner::RunRecord run = read_report(options.report);
  const bool stdout_is_free = !writes_to_stdout(options.reports);
  if (!options.reports.junit.empty()) report::write_whole_file(options.reports.junit, report::junit_xml(run));
  if (!options.reports.ctrf.empty()) report::write_whole_file(options.reports.ctrf, report::ctrf_json(run));
  GithubOutput github(options.github, stdout_is_free);
  if (stdout_is_free) print(run, options);
  github.add_summary(run);
  github.annotate(run);
  return kSuccess;
}

}  // namespace distrun::cli
