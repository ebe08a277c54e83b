// distrun show: an earlier run, from its summary.
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <distrun/base/error.hpp>
#include <distrun/report/ctrf.hpp>
#include <distrun/report/junit.hpp>
#include <distrun/report/read_summary.hpp>
#include <distrun/report/show.hpp>
#include <distrun/report/whole_file.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "github_output.hpp"
#include "terminal.hpp"

namespace distrun::cli {
namespace {

// Throws Error{InvalidArgument} if there is none.
runner::RunRecord read_run(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf())) {
    throw Error(ErrorKind::InvalidArgument, "cannot read " + path + ": " + base::errno_text(errno));
  }
  try {
    return report::read_summary(content.str());
  } catch (Error& error) {
    throw error.while_doing(path);
  }
}

void print(const runner::RunRecord& run, ColorChoice color) {
  const std::string text = report::show_text(run, report::Paint(wants_color(color)));
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

int show(const ShowOptions& options) {
  const runner::RunRecord run = read_run(options.report);
  const bool stdout_is_free = !writes_to_stdout(options.reports);
  if (!options.reports.junit.empty()) report::write_whole_file(options.reports.junit, report::junit_xml(run));
  if (!options.reports.ctrf.empty()) report::write_whole_file(options.reports.ctrf, report::ctrf_json(run));
  GithubOutput github(options.github, stdout_is_free);
  if (stdout_is_free) print(run, options.color);
  github.add_summary(run);
  github.annotate(run);
  return kSuccess;
}

}  // namespace distrun::cli
