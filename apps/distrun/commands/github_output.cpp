#include "github_output.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runner/report/files/appended_file.hpp>
#include <distrun/runner/report/files/outlet.hpp>
#include <distrun/runner/report/github/github_annotations.hpp>
#include <distrun/runner/report/github/github_command.hpp>
#include <distrun/runner/report/github/github_summary.hpp>

namespace distrun::cli {
namespace {

constexpr base::Milliseconds kPatience = std::chrono::minutes(1);
constexpr int kTokenDigits = 32;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_on(GithubChoice choice) {
  return choice == GithubChoice::On || (choice == GithubChoice::Auto && variable("GITHUB_ACTIONS") == "true");
}

void print(std::string_view text) {
  report::Outlet out(STDOUT_FILENO);
  out.write(text);
  out.drain(kPatience);
}

}  // namespace

GithubOutput::GithubOutput(const GithubOptions& options, bool stdout_is_free)
    : on_(is_on(options.choice)), annotates_(on_ && stdout_is_free), skips_(options.skips) {
  if (!annotates_) return;
  token_ = base::random_hex(kTokenDigits);
  print(report::github_stop_commands(token_));
}

GithubOutput::~GithubOutput() { obey_again(); }

void GithubOutput::add_summary(const runner::RunRecord& run) const {
  const std::string path = on_ ? variable("GITHUB_STEP_SUMMARY") : "";
  if (path.empty()) return;
  report::AppendedFile file(path);
  if (file.size() + report::kGithubSummaryMin > report::kGithubSummaryMax) {
    throw Error(ErrorKind::Failed, "cannot append to " + path + ": it has " + std::to_string(file.size()) +
                                       " bytes already; GitHub accepts at most " +
                                       std::to_string(report::kGithubSummaryMax) + " per step");
  }
  file.append(report::github_summary(run, report::kGithubSummaryMax - file.size()));
}

void GithubOutput::annotate(const runner::RunRecord& run) {
  if (!annotates_) return;
  obey_again();
  print(report::github_annotations(run, {variable("GITHUB_WORKSPACE"), skips_}));
}

void GithubOutput::obey_again() {
  if (token_.empty()) return;
  print(report::github_resume_commands(token_));
  token_.clear();
}

}  // namespace distrun::cli
