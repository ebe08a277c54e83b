#include <catch2/catch.hpp>

#include <atomic>
#include <latch>

#include <distrun/common/base/thread.hpp>
#include <distrun/common/base/thread_object.hpp>

using distrun::base::Thread;
using distrun::base::ThreadObject;

namespace {

std::atomic<int> destroyed = 0;

struct Number {
  int value = 7;
  ~Number() { ++destroyed; }
};

struct UsedLate {
  bool is_used = false;
  ~UsedLate() { ++destroyed; }
};

struct UsesAnother {
  ~UsesAnother() {
    ++destroyed;
    ThreadObject<UsedLate>::get().is_used = true;
  }
};

}  // namespace

TEST_CASE("each thread has its object, which is destroyed when the thread ends") {
  destroyed = 0;
  std::latch both(2);
  int seen[2] = {};
  const auto body = [&](int index) {
    ThreadObject<Number>::get().value += index;
    both.arrive_and_wait();
    seen[index] = ThreadObject<Number>::get().value;
  };
  Thread first("first", [&] { body(0); });
  Thread second("second", [&] { body(1); });
  first.join();
  second.join();
  CHECK(seen[0] == 7);
  CHECK(seen[1] == 8);
  CHECK(destroyed == 2);
}

TEST_CASE("an object of a thread that the destructor of another one creates is destroyed, too") {
  destroyed = 0;
  Thread thread("worker", [] { ThreadObject<UsesAnother>::get(); });
  thread.join();
  CHECK(destroyed == 2);
}
