#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/resource.h>

#include <ctime>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/sanitizer.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/plugin/rank/own_leaks.hpp>

#include "support/skip.hpp"

using namespace distrun;

namespace {

// A thread that runs until its destruction.
class Staying {
 public:
  Staying() : thread_("stays", [this] { done_.wait(false); }) {}
  ~Staying() {
    done_ = true;
    done_.notify_all();
  }

 private:
  std::atomic<bool> done_{false};
  base::Thread thread_;  // joined before `done_` is destroyed
};

}  // namespace

TEST_CASE("a new thread and a new descriptor that remain are leaks, with their names") {
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

TEST_CASE("many descriptors are examined quickly, and reported with their number") {
  constexpr std::size_t kMany = 15'000;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  testing::skip_case_if(limit.rlim_max < kMany + 100, "the limit of open files is too low");
  const rlimit high{limit.rlim_max, limit.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &high);
  const rank::OwnLeaks before;
  const base::Fd zero(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  std::vector<base::Fd> many;
  while (many.size() < kMany) many.emplace_back(::fcntl(zero.get(), F_DUPFD_CLOEXEC, 0));
  const std::clock_t begin = std::clock();
  const auto leaks = before.look();
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  many.clear();
  ::setrlimit(RLIMIT_NOFILE, &limit);
  CHECK(seconds < (base::kSanitized ? 5 : 0.5));
  REQUIRE(leaks.size() == 101);
  CHECK_THAT(leaks.front().what, Catch::EndsWith("(/dev/zero)"));
  CHECK(leaks.back().what == std::to_string(kMany + 1 - 100) + " more");
}

TEST_CASE("descriptors and threads from before are not leaks, even if some end during the count") {
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
