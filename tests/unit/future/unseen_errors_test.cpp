// Errors of futures that are never looked at are reported, and no others.
#include <catch2/catch.hpp>

#include <map>
#include <mutex>
#include <stdexcept>

#include <distrun/runtime/future/future.hpp>

#include "unit/future/support.hpp"

namespace distrun {
namespace {

using namespace testing;

TEST_CASE("an unseen error is reported, with the place where it was created") {
  FakeRank rank;
  const Future<int> future;
  future.set_error(value_error());
  const std::vector<std::string> told = unseen(rank);
  REQUIRE(told.size() == 1);
  CHECK_THAT(told[0],
             Catch::Contains("unseen_errors_test.cpp:") && Catch::EndsWith("failed: ValueError: Expected error"));
}

// A line that records the shown errors.
class ErrorLine final : public core::RankLine {
 public:
  int begin_wait(const board::WaitInfo&, base::TimePoint) noexcept override { return -1; }
  void end_wait(int) noexcept override {}
  void note(board::WaitKind, std::string_view, int, std::uint64_t) noexcept override {}
  void progress() noexcept override {}
  std::optional<board::Shown> look_at(int) const override { return std::nullopt; }
  int show_error(std::string_view text) noexcept override {
    const std::lock_guard lock(mutex_);
    shown_.emplace(++last_, text);
    return last_;
  }
  void hide_error(int number) noexcept override {
    const std::lock_guard lock(mutex_);
    shown_.erase(number);
  }
  std::vector<std::string> shown() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> texts;
    for (const auto& [number, text] : shown_) texts.push_back(text);
    return texts;
  }

 private:
  std::mutex mutex_;
  std::map<int, std::string> shown_;
  int last_ = 0;
};

TEST_CASE("an error is shown on the board while it is unseen") {
  static auto& line = *new ErrorLine;  // like a rank's line it outlives what is shown
  FakeRank rank;
  rank.state.use(&line);
  const Future<int> future;
  const Future<int> child = future.then([](const Future<int>&) -> int { throw std::runtime_error("in vain"); });
  const Future<void> after = child.then([](const Future<int>&) {});
  future.set_result(1);
  after.wait();
  REQUIRE(line.shown().size() == 1);
  CHECK_THAT(line.shown()[0], Catch::EndsWith("failed: std::runtime_error: in vain"));
  SECTION("until a wait throws it") {
    CHECK_THROWS(child.wait());
    CHECK(line.shown().empty());
  }
  SECTION("or the test is over") {
    CHECK(unseen(rank).size() == 1);
    CHECK(line.shown().empty());
  }
  SECTION("also if it is a failure") {
    CHECK_THROWS(child.wait());
    future::unseen_errors_of(rank.state).add_failure(std::make_exception_ptr(value_error()));
    CHECK(line.shown() == std::vector<std::string>{"ValueError: Expected error"});
    future::unseen_errors_of(rank.state).take_failures();
    CHECK(line.shown().empty());
  }
}

TEST_CASE("a seen error is not reported") {
  FakeRank rank;
  const Future<int> future;
  SECTION("waited for") {
    future.set_error(value_error());
    CHECK_THROWS(future.wait());
  }
  SECTION("asked for") {
    future.set_error(value_error());
    CHECK(future.failed());
  }
  SECTION("waited for in a callback") {
    const Future<int> child = future.then([](const Future<int>& done) { return done.wait(); });
    future.set_error(value_error());
    CHECK_THROWS(child.wait());
  }
  CHECK(unseen(rank).empty());
}

// Returns whether this is an error that matters.
bool is_value_error(const std::exception_ptr& error) {
  return future::describe_error(error) == "ValueError: Expected error";
}

TEST_CASE("an unseen error that is a failure is not a note") {
  FakeRank rank;
  future::FutureInfo info(base::Location::here());
  info.is_failure = is_value_error;
  const auto future = Future<int>::of(info);
  const auto other = Future<int>::of(info);
  other.set_error(Error(ErrorKind::Failed, "another one"));
  future.set_error(value_error());
  SECTION("it is kept unchanged") {
    CHECK(unseen(rank).size() == 1);
    const auto failures = future::unseen_errors_of(rank.state).take_failures();
    REQUIRE(failures.size() == 1);
    CHECK(is_value_error(failures[0]));
    CHECK_THROWS(future.wait());  // late, and affects no other waiter
    CHECK(unseen(rank).empty());
  }
  SECTION("it is not kept once it is seen") { CHECK_THROWS(future.wait()); }
  CHECK(future::unseen_errors_of(rank.state).take_failures().empty());
}

TEST_CASE("an exception of a callback without a future is reported") {
  FakeRank rank;
  const Future<int> future;
  future.add_done_callback([](const Future<int>&) { throw std::runtime_error("in vain"); });
  const Future<void> after = future.then([](const Future<int>&) {});
  future.set_result(1);
  after.wait();
  const std::vector<std::string> told = unseen(rank);
  REQUIRE(told.size() == 1);
  CHECK_THAT(told[0], Catch::EndsWith("a callback threw an exception: std::runtime_error: in vain"));
}

TEST_CASE("a hundred of many unseen errors are reported, and their number") {
  FakeRank rank;
  std::vector<Future<int>> futures;
  for (int i = 0; i < 130; ++i) futures.emplace_back();
  for (const Future<int>& each : futures) each.set_error(value_error());
  CHECK(futures.back().failed());
  const std::vector<std::string> told = unseen(rank);
  REQUIRE(told.size() == future::UnseenErrors::kKept + 1);
  CHECK(told.back() == "and 29 more");
  CHECK(unseen(rank).empty());
  CHECK(futures.front().failed());  // after they were reported
  futures.emplace_back().set_error(value_error());
  CHECK(unseen(rank).size() == 1);
}

}  // namespace
}  // namespace distrun
