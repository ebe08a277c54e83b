#pragma once
// Receives GoogleTest's events of the one test that a rank runs, and reports them to the rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include <distrun/plugin/bridge/gtest_assertions.hpp>
#include <distrun/plugin/bridge/gtest_id.hpp>
#include <distrun/plugin/sdk/bridge.hpp>
#include <distrun/plugin/sdk/context.hpp>

namespace distrun::detail::gtest {

class RankListener final : public ::testing::EmptyTestEventListener {
 public:
  // Phases: set-up of the environments and the suite, body of the whole test, tear-down of the suite and the
  // environments. `rank` must outlive it, and is in the phase set-up.
  RankListener(Rank& rank, std::string full_name) : rank_(rank), full_name_(std::move(full_name)) {
    scope_.emplace(rank_.tally(), "in set-up: ");
  }

  void OnTestStart(const ::testing::TestInfo& test) override {
    scope_.reset();
    if (full_name_of(test) != full_name_) return refuse_other(test);
    started_ = true;
    in_test_ = true;
    enter_phase(rank_, DISTRUN_PHASE_BODY);
  }

  void OnTestPartResult(const ::testing::TestPartResult& part) override {
    ++parts_;
    if (part.failed()) return fail(part);
    if (part.skipped()) skip({.reason = part.message()});
  }

  void OnTestEnd(const ::testing::TestInfo& test) override {
    note_properties(*test.result());
    in_test_ = false;
    enter_phase(rank_, DISTRUN_PHASE_TEAR_DOWN);
    scope_.emplace(rank_.tally(), "in tear-down: ");
  }

  void OnTestSuiteEnd(const ::testing::TestSuite& suite) override { note_properties(suite.ad_hoc_test_result()); }

  void OnTestProgramEnd(const ::testing::UnitTest& all) override {
    note_properties(all.ad_hoc_test_result());
    scope_.reset();
  }

  // Called after the run; `passed` is GoogleTest's result. Throws Skip if the test was skipped.
  void conclude(bool passed) {
    Tally& tally = rank_.tally();
    tally.count_checks(std::max<std::uint64_t>(assertions().load(), parts_));
    if (tally.failed()) return;
    if (skip_ && (skipped_in_test_ || !started_)) throw *skip_;
    if (!started_) report("GoogleTest ran no test of the name " + full_name_);
    if (started_ && !passed) report("GoogleTest reported a failure without a reason");
  }

 private:
  void report(std::string text) { rank_.tally().report({.type = "GoogleTest", .text = std::move(text)}); }

  void refuse_other(const ::testing::TestInfo& test) {
    report("GoogleTest's filter cannot distinguish " + full_name_ + " from " + full_name_of(test) +
           ": their names differ only in ':', '-' and '*'");
  }

  void skip(Skip why) {
    skipped_in_test_ = skipped_in_test_ || in_test_;
    if (why.reason.empty()) why.reason = "GTEST_SKIP() without a reason";
    if (!skip_) skip_ = std::move(why);
  }

  void fail(const ::testing::TestPartResult& part) {
    if (is_of_exception(part)) return fail_by_exception(part.message());
    const int line = std::max(part.line_number(), 0);
    rank_.tally().report(
        {.type = "CheckFailed",
         .text = part.message(),
         .where = {part.file_name() == nullptr ? "" : part.file_name(), static_cast<std::uint32_t>(line)},
         .ends_body = part.fatally_failed()});
  }

  // GoogleTest reports an exception while it handles it.
  static bool is_of_exception(const ::testing::TestPartResult& part) {
    return part.file_name() == nullptr && std::current_exception() != nullptr &&
           std::string_view(part.message()).find("C++ exception") != std::string_view::npos;
  }

  void fail_by_exception(std::string_view message) {
    Caught caught = caught_exception();
    if (caught.skip) return skip(std::move(*caught.skip));
    if (!caught.failure) return;
    caught.failure->text += place_of_throw(message);
    rank_.tally().report(*caught.failure);
  }

  // Extracts the place from "... thrown in SetUp()." and the traces below it.
  static std::string place_of_throw(std::string_view message) {
    constexpr std::string_view kBefore = " thrown in ";
    const std::size_t at = message.rfind(kBefore);
    if (at == message.npos) return "";
    const std::string_view rest = message.substr(at + kBefore.size());
    const std::size_t line = std::min(rest.find('\n'), rest.size());
    std::string_view place = rest.substr(0, line);
    if (place.ends_with('.')) place.remove_suffix(1);
    std::string text = place == "the test body" ? "" : "\n  thrown in " + std::string(place);
    return text + std::string(rest.substr(line));
  }

  void note_properties(const ::testing::TestResult& result) {
    for (int i = 0; i < result.test_property_count(); ++i) {
      const ::testing::TestProperty& property = result.GetTestProperty(i);
      rank_.note(property.key(), property.value());
    }
  }

  Rank& rank_;
  const std::string full_name_;
  std::optional<Scope> scope_;  // set-up or tear-down of the environments and the suite
  std::optional<Skip> skip_;    // the first
  bool started_ = false;
  bool in_test_ = false;
  bool skipped_in_test_ = false;
  std::uint64_t parts_ = 0;
};

}  // namespace distrun::detail::gtest
