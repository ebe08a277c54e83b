#include <catch2/catch.hpp>

#include <regex>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/github/github_summary.hpp>
#include <distrun/runner/report/github/markdown.hpp>

#include "nasty.hpp"
#include "samples.hpp"
#include "scratch.hpp"

using namespace distrun;
using namespace distrun::report;
using namespace distrun::report::samples;
using Catch::Contains;

namespace {

std::string summary_of(const runner::RunRecord& run) { return github_summary(run, kGithubSummaryMax); }

// Returns the text that Markdown interprets: everything but the fenced blocks, all of which must be closed.
std::string outside_fences(const std::string& text) {
  std::string outside;
  std::string fence;
  for (const std::string& line : base::split_lines(text)) {
    if (fence.empty() && line.starts_with("```")) {
      fence = line.substr(0, line.find_first_not_of('`'));
      REQUIRE(line == fence + "text");
    } else if (fence.empty()) {
      outside += line + "\n";
    } else if (line.find_first_not_of('`') == std::string::npos && line.size() >= fence.size()) {
      fence.clear();
    }
  }
  REQUIRE(fence.empty());
  return outside;
}

// Lines that begin with a tag, which Markdown passes through up to the next empty line.
bool is_html_line(const std::string& line) { return line.starts_with("<details>") || line.starts_with("<p>"); }

bool is_ours(const std::string& line) {
  static const std::regex ours("(### distrun: [a-z0-9,. -]*|\\|[-a-z0-9 :|]*\\||</details>|)");
  return std::regex_match(line, ours);
}

std::string without_our_tags(const std::string& line) {
  static const std::regex tags("</?(details|summary|p|b|code)>");
  return std::regex_replace(line, tags, "");
}

}  // namespace

TEST_CASE("the summary of a step has totals, and details of each test that did not pass", "[report]") {
  const std::string now = summary_of(full_run());
  INFO("DISTRUN_UPDATE_GOLDEN=1 rewrites tests/golden/report/github_summary.md");
  CHECK(golden("github_summary.md", now) == now);
}

TEST_CASE("the summary of a step of a good run is its totals", "[report]") {
  CHECK(summary_of(run_of(passing())) ==
        "### distrun: 1 pass in 3.5 s\n\n"
        "<p><code>run 3f9c0a1b: 1 test, world size 4, backend shm, agent pipe, seed 17</code></p>\n\n"
        "| verdict | tests |\n|---|---:|\n| pass | 1 |\n\n");
  CHECK_THAT(summary_of(empty_run()), Contains("### distrun: no test was selected in 3.5 s\n"));
}

TEST_CASE("the summary of a step has the snapshots of the ranks", "[report]") {
  runner::TestRecord test = timing_out();
  test.attempts[0].snapshots.emplace_back().text.emplace_back().add(evidence::Tone::Strong, "step  ring.cpp:7");
  CHECK_THAT(summary_of(run_of(test)), Contains("\n  step  ring.cpp:7\n"));
}

TEST_CASE("a fence is longer than any run of backticks in it", "[report]") {
  CHECK(code_block("a") == "```text\na\n```\n");
  CHECK(code_block("````\n") == "`````text\n````\n`````\n");
  CHECK(code_block("\x1b[0m") == "```text\n\\x1b[0m\n```\n");
}

TEST_CASE("any text of a test is plain text in the summary of a step", "[report]") {
  const auto seed = GENERATE(1U, 2U, 3U);
  for (const std::string& nasty : nasty_texts(seed)) {
    runner::RunRecord run = run_of(test_saying(nasty));
    run.problems.push_back({nasty, nasty, nasty});
    run.settings.backend = run.run_id = nasty;
    const std::string text = summary_of(run);
    INFO(text);
    REQUIRE(text == base::valid_utf8(text));
    CHECK(text == base::printable(text));
    bool after_html = false;
    for (const std::string& line : base::split_lines(outside_fences(text))) {
      REQUIRE((is_ours(line) || is_html_line(line)));
      if (is_html_line(line)) CHECK(without_our_tags(line).find_first_of("<>\"") == std::string::npos);
      if (after_html) CHECK(line.empty());
      after_html = is_html_line(line);
    }
  }
}

TEST_CASE("the summary of a step stays below its limit and says what it leaves out", "[report]") {
  runner::RunRecord run = empty_run();
  for (int i = 0; i < 200; ++i) {
    runner::TestRecord test = failing();
    std::string lines;
    for (int line = 0; line < 40; ++line) lines += std::string(600, static_cast<char>('a' + line % 26)) + "\n";
    test.attempts[0].ranks[2].out.text = lines;
    add(run, test);
  }
  add(run, crashing());
  const std::size_t limit = GENERATE(as<std::size_t>{}, kGithubSummaryMin, 40'000, kGithubSummaryMax);
  const std::string text = github_summary(run, limit);
  CHECK(text.size() <= limit);
  CHECK(text.size() > limit - 4096);
  CHECK_THAT(text, Contains("since GitHub accepts at most 1 MiB"));
  CHECK(text.find("Ring.scatter") < text.find("Ring.gather"));
  outside_fences(text);
}

TEST_CASE("a test's details have a separate limit", "[report]") {
  runner::RunRecord run = run_of(failing());
  runner::RankRecord& culprit = run.tests[0].attempts[0].ranks[2];
  for (int i = 0; i < 5; ++i) {
    culprit.errors.push_back({"Type", "text", "", 0, "", true, -1, {}});
    for (int line = 0; line < 40; ++line) culprit.errors.back().stack += std::string(490, '`') + "\n";
  }
  const std::string text = summary_of(run);
  CHECK(text.size() < 70U << 10U);
  CHECK_THAT(text, Contains(" bytes left out ..."));
  outside_fences(text);
}
