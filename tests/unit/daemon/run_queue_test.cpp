#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/daemon/run_queue.hpp>

using namespace distrun;
using daemon::RunQueue;

namespace {

// Returns the runs that start now, in order: "ab".
std::string started(RunQueue& queue) {
  std::string all;
  while (const auto id = queue.next()) all += *id;
  return all;
}

RunQueue queue_of(const std::string& ids, int parallel, int queued = 100) {
  RunQueue queue({parallel, queued});
  for (const char id : ids) queue.add(std::string(1, id));
  return queue;
}

}  // namespace

TEST_CASE("runs start in the order of their arrival, up to the limit at once") {
  RunQueue queue = queue_of("abcd", 2);
  CHECK(started(queue) == "ab");
  CHECK(started(queue).empty());
  queue.remove("b");
  CHECK(started(queue) == "c");
  queue.remove("a");
  queue.remove("c");
  CHECK(started(queue) == "d");
}

TEST_CASE("a run that waits knows how many runs are ahead of it") {
  RunQueue queue = queue_of("abcd", 1);
  CHECK(started(queue) == "a");
  CHECK(queue.ahead("a") == 0);
  CHECK(queue.ahead("b") == 1);
  CHECK(queue.ahead("d") == 3);
  CHECK(queue.ahead("unknown") == 0);
  queue.remove("c");
  CHECK(queue.ahead("d") == 2);
}

TEST_CASE("a full queue refuses with advice, and a run that starts at once needs no place in it") {
  RunQueue queue = queue_of("a", 1, 1);
  CHECK(started(queue) == "a");
  queue.add("b");
  CHECK_THROWS_WITH(queue.add("c"), Catch::Contains("1 run is queued") && Catch::Contains("--queue"));
  queue.remove("b");
  CHECK_NOTHROW(queue.add("c"));
  RunQueue none = queue_of("a", 1, 0);
  CHECK(started(none) == "a");
  CHECK_THROWS_AS(none.add("b"), Error);
}

TEST_CASE("a run that was refused is not in the queue") {
  RunQueue queue = queue_of("ab", 1, 1);
  CHECK_THROWS_AS(queue.add("c"), Error);
  CHECK(started(queue) == "a");
  queue.remove("a");
  CHECK(started(queue) == "b");
  queue.remove("b");
  CHECK(started(queue).empty());
}

TEST_CASE("a run that is stopped takes no slot, and continues beside the others") {
  RunQueue queue = queue_of("abc", 1);
  CHECK(started(queue) == "a");
  queue.set_stopped("a", true);
  CHECK(queue.is_stopped("a"));
  CHECK(started(queue) == "b");
  queue.set_stopped("a", false);
  CHECK(started(queue).empty());
  queue.remove("b");
  CHECK(started(queue).empty());
  queue.remove("a");
  CHECK(started(queue) == "c");
}

TEST_CASE("a run that has finished its tests takes no slot, though it has not ended") {
  RunQueue queue = queue_of("abc", 1);
  CHECK(started(queue) == "a");
  queue.set_over("a");
  CHECK(queue.is_over("a"));
  CHECK(started(queue) == "b");
  CHECK(queue.ahead("c") == 1);
  queue.remove("a");
  CHECK(started(queue).empty());
}

TEST_CASE("a run that waits and is stopped is skipped until it continues") {
  RunQueue queue = queue_of("abc", 1);
  CHECK(started(queue) == "a");
  queue.set_stopped("b", true);
  queue.remove("a");
  CHECK(started(queue) == "c");
  queue.remove("c");
  CHECK(started(queue).empty());
  queue.set_stopped("b", false);
  CHECK(started(queue) == "b");
}
