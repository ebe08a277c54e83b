#include <distrun/runner/report/github/github_annotations.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/github/github_command.hpp>
#include <distrun/runner/report/text/by_urgency.hpp>
#include <distrun/runner/report/text/case_parts.hpp>
#include <distrun/runner/report/text/failure_text.hpp>
#include <distrun/runner/report/text/repeat_command.hpp>
#include <distrun/runner/report/text/reported_settings.hpp>

namespace distrun::report {
namespace {

using runner::TestRecord;
using runner::Verdict;

// GitHub cuts a message at 4096 characters. Together these stay below.
constexpr std::size_t kAnnotationMax = 1500;
constexpr std::size_t kAlsoMax = 1000;
constexpr std::size_t kCommandMax = 1000;
constexpr std::size_t kTitleMax = 200;

// One annotation, for one test or for several with the same failure.
struct Annotation {
  std::string headline;  // "fail: Ring.gather"
  SourcePlace place;
  std::string cause;
  std::string again;              // the command that repeats the first of them
  std::vector<std::string> also;  // ids of the other tests
};

class Annotations {
 public:
  Annotations(const char* kind, std::string workspace) : kind_(kind), workspace_(std::move(workspace)) {}

  void add(Annotation annotation, const std::string& id) {
    const auto key = std::make_tuple(annotation.place.file, annotation.place.line, annotation.cause);
    const auto [at, is_new] = index_.try_emplace(key, annotations_.size());
    if (is_new) {
      annotations_.push_back(std::move(annotation));
    } else {
      annotations_[at->second].also.push_back(id);
    }
  }

  std::size_t size() const noexcept { return annotations_.size(); }

  std::string text(std::size_t count_max) const {
    std::string text;
    for (std::size_t i = 0; i < annotations_.size() && i < count_max; ++i) text += line_of(annotations_[i]);
    return text;
  }

 private:
  std::string line_of(const Annotation& annotation) const {
    std::string title = base::one_line(annotation.headline, kTitleMax);
    std::string text = base::one_line(annotation.cause, kAnnotationMax);
    if (!annotation.also.empty()) {
      title += " and " + std::to_string(annotation.also.size()) + " more";
      std::string ids;
      for (const std::string& id : annotation.also) ids += (ids.empty() ? "" : ", ") + id;
      text += "\nalso: " + base::one_line(ids, kAlsoMax);
    }
    if (!annotation.again.empty() && annotation.again.size() <= kCommandMax) text += "\nagain: " + annotation.again;
    const SourcePlace& place = annotation.place;
    const std::string line = place.file.empty() || place.line == 0 ? "" : std::to_string(place.line);
    return github_command(kind_, {{"file", in_workspace(place.file)}, {"line", line}, {"title", title}}, text);
  }

  std::string in_workspace(const std::string& file) const {
    namespace fs = std::filesystem;
    const fs::path path = fs::path(file).lexically_normal();
    if (workspace_.empty() || !path.is_absolute()) return file;
    const fs::path relative = path.lexically_relative(fs::path(workspace_).lexically_normal());
    return relative.empty() || *relative.begin() == ".." ? file : relative.string();
  }

  const char* kind_;
  std::string workspace_;
  std::vector<Annotation> annotations_;  // in the order of output
  std::map<std::tuple<std::string, std::uint32_t, std::string>, std::size_t> index_;
};

std::string headline_of(const TestRecord& test) { return std::string(name_of(test.verdict)) + ": " + test.info.id(); }

Annotation annotation_of(const runner::Settings& settings, const TestRecord& test) {
  const std::string cause = test.message.empty() ? name_of(test.verdict) : test.message;
  return {headline_of(test),
          failure_place(test, telling_attempt(test)),
          cause,
          repeat_command(reported(settings), test),
          {}};
}

// The location is that of the first test: many tests are skipped for the same reason.
void add_skips(Annotations& notices, const runner::RunRecord& run) {
  std::map<std::string, SourcePlace> places;
  for (const TestRecord& test : run.tests) {
    if (test.verdict != Verdict::Skip) continue;
    const SourcePlace& place =
        places.try_emplace(test.message, SourcePlace{test.info.file, test.info.line}).first->second;
    notices.add({headline_of(test), place, test.message, "", {}}, test.info.id());
  }
}

void add_problem(Annotations& errors, const runner::Problem& problem) {
  const std::string what = problem.plugin.empty() ? problem.phase : problem.phase + " " + problem.plugin;
  errors.add({"problem: " + what, {}, problem.text, "", {}}, what);
}

std::size_t beyond(const Annotations& annotations, std::size_t count_max) {
  return annotations.size() > count_max ? annotations.size() - count_max : 0;
}

// Returns "3 errors and 1 warning"; empty if everything is shown.
std::string left_out(std::size_t errors, std::size_t warnings, std::size_t notices) {
  std::string text;
  const auto add = [&](std::size_t count, const char* what) {
    if (count == 0) return;
    text += (text.empty() ? "" : " and ") + std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  add(errors, "error");
  add(warnings, "warning");
  add(notices, "notice");
  return text;
}

}  // namespace

std::string github_annotations(const runner::RunRecord& run, const GithubAnnotationOptions& options) {
  Annotations errors("error", options.workspace);
  Annotations warnings("warning", options.workspace);
  Annotations notices("notice", options.workspace);
  for (const runner::Problem& problem : run.problems) add_problem(errors, problem);
  for (const TestRecord* test : tests_by_urgency(run)) {
    const bool is_warning = test->verdict == Verdict::Leak || test->verdict == Verdict::Flaky;
    (is_warning ? warnings : errors).add(annotation_of(run.settings, *test), test->info.id());
  }
  if (options.skips) add_skips(notices, run);
  constexpr std::size_t kNoticesMax = kGithubAnnotationsMax - 1;  // the last notice counts the rest
  const std::string missing = left_out(beyond(errors, kGithubAnnotationsMax), beyond(warnings, kGithubAnnotationsMax),
                                       beyond(notices, kNoticesMax));
  std::string text =
      errors.text(kGithubAnnotationsMax) + warnings.text(kGithubAnnotationsMax) + notices.text(kNoticesMax);
  if (missing.empty()) return text;
  return text + github_command("notice", {{"title", "distrun: some annotations are left out"}},
                               missing + " left out, since GitHub accepts ten of each kind; see the log");
}

}  // namespace distrun::report
