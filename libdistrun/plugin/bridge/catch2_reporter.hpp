#pragma once
// Receives Catch2's events of the one test case that a rank runs, and reports them to the rank.
#include <distrun/plugin/bridge/catch2_implementation.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <distrun/plugin/sdk/bridge.hpp>
#include <distrun/plugin/sdk/context.hpp>

namespace distrun::detail::catch2 {

// Ends the test case where Catch2 would continue with its next section. After a failed REQUIRE on one rank, the others
// are in another section, so their barriers would not match.
class RankConfig final : public Catch::Config {
 public:
  using Catch::Config::Config;
  void stop() noexcept { stopped_ = true; }
  // Catch2 stops after this many failed assertions; -1: never.
  int abortAfter() const override { return stopped_ ? 0 : -1; }

 private:
  bool stopped_ = false;
};

class RankReporter final : public Catch::IStreamingReporter {
 public:
  // Both must outlive it.
  RankReporter(Rank& rank, RankConfig& config) : rank_(rank), config_(config) {}

  Catch::ReporterPreferences getPreferences() const override { return {}; }
  void noMatchingTestCases(const std::string&) override {}
  void testRunStarting(const Catch::TestRunInfo&) override {}
  void testGroupStarting(const Catch::GroupInfo&) override {}
  void testCaseStarting(const Catch::TestCaseInfo& test) override {
    may_fail_ = test.okToFail();
    should_fail_ = test.expectedToFail();
  }
  void sectionStarting(const Catch::SectionInfo& section) override { sections_.push_back(section.name); }
  void sectionEnded(const Catch::SectionStats&) override { sections_.pop_back(); }
  void assertionStarting(const Catch::AssertionInfo&) override {}
  void testGroupEnded(const Catch::TestGroupStats&) override {}
  void testRunEnded(const Catch::TestRunStats&) override {}
  void skipTest(const Catch::TestCaseInfo&) override {}

  bool assertionEnded(const Catch::AssertionStats& stats) override {
    const Catch::AssertionResult& result = stats.assertionResult;
    if (result.getResultType() == Catch::ResultWas::Warning) rank_.note("warning", result.getMessage());
    if (result.isOk()) return true;
    Failure failure{.type = "CheckFailed",
                    .text = text_of(stats),
                    .where = {result.getSourceInfo().file, static_cast<std::uint32_t>(result.getSourceInfo().line)},
                    .ends_body = ends_body(result)};
    if (result.getResultType() == Catch::ResultWas::ThrewException && !take_exception(result, failure)) {
      return true;
    }
    if (failure.ends_body) config_.stop();
    tell(failure);
    return true;
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    // Catch2 counts an extra failure for the one that did not occur.
    const bool missed = should_fail_ && !failed_ && !skip_;
    rank_.tally().count_checks(stats.totals.assertions.total() - (missed ? 1 : 0));
    if (!missed) return;
    const Catch::SourceLineInfo& at = stats.testInfo.lineInfo;
    rank_.tally().report({.type = "CheckFailed",
                          .text = "[!shouldfail]: no assertion failed on this rank",
                          .where = {at.file, static_cast<std::uint32_t>(at.line)}});
  }

  // Called after the run. Throws Skip if the test was skipped.
  void conclude() const {
    if (skip_) throw *skip_;
  }

 private:
  // An exception outside of any assertion; then Catch2 has the last assertion's location, but not its name.
  static bool is_outside(const Catch::AssertionResult& result) {
    const auto& macro = result.m_info.macroName;
    return result.getResultType() == Catch::ResultWas::ThrewException &&
           (macro.empty() || macro == Catch::StringRef("TEST_CASE"));
  }

  static bool ends_body(const Catch::AssertionResult& result) {
    const int goes_on = result.m_info.resultDisposition & Catch::ResultDisposition::ContinueOnFailure;
    return goes_on == 0 || is_outside(result);
  }

  // Returns whether this is a failure that has not been reported yet. Catch2 reports an exception while it handles it.
  // The text stays Catch2's, since the test may have its own translators.
  bool take_exception(const Catch::AssertionResult& result, Failure& failure) {
    Caught caught = caught_exception();
    if (!caught.failure) {
      if (caught.skip && !skip_) skip_ = std::move(caught.skip);
      failed_ = true;
      config_.stop();
      return false;
    }
    failure.type = caught.failure->type;
    failure.because_of = caught.failure->because_of;
    if (*caught.failure->where.file != '\0') {
      failure.where = caught.failure->where;
    } else if (is_outside(result)) {
      failure.text += "\n  thrown after this line";
    }
    if (failure.because_of >= 0) failure.ends_body = true;  // no barrier can complete any more
    return true;
  }

  void tell(const Failure& failure) {
    failed_ = true;
    if (!may_fail_) return rank_.tally().report(failure);
    rank_.note(should_fail_ ? "failed, as it should" : "failed, as it may", failure.text);
  }

  std::string text_of(const Catch::AssertionStats& stats) const {
    const Catch::AssertionResult& result = stats.assertionResult;
    std::string text = is_outside(result) ? result.getMessage() : text_of_assertion(result);
    for (const Catch::MessageInfo& info : stats.infoMessages) {
      if (info.type == Catch::ResultWas::Info) text += "\n  with: " + info.message;
    }
    // The first is the test case.
    for (std::size_t i = 1; i < sections_.size(); ++i) text += "\n  in section: " + sections_[i];
    return text;
  }

  static std::string text_of_assertion(const Catch::AssertionResult& result) {
    const std::string macro(result.m_info.macroName);
    std::string text = macro + "(" + std::string(result.m_info.capturedExpression) + ")";
    if (result.hasExpandedExpression()) text += "\n  " + result.getExpandedExpression();
    switch (result.getResultType()) {
      case Catch::ResultWas::ThrewException: return text + "\n  threw: " + result.getMessage();
      case Catch::ResultWas::DidntThrowException: return text + "\n  did not throw";
      case Catch::ResultWas::ExplicitFailure: return macro + ": " + result.getMessage();
      default: return result.hasMessage() ? text + "\n  " + result.getMessage() : text;
    }
  }

  Rank& rank_;
  RankConfig& config_;
  std::vector<std::string> sections_;  // open sections, the outermost first
  bool may_fail_ = false;
  bool should_fail_ = false;
  bool failed_ = false;  // also if the failure is allowed
  std::optional<Skip> skip_;
};

}  // namespace distrun::detail::catch2
