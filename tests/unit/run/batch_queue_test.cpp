#include <distrun/runner/run/batch_queue.hpp>

#include <unistd.h>

#include <catch2/catch.hpp>

#include "../support/loop.hpp"

using namespace distrun;
using namespace distrun::runner;

namespace {

Batch batch_with(std::size_t begin, std::vector<std::string> locks) {
  Batch batch{begin, begin + 1, 1};
  batch.locks = std::move(locks);
  return batch;
}

}  // namespace

TEST_CASE("a batch waits for a lock of another run, and others go first") {
  const std::string lock = "port of " + std::to_string(::getpid());  // other test programs may run at the same time
  NamedLocks other_run;
  REQUIRE(other_run.try_take({lock}).taken);
  io::Loop loop;
  BatchQueue queue(loop, {batch_with(0, {lock}), batch_with(1, {})}, {{8}});
  CHECK(queue.next()->begin == 1);
  CHECK(queue.awaited_lock().empty());
  CHECK_FALSE(queue.next());
  CHECK(queue.awaited_lock() == lock);
  other_run.release({lock});
  const auto change = queue.change();  // the alarm sets it
  REQUIRE(testing::run_until(loop, [&] { return queue.change() != change; }));
  const std::optional<Batch> last = queue.next();
  REQUIRE(last);
  CHECK(last->begin == 0);
  CHECK(queue.awaited_lock().empty());
  CHECK(queue.empty());
  CHECK_FALSE(other_run.try_take({lock}).taken);
  queue.over(*last);
  CHECK(other_run.try_take({lock}).taken);
}

TEST_CASE("batches with a common lock run one at a time, beside others") {
  const std::string suffix = " of " + std::to_string(::getpid());
  const std::string port = "port" + suffix;
  io::Loop loop;
  BatchQueue queue(
      loop, {batch_with(0, {"disk" + suffix, port}), batch_with(1, {port}), batch_with(2, {"other" + suffix})}, {{8}});
  const std::optional<Batch> first = queue.next();
  const std::optional<Batch> other = queue.next();
  REQUIRE(first);
  REQUIRE(other);
  CHECK(first->begin == 0);
  CHECK(other->begin == 2);
  CHECK_FALSE(queue.next());
  CHECK(queue.awaited_lock().empty());  // its own run has it
  queue.over(*other);
  CHECK_FALSE(queue.next());
  const auto change = queue.change();
  queue.over(*first);
  CHECK(queue.change() != change);
  CHECK(queue.next()->begin == 1);
}

TEST_CASE("an endless queue begins again after its last batch, without those that are left out") {
  io::Loop loop;
  BatchQueue queue(loop, {batch_with(0, {}), batch_with(1, {})}, {{8}}, true);
  std::string order;
  for (int i = 0; i < 5; ++i) order += std::to_string(queue.next()->begin);
  CHECK(order == "01010");
  queue.leave_out(batch_with(0, {}));
  for (int i = 0; i < 2; ++i) order += std::to_string(queue.next()->begin);
  CHECK(order == "0101011");
  CHECK_FALSE(queue.empty());
  const auto change = queue.change();
  queue.leave_out_all();
  CHECK(queue.empty());
  CHECK(queue.change() != change);  // who waits for a batch learns that there will be none
  CHECK_FALSE(queue.next());
}

TEST_CASE("a lock keeps an endless queue from beginning the same batch twice at once") {
  const std::string lock = "port of stress " + std::to_string(::getpid());
  io::Loop loop;
  BatchQueue queue(loop, {batch_with(0, {lock})}, {{8}}, true);
  const std::optional<Batch> first = queue.next();
  REQUIRE(first);
  CHECK_FALSE(queue.next());
  queue.over(*first);
  CHECK(queue.next());
}
