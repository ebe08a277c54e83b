// Ranks that hang outside of their bodies: while a library is loaded, in set-up, at exit.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "zoo.hpp"

namespace {

void load(const char* how) {
  setenv("ZOO_LATE", how, 1);
  dlopen(ZOO_LATE_LIBRARY, RTLD_NOW);
}

std::mutex held;

void hold_for_ever() {
  std::atomic<bool> locked{false};
  std::thread([&locked] {
    held.lock();
    locked = true;
    sleep(zoo::kPatienceS);  // culprit: exit_needs_a_lock
  }).detach();
  zoo::await(locked);
}

// Joins its thread when the program exits.
class Worker {
 public:
  void start() {
    thread_ = std::thread([] {
      sleep(zoo::kPatienceS);  // culprit: destructor_joins
    });
  }
  ~Worker() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};
Worker worker;

}  // namespace

DISTRUN_TEST(Loading, in_a_constructor_that_sleeps) {
  zoo::others_meet(rank, [] { load("sleeps"); });
}

// The body waits for the loader's lock; the thread that holds it sleeps.
DISTRUN_TEST(Loading, behind_a_constructor_that_sleeps) {
  zoo::others_meet(rank, [] {
    std::thread loader([] { load("sleeps"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    dlopen("libm.so.6", RTLD_NOW);
    loader.join();
  });
}

DISTRUN_TEST(Loading, in_a_constructor_that_joins) {
  zoo::others_meet(rank, [] { load("joins"); });
}

DISTRUN_TEST(Ends, in_a_handler_that_sleeps) {
  DISTRUN_EXPECT(true);
  if (rank.rank() != zoo::kHanging) return;
  std::atexit([] {
    sleep(zoo::kPatienceS);  // culprit: exit_handler_sleeps
  });
}

DISTRUN_TEST(Ends, in_a_handler_that_locks) {
  DISTRUN_EXPECT(true);
  if (rank.rank() != zoo::kHanging) return;
  hold_for_ever();
  std::atexit([] { held.lock(); });
}

DISTRUN_TEST(Ends, in_a_destructor_that_joins) {
  DISTRUN_EXPECT(true);
  if (rank.rank() == zoo::kHanging) worker.start();
}

class SetUpHangs : public distrun::Fixture {
 public:
  void set_up(distrun::Rank& rank) override {
    if (rank.rank() == zoo::kHanging) sleep(zoo::kPatienceS);  // culprit: set_up_sleeps
  }
};
DISTRUN_TEST_F(SetUpHangs, and_others_meet) { rank.barrier("meet"); }
