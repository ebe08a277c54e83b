#include <distrun/common/board/wait.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <thread>

#include <distrun/common/board/slot_reader.hpp>

using namespace distrun;
using namespace distrun::board;

namespace {

struct Waiter {
  std::unique_ptr<Slot> slot = std::make_unique<Slot>();
  SlotWriter writer{slot.get()};
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;
  Waiter() { writer.attach(); }

  bool wait(base::TimePoint deadline) {
    WaitInfo info;
    info.kind = WaitKind::Future;
    info.name = "answer";
    std::unique_lock lock(mutex);
    return wait_until(writer, info, lock, changed, deadline, [&] { return ready; });
  }
  std::size_t shown() const { return read(*slot, 1)->waits.size(); }
};

}  // namespace

TEST_CASE("a wait that is over before it begins is not shown, and is not progress") {
  Waiter waiter;
  waiter.ready = true;
  const std::uint64_t before = read(*waiter.slot, 1)->epoch;
  CHECK(waiter.wait(base::TimePoint::max()));
  CHECK(read(*waiter.slot, 1)->epoch == before);
}

TEST_CASE("a wait is shown while it lasts, and ends when its condition holds") {
  Waiter waiter;
  bool ended_well = false;
  std::thread thread([&] { ended_well = waiter.wait(base::TimePoint::max()); });
  while (waiter.shown() == 0) std::this_thread::yield();
  CHECK(read(*waiter.slot, 1)->waits.front().name == "answer");
  {
    const std::lock_guard lock(waiter.mutex);
    waiter.ready = true;
  }
  waiter.changed.notify_all();
  thread.join();
  CHECK(ended_well);
  CHECK(waiter.shown() == 0);
}

TEST_CASE("a wait ends at its deadline, with its condition not met") {
  Waiter waiter;
  const base::TimePoint start = base::system_clock().now();
  CHECK_FALSE(waiter.wait(start + std::chrono::milliseconds(20)));
  CHECK(base::system_clock().now() - start >= std::chrono::milliseconds(20));
  CHECK(waiter.shown() == 0);
}

TEST_CASE("an exception thrown during a wait ends it on the board as well") {
  Waiter waiter;
  try {
    const Wait wait(waiter.writer, {});
    CHECK(waiter.shown() == 1);
    throw 1;
  } catch (int) {
  }
  CHECK(waiter.shown() == 0);
}
