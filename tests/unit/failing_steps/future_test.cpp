// Futures, what follows from them, and the pool of handlers.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/future/collect.hpp>
#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/future/handler_pool.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>

#include "support/process.hpp"
#include "unit/failing_steps/attempt.hpp"

namespace distrun {
namespace {

using namespace testing;
using namespace std::chrono_literals;

constexpr auto kBound = 10s;

// Whether it is done within the bound, with a value or an error.
bool ends(const future::AnyFuture& future) {
  return eventually(kBound, [&] { return future.done(); });
}

// A callback of another future still runs.
void require_callbacks() {
  const Future<int> future;
  const auto next = future.then([](const Future<int>& done) { return done.value() + 1; });
  future.set_result(1);
  require(next.wait(kBound) == 2, "callbacks run");
}

TEST_CASE("a chain of futures ends, with a value or an error") {
  every_step_may_fail([](Attempt& attempt) {
    std::optional<Future<int>> first;
    std::optional<Future<std::string>> last;
    const bool is_made = attempt.may_fail([&] {
      first.emplace();
      last = first->then([](const Future<int>& done) { return done.value() + 1; }).then([](const Future<int>& done) {
        return std::string(100, static_cast<char>(done.value()));
      });
    });
    if (first) {
      attempt.may_fail([&] { first->set_result(1); });
      require(ends(*first), "the future is done that was completed");
    }
    if (is_made) require(ends(*last), "what follows from it ends");
    require_callbacks();
  });
}

TEST_CASE("a future is completed and its callbacks run, or are reported") {
  every_step_may_fail([](Attempt& attempt) {
    const Future<std::string> future;
    std::atomic<int> ran{0};
    future.add_done_callback([&ran](const Future<std::string>&) { ++ran; });
    future.add_done_callback([](const Future<std::string>&) { throw Error(ErrorKind::Failed, "a callback's"); });
    const auto next = future.then([](const Future<std::string>& done) { return done.value().size(); });
    attempt.may_fail([&] {
      future.set_result(std::string(100, 'x'));
      require(ends(next), "what follows from it ends");
    });
    if (!future.done()) future.set_result("later");
    require(ends(next), "what follows from it ends afterwards");
    const auto is_told = [] { return !future::unseen_errors_of(core::rank_state()).take().empty(); };
    require(ran == 1 || next.failed(), "the callback has run, or no thread was to be had");
    require(eventually(kBound, is_told), "a callback that has thrown, or was not run, is reported");
    require_callbacks();
  });
}

TEST_CASE("an unseen error is reported, and a failure fails the test") {
  every_step_may_fail([](Attempt& attempt) {
    future::FutureInfo info(base::Location::here());
    info.is_failure = [](const std::exception_ptr&) noexcept { return true; };
    auto failing = std::make_optional(Future<int>::of(std::move(info)));
    auto failed = std::make_optional<Future<int>>();
    attempt.may_fail(
        [&] { failing->set_error(Error(ErrorKind::Failed, "a failure that is longer than a string within itself")); });
    attempt.may_fail(
        [&] { failed->set_error(Error(ErrorKind::Failed, "an error that is longer than a string within itself")); });
    const bool was_failing = failing->state()->is_done(), was_failed = failed->state()->is_done();
    failing.reset();
    failed.reset();
    future::UnseenErrors& errors = future::unseen_errors_of(core::rank_state());
    require(errors.take_failures().size() == (was_failing ? 1U : 0U), "the failure fails the test");
    require(errors.take().size() == (was_failed ? 1U : 0U), "the error is reported");
    require(errors.take().empty() && errors.take_failures().empty(), "each is reported once");
  });
}

TEST_CASE("an error that is seen is not reported, though there was no memory to keep it") {
  every_step_may_fail([](Attempt& attempt) {
    const Future<int> future;
    attempt.may_fail([&] { future.set_error(Error(ErrorKind::Failed, "seen later")); });
    if (!future.done()) future.set_error(Error(ErrorKind::Failed, "seen later"));
    require(future.failed(), "it has failed");
    require(future::unseen_errors_of(core::rank_state()).take().empty(), "nothing is reported");
  });
}

TEST_CASE("several futures combined end, with values or an error") {
  every_step_may_fail([](Attempt& attempt) {
    std::vector<Future<int>> futures(3);
    std::optional<Future<std::vector<Future<int>>>> all;
    attempt.may_fail([&] { all = collect_all(futures); });
    attempt.may_fail([&] {
      futures[0].set_result(1);
      futures.erase(futures.begin() + 1);
      futures[1].set_error(Error(ErrorKind::Failed, "an error that is longer than a string within itself"));
    });
    for (const Future<int>& each : futures) {
      if (!each.done()) each.set_result(3);
    }
    while (futures.size() > 2) futures.erase(futures.begin() + 1);
    if (all) require(ends(*all), "all of them end");
    require_callbacks();
  });
}

TEST_CASE("a wait for several futures returns, or throws") {
  every_step_may_fail([](Attempt& attempt) {
    const std::vector<Future<int>> futures(2);
    const base::Thread other("distrun-test", [&futures] {
      for (const Future<int>& each : futures) each.set_result(1);
    });
    attempt.may_fail([&] { require(wait_all(futures, kBound).size() == 2, "both values are there"); });
    require(wait_all(futures, kBound).size() == 2, "both values are there afterwards");
  });
}

TEST_CASE("futures that are destroyed before they complete abandon their dependent futures") {
  every_step_may_fail([](Attempt& attempt) {
    auto future = std::make_optional<Future<int>>();
    const auto next = future->then([](const Future<int>& done) { return done.value(); });
    const auto after = next.then([](const Future<int>& done) { return done.value(); });
    future->add_done_callback([](const Future<int>&) {});
    attempt.may_fail([&] {
      future.reset();
      require(ends(after), "what follows ends");
    });
    require(next.failed() && after.failed(), "what follows has failed");
    require_callbacks();
  });
}

TEST_CASE("tasks of the pool run, or the caller that posts them gets an error") {
  class Task final : public future::HandlerTask {
   public:
    Task(std::atomic<int>& ran, std::atomic<int>& gone) : ran_(ran), gone_(gone) {}
    ~Task() override { ++gone_; }
    void run() noexcept override { ++ran_; }

   private:
    std::atomic<int>& ran_;
    std::atomic<int>& gone_;
  };
  every_step_may_fail([](Attempt& attempt) {
    std::atomic<int> ran{0}, gone{0};
    int posted = 0, made = 0;
    const auto post = [&](bool is_control) {
      auto task = std::make_unique<Task>(ran, gone);
      ++made;
      auto& pool = future::handler_pool();
      is_control ? pool.post_control(std::move(task)) : pool.post(std::move(task));
      ++posted;
    };
    for (int i = 0; i < 40; ++i) attempt.may_fail([&] { post(i % 2 == 0); });
    post(false);
    post(true);
    require(eventually(kBound, [&] { return ran == posted; }), "what was posted runs");
    require(eventually(kBound, [&] { return gone == made; }), "each task is destroyed");
    require(ran == posted, "what was not posted does not run");
    require_callbacks();
  });
}

TEST_CASE("a task that blocks does not keep others from running") {
  every_step_may_fail([](Attempt& attempt) {
    const std::vector<Future<int>> first(4);
    const Future<int> second;
    std::vector<Future<int>> blocked;
    for (std::size_t i = 0; i < 3; ++i) {
      blocked.push_back(first[i].then([&second](const Future<int>&) { return second.wait(kBound); }));
    }
    const auto freed = first[3].then([&second](const Future<int>&) { second.set_result(2); });
    attempt.may_fail([&] {
      for (const Future<int>& each : first) each.set_result(1);
      require(ends(freed), "the callback that the others wait for ends");
    });
    for (const Future<int>& each : first) {
      if (!each.done()) each.set_result(1);
    }
    if (!second.done()) second.set_result(3);
    for (const Future<int>& each : blocked) require(ends(each), "those that wait end");
    require_callbacks();
  });
}

}  // namespace
}  // namespace distrun
