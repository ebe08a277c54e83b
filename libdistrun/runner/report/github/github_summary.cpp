#include <distrun/runner/report/github/github_summary.hpp>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/github/markdown.hpp>
#include <distrun/runner/report/text/by_urgency.hpp>
#include <distrun/runner/report/text/excerpt.hpp>
#include <distrun/runner/report/text/failure_text.hpp>
#include <distrun/runner/report/text/measured.hpp>
#include <distrun/runner/report/text/run_text.hpp>
#include <distrun/runner/report/text/test_line.hpp>

namespace distrun::report {
namespace {

constexpr std::size_t kDetailsMax = 64U << 10U;   // per test
constexpr std::size_t kMeasuredMax = 64U << 10U;  // of all tests
constexpr std::size_t kIdMax = 300;
constexpr std::size_t kCauseMax = 500;
constexpr std::size_t kRunLineMax = 1000;
constexpr std::size_t kTailMax = 512;  // reserved for the last sentence

std::string head(const runner::RunRecord& run) {
  const std::string line = run_line(run, static_cast<int>(run.tests.size()), Paint(false));
  return "### distrun: " + totals_line(run, Paint(false)) + "\n<p><code>" + html_line(line, kRunLineMax) +
         "</code></p>\n\n";
}

std::string totals_table(const runner::RunRecord& run) {
  std::string rows;
  for (int i = 0; i < runner::kVerdictCount; ++i) {
    const auto verdict = static_cast<runner::Verdict>(i);
    if (run.total(verdict) == 0) continue;
    rows += std::string("| ") + name_of(verdict) + " | " + std::to_string(run.total(verdict)) + " |\n";
  }
  return rows.empty() ? "" : "| verdict | tests |\n|---|---:|\n" + rows + "\n";
}

std::string measured_paragraphs(const runner::RunRecord& run) {
  std::string text;
  std::size_t left_out = 0;
  for (const runner::TestRecord& test : run.tests) {
    for (const Measured& each : measured(test)) {
      if (text.size() > kMeasuredMax && ++left_out > 0) continue;
      text += "<p><code>" + html_line(test.info.id(), kIdMax) + "</code> " + html_line(each.name, kIdMax) + ": " +
              html_line(measured_text(each), kCauseMax) + "</p>\n\n";
    }
  }
  if (left_out > 0) text += "<p>and " + std::to_string(left_out) + " more measured values</p>\n\n";
  return text;
}

// An entry: a line, and its details.
struct Item {
  std::string line;     // HTML
  std::string details;  // text
};

Item item_of(const runner::Problem& problem) {
  const std::string what = problem.plugin.empty() ? problem.phase : problem.plugin + ": " + problem.phase;
  return {"<b>problem</b> <code>" + html_line(what, kIdMax) + "</code> <code>" + html_line(problem.text, kCauseMax) +
              "</code>",
          problem.text};
}

Item item_of(const runner::Settings& settings, const runner::TestRecord& test) {
  std::string line =
      std::string("<b>") + name_of(test.verdict) + "</b> <code>" + html_line(test.info.id(), kIdMax) + "</code>";
  if (!test.message.empty()) line += " <code>" + html_line(test.message, kCauseMax) + "</code>";
  return {std::move(line), failure_text(settings, test, Paint(false))};
}

class Page {
 public:
  Page(std::string text, std::size_t bytes_max) : text_(std::move(text)), bytes_max_(bytes_max - kTailMax) {}

  void add(const Item& item) {
    if (fits("<details><summary>" + item.line + "</summary>\n\n" +
             code_block(excerpt_bytes(item.details, kDetailsMax)) + "\n</details>\n\n")) {
      return;
    }
    ++(fits("<p>" + item.line + "</p>\n\n") ? in_a_line_ : left_out_);
  }

  std::string finished() const {
    if (in_a_line_ + left_out_ == 0) return text_;
    return text_ + "Of the tests that did not pass, " + std::to_string(in_a_line_) + " are shortened to a line and " +
           std::to_string(left_out_) +
           " are left out, since GitHub accepts at most 1 MiB per step summary. The reports contain all.\n";
  }

 private:
  bool fits(const std::string& block) {
    if (text_.size() + block.size() > bytes_max_) return false;
    text_ += block;
    return true;
  }

  std::string text_;
  std::size_t bytes_max_;
  std::size_t in_a_line_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace

std::string github_summary(const runner::RunRecord& run, std::size_t bytes_max) {
  Page page(head(run) + totals_table(run) + measured_paragraphs(run), bytes_max);
  for (const runner::Problem& problem : run.problems) page.add(item_of(problem));
  for (const runner::TestRecord* test : tests_by_urgency(run)) page.add(item_of(run.settings, *test));
  return page.finished();
}

}  // namespace distrun::report
