#include <catch2/catch.hpp>

#include <pthread.h>

#include <thread>

#include <distrun/common/base/thread.hpp>
#include <distrun/plugin/rank/thread_owner.hpp>

using namespace distrun;
using rank::bind_thread;
using rank::owner_of_thread;

namespace {

// Makes this process belong to four ranks for the duration of a test.
struct SharedProcess {
  SharedProcess() { rank::share_process(4); }
  ~SharedProcess() { rank::share_process(0); }
};

// Runs `body` on a thread of that name, and on a thread created by that one.
template <class Body>
void on_thread(const std::string& name, const Body& body) {
  base::Thread(name, [&body] {
    body();
    std::thread(body).join();
  });
}

}  // namespace

TEST_CASE("a thread belongs to its creator's rank, by the name that it inherits") {
  const SharedProcess process;
  on_thread(rank::thread_name_of(2), [] { CHECK(owner_of_thread() == 2); });
  on_thread("rank 4", [] { CHECK(owner_of_thread() == -1); });
  on_thread("rank 2 ", [] { CHECK(owner_of_thread() == -1); });
  on_thread("rank ", [] { CHECK(owner_of_thread() == -1); });
  on_thread("rank -1", [] { CHECK(owner_of_thread() == -1); });
  CHECK(owner_of_thread() == -1);
}

TEST_CASE("a binding wins over the name, until it ends") {
  const SharedProcess process;
  on_thread(rank::thread_name_of(2), [] {
    CHECK(bind_thread(1) == -1);
    pthread_setname_np(pthread_self(), "worker");
    CHECK(owner_of_thread() == 1);
    CHECK(bind_thread(3) == 1);
    CHECK(bind_thread(-1) == 3);
    CHECK(owner_of_thread() == -1);
    pthread_setname_np(pthread_self(), "rank 2");
  });
}

TEST_CASE("if ranks are processes no thread has an owner") {
  on_thread(rank::thread_name_of(2), [] { CHECK(owner_of_thread() == -1); });
}
