// The only main of all test binaries: compiling it takes longer than most of them. A crash stays a
// crash: Catch's own signal handlers would answer in forked children too.
#define CATCH_CONFIG_RUNNER
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#define CATCH_CONFIG_NO_POSIX_SIGNALS
#include <catch2/catch.hpp>

#include <cstdio>

#include "support/skip.hpp"

namespace {

constexpr int kSkipped = 77;  // what tests/CMakeLists.txt tells ctest

struct Count {
  int ran = 0;
  int skipped = 0;
  bool skips = false;  // the case that runs
};

Count count;

class SkipCounter : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo&) override { count.skips = false; }
  void testCaseEnded(const Catch::TestCaseStats&) override {
    ++count.ran;
    if (count.skips) ++count.skipped;
  }
};

CATCH_REGISTER_LISTENER(SkipCounter)

}  // namespace

void distrun::testing::skip_case(const std::string& why) {
  count.skips = true;
  std::fprintf(stderr, "skipped: %s\n", why.c_str());
  throw Catch::TestFailureException();  // ends the case; without a failed assertion it is no failure
}

// Read by the thread sanitizer, if there is one: children that tests fork may start threads.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

int main(int argc, char** argv) {
  Catch::Session session;
  if (const int wrong = session.applyCommandLine(argc, argv); wrong != 0) return wrong;
  // A name that matches no case is an error: ctest would otherwise count a test that never ran as passed.
  auto& warnings = session.configData().warnings;
  warnings = static_cast<Catch::WarnAbout::What>(warnings | Catch::WarnAbout::NoTests);
  const int result = session.run();
  if (result != 0 || count.skipped == 0) return result;
  if (count.skipped == count.ran) return kSkipped;
  std::fprintf(stderr, "%d of %d test cases skipped\n", count.skipped, count.ran);
  return 0;
}
