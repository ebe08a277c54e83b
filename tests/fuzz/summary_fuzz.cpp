// A summary file: read or refused. A summary that was read, written again, reads the same. For any content, the reports
// that can be created from it keep their bounds.
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/github/github_annotations.hpp>
#include <distrun/runner/report/github/github_summary.hpp>
#include <distrun/runner/report/json/ctrf.hpp>
#include <distrun/runner/report/json/read_summary.hpp>
#include <distrun/runner/report/json/summary.hpp>

#include "fuzz.hpp"

using namespace distrun;
using fuzz::require;

namespace {

void check_reports(const runner::RunRecord& run) {
  require(report::ctrf_json(run).starts_with("{\n"), "CTRF is an object");
  const std::string page = report::github_summary(run, report::kGithubSummaryMin);
  require(page.size() <= report::kGithubSummaryMin, "the summary of a step keeps its limit");
  for (const std::string& line : base::split_lines(report::github_annotations(run, {"/ci", true}))) {
    require(line.starts_with("::"), "an annotation is one line");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  runner::RunRecord run;
  try {
    run = report::read_summary(fuzz::text_of(data, size));
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::InvalidArgument, "a refusal is an invalid argument");
    return 0;
  }
  const std::string once = report::summary_json(run);
  const std::string twice = report::summary_json(report::read_summary(once));
  require(once == twice, "a summary that was written is read as it is");
  check_reports(run);
  return 0;
}
