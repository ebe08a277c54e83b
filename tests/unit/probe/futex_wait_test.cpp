#include <catch2/catch.hpp>

#include "futex_wait.hpp"

using namespace distrun;
using namespace distrun::probe;
using wire::WaitObject;

namespace {

std::vector<wire::ThreadStack> main_and_worker() {
  std::vector<wire::ThreadStack> threads(2);
  threads[0].task.tid = 10;
  threads[0].task.name = "main";
  threads[1].task.tid = 11;
  threads[1].task.name = "worker";
  return threads;
}

// The kernel's view of a futex of one process.
wire::ObservedWait private_futex(std::uint64_t address) {
  wire::ObservedWait wait;
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  wait.object = WaitObject::Unknown;
  wait.name = "a futex of its own at " + std::string(text);
  wait.key = "futex:10:" + std::string(text);
  wait.enders = {{10, 0, "10 (main)"}};
  wait.closed = true;
  return wait;
}

FutexPlace place_at(std::uint64_t address, std::vector<std::string> functions) {
  FutexPlace place;
  place.pid = 10;
  place.tid = 10;
  place.address = address;
  place.functions = std::move(functions);
  return place;
}

FutexPlace mutex_of(std::uint32_t owner) {
  FutexPlace place = place_at(0xabc0, {"lll_lock_wait", "pthread_mutex_lock"});
  place.words = {0, 0, 0, 0, 2, 1, owner, 1, 0};
  return place;
}

wire::ObservedWait observed(const FutexPlace& place, pid_t process_of_owner = 10) {
  const auto process_of = [process_of_owner](pid_t) { return process_of_owner; };
  return observe_futex(place, private_futex(place.address), main_and_worker(), process_of);
}

}  // namespace

TEST_CASE("the wait for a mutex names its owner as the only thread that can end it") {
  const wire::ObservedWait wait = observed(mutex_of(11));
  CHECK(wait.object == WaitObject::Mutex);
  CHECK(wait.name == "mutex 0xabc0");
  CHECK(wait.key == "futex:10:0xabc0");
  REQUIRE(wait.enders.size() == 1);
  CHECK(wait.enders[0].tid == 11);
  CHECK(wait.enders[0].name == "thread 11 (worker)");
  CHECK(wait.closed);
}

TEST_CASE("a thread that locks a mutex twice waits for itself") {
  const wire::ObservedWait wait = observed(mutex_of(10));
  REQUIRE(wait.enders.size() == 1);
  CHECK(wait.enders[0].tid == 10);
  CHECK(wait.note == "this thread itself holds it");
}

TEST_CASE("no thread can release a mutex of an owner that has exited or was lost in a fork") {
  CHECK(observed(mutex_of(12), 0).note == "its owner, thread 12, has exited");
  CHECK(observed(mutex_of(12), 0).enders.empty());
  CHECK(observed(mutex_of(9), 0).note == "held by a thread that did not survive fork()");
  CHECK(observed(mutex_of(12), 5).note == "held by a thread that did not survive fork()");
}

TEST_CASE("an owner that has started since the threads were listed is not called exited") {
  const wire::ObservedWait wait = observed(mutex_of(12), 10);
  CHECK(wait.note.empty());
  CHECK(wait.enders.size() == 1);
}

TEST_CASE("memory that does not look like a contended mutex names no owner") {
  FutexPlace place = mutex_of(11);
  SECTION("free") { place.words[4] = 0; }
  SECTION("no users") { place.words[7] = 0; }
  SECTION("a robust mutex of another thread") { place.words[8] = 0x10; }
  const wire::ObservedWait wait = observed(place);
  CHECK(wait.object == WaitObject::Mutex);
  REQUIRE(wait.enders.size() == 1);
  CHECK(wait.enders[0].tid == 0);
}

TEST_CASE("a robust mutex has its owner in the lock word, too") {
  FutexPlace place = mutex_of(11);
  place.words[4] = 0x8000'0000 | 11;
  place.words[8] = 0x10;
  CHECK(observed(place).enders[0].tid == 11);
}

TEST_CASE("a read-write lock of several processes names the writer's process") {
  FutexPlace place = place_at(0xab08, {"pthread_rwlock_wrlock"});
  place.words[8] = 77;
  wire::ObservedWait seen;
  seen.object = WaitObject::Unknown;
  seen.name = "shared memory /dev/shm/x + 0x8";
  seen.key = "futex:1:2:0x8";
  const auto process_of = [](pid_t tid) { return tid == 77 ? 70 : 0; };
  const wire::ObservedWait wait = observe_futex(place, seen, main_and_worker(), process_of);
  CHECK(wait.name == "read-write lock in shared memory /dev/shm/x + 0x8");
  CHECK(wait.key == seen.key);
  REQUIRE(wait.enders.size() == 1);
  CHECK((wait.enders[0].pid == 70 && wait.enders[0].tid == 77 && wait.closed));
}

TEST_CASE("a read-write lock names its writer, or the number of readers") {
  const std::uint64_t address = GENERATE(0xab08ULL, 0xab0cULL);  // the two words that threads wait for
  FutexPlace place = place_at(address, {"pthread_rwlock_wrlock"});
  const std::size_t base = address == 0xab08 ? 2 : 1;  // of the lock, in words
  SECTION("a writer") {
    place.words[base + 6] = 11;
    const wire::ObservedWait wait = observed(place);
    CHECK(wait.object == WaitObject::ReadWriteLock);
    CHECK(wait.enders[0].tid == 11);
    CHECK(wait.key == "futex:10:0xab08");
  }
  SECTION("readers") {
    place.words[base] = 2 << 3;
    CHECK(observed(place).note == "held by 2 readers");
  }
  SECTION("a number that is no thread") {
    place.words[base + 6] = 7777;
    CHECK(observed(place).enders[0].tid == 0);
    CHECK(observed(place).note.empty());
  }
}

TEST_CASE("waits for both words of a condition variable have one key") {
  const FutexPlace one = place_at(0xab28, {"pthread_cond_wait"});
  const FutexPlace two = place_at(0xab2c, {"pthread_cond_wait"});
  CHECK(observed(one).key == observed(two).key);
  CHECK(observed(one).object == WaitObject::ConditionVariable);
}

TEST_CASE("a wait that may use a word shared by many objects has no key") {
  const FutexPlace place = place_at(0xab28, {"std::__detail::__platform_wait", "std::latch::wait"});
  const wire::ObservedWait wait = observed(place);
  CHECK(wait.name == "std::latch");
  CHECK(wait.key.empty());
}

TEST_CASE("a barrier tells how many threads have arrived") {
  FutexPlace place = place_at(0xab04, {"pthread_barrier_wait"});
  place.words = {0, 0, 0, 5, 3, 4};  // five have arrived in all, three of them in earlier rounds; four are required
  CHECK(observed(place).note == "2 of 4 threads have arrived");
  place.words = {0, 0, 0, 9, 3, 4};
  CHECK(observed(place).note.empty());
}

TEST_CASE("what the kernel shows of a futex is kept") {
  wire::ObservedWait seen = private_futex(0xabc0);
  seen.object = WaitObject::ThreadEnd;
  seen.name = "thread 11 (worker)";
  const FutexPlace place = place_at(0xabc0, {"pthread_join"});
  const wire::ObservedWait wait = observe_futex(place, seen, main_and_worker(), [](pid_t) { return 0; });
  CHECK(wait.object == WaitObject::ThreadEnd);
  CHECK(wait.name == "thread 11 (worker)");
}

TEST_CASE("a futex without a function that tells its kind stays unknown") {
  const wire::ObservedWait wait = observed(place_at(0xabc0, {"syscall"}));
  CHECK(wait.object == WaitObject::Unknown);
  CHECK(wait.enders.size() == 1);
}
