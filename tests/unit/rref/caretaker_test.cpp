// The thread that resends unacknowledged messages.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <algorithm>
#include <condition_variable>

#include <distrun/runtime/rref/caretaker.hpp>

#include "support/process.hpp"
#include "support/sandbox.hpp"

namespace distrun::rref {
namespace {

using namespace std::chrono_literals;

// Messages wait for two workers. The second acknowledges each message when it is resent, and another one follows.
class Waiting {
 public:
  Caretaker::Charges charges() {
    return {[this](std::size_t) { return waiting(); },
            [this](WorkerKey to, const ForkMessage& each) { send(to, each); },
            [](std::size_t) { return ledger::Page(); }};
  }
  // Returns the times of the messages to the silent worker.
  std::vector<base::TimePoint> wait_silent(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 20s, [&] { return silent_.size() >= count; });
    return silent_;
  }
  std::size_t answered() {
    const std::lock_guard lock(mutex_);
    return answered_;
  }

 private:
  Caretaker::Outboxes waiting() {
    const std::lock_guard lock(mutex_);
    Caretaker::Outboxes all;
    all[1] = {{ForkMessageKind::UserDelete, 1, {0, 1}, {0, 2}, ""}};
    all[2] = {{ForkMessageKind::UserDelete, next_, {0, 1}, {0, 2}, ""}};
    return all;
  }
  void send(WorkerKey to, const ForkMessage& each) {
    const std::lock_guard lock(mutex_);
    if (to.id == 1) silent_.push_back(base::system_clock().now());
    if (to.id == 2 && each.number == next_) ++answered_, ++next_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<base::TimePoint> silent_;
  std::size_t answered_ = 0;
  std::uint64_t next_ = 1;
};

}  // namespace

TEST_CASE("a worker that does not answer is asked less and less often, another at the usual rate") {
  Waiting waiting;
  Caretaker caretaker(waiting.charges());
  caretaker.notice();
  const auto times = waiting.wait_silent(4);
  caretaker.stop();
  REQUIRE(times.size() >= 4);
  CHECK(times[1] - times[0] >= 190ms);
  CHECK(times[2] - times[1] >= 390ms);
  CHECK(times[3] - times[2] >= 790ms);
  CHECK(waiting.answered() >= 3);
}

TEST_CASE("nothing is sent after a stop, and later work is ignored") {
  Waiting waiting;
  Caretaker caretaker(waiting.charges());
  caretaker.stop();
  caretaker.notice();
  CHECK(waiting.answered() == 0);
}

TEST_CASE("a page is removed by a stop, even if a reference of that session still exists") {
  Waiting waiting;
  Caretaker::Charges charges = waiting.charges();
  charges.page = [](std::size_t) {
    ledger::Page page;
    page.name = "of a session that ends";
    return page;
  };
  const auto is_shown = [] {
    const auto pages = ledger::read_pages(::getpid());
    return std::any_of(pages.begin(), pages.end(),
                       [](const ledger::Page& each) { return each.name == "of a session that ends"; });
  };
  Caretaker caretaker(charges);
  caretaker.notice();
  REQUIRE(distrun::testing::eventually(distrun::testing::scaled(5000ms), is_shown));
  caretaker.stop();
  CHECK(!is_shown());
}

}  // namespace distrun::rref
