#include <catch2/catch.hpp>

#include "mutex_wait.hpp"

using namespace distrun;
using namespace distrun::probe;

namespace {

std::vector<wire::ThreadStack> threads() {
  std::vector<wire::ThreadStack> result(2);
  result[0].task.tid = 10;
  result[0].task.name = "main";
  result[1].task.tid = 11;
  result[1].task.name = "worker";
  return result;
}

FutexWait contended() {
  FutexWait wait;
  wait.address = 0xabc0;
  wait.head = {.lock = 2, .count = 1, .owner = 11, .users = 1, .kind = 0};
  wait.functions = {"__lll_lock_wait", "pthread_mutex_lock", "f"};
  return wait;
}

}  // namespace

TEST_CASE("a mutex that a thread waits for names its owner") {
  CHECK(describe_mutex_wait(contended(), 10, threads()) == "mutex 0xabc0 held by thread 11 (worker)");
}

TEST_CASE("a mutex that its owner locks again is reported as such") {
  CHECK(describe_mutex_wait(contended(), 11, threads()) == "mutex 0xabc0 held by this thread itself");
}

TEST_CASE("a futex that may not be a mutex is never called one") {
  FutexWait wait = contended();
  SECTION("not a futex") { wait.address = 0; }
  SECTION("locked, without waiters") { wait.head.lock = 1; }
  SECTION("free") { wait.head.lock = 0; }
  SECTION("an owner that is not a thread of this process") { wait.head.owner = 12; }
  SECTION("no owner") { wait.head.owner = 0; }
  SECTION("no users") { wait.head.users = 0; }
  SECTION("a robust mutex") { wait.head.kind = 0x10; }
  SECTION("a mutex with priority inheritance") { wait.head.kind = 0x20; }
  SECTION("an unknown kind") { wait.head.kind = 0x7f12'3456; }
  SECTION("a condition variable") { wait.functions = {"__futex_abstimed_wait_common", "pthread_cond_wait", "f"}; }
  SECTION("no stack") { wait.functions.clear(); }
  CHECK(describe_mutex_wait(wait, 10, threads()).empty());
}
