#include <catch2/catch.hpp>

#include <fcntl.h>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/plugin/rank/own_leaks.hpp>

using namespace distrun;

namespace {

// A thread that goes on until it is told.
class Staying {
 public:
  Staying() : thread_("stays", [this] { done_.wait(false); }) {}
  ~Staying() {
    done_ = true;
    done_.notify_all();
  }

 private:
  std::atomic<bool> done_{false};
  base::Thread thread_;  // joined before `done_` goes
};

}  // namespace

TEST_CASE("a thread and a descriptor that came and stayed are leaks, with their names") {
  const rank::OwnLeaks before;
  CHECK(before.look().empty());
  const Staying staying;
  const base::Fd zero(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const auto leaks = before.look();
  REQUIRE(leaks.size() == 2);
  CHECK_FALSE(leaks[0].thread);
  CHECK_THAT(leaks[0].what, Catch::EndsWith("(/dev/zero)"));
  CHECK(leaks[1].thread);
  CHECK_THAT(leaks[1].what, Catch::EndsWith("(stays)"));
}

TEST_CASE("what was there before is no leak, whatever ends while it is counted") {
  constexpr int kTries = 3000;
  for (int i = 0; i < kTries; ++i) {
    base::Thread ends("ends", [] {});
    const Staying staying;
    const rank::OwnLeaks before;
    ends.join();
    const auto leaks = before.look();
    if (!leaks.empty()) FAIL("try " << i << ": " << leaks.front().what);
  }
}
