#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cfenv>
#include <cstdlib>

#include <distrun/plugin/rank/own_state.hpp>

using namespace distrun;
using rank::Changes;
using rank::OwnState;
using rank::OwnThread;

namespace {

bool tells(const Changes& changes, const std::string& what) {
  return changes.told.size() == 1 && changes.told[0].state && changes.told[0].what == what;
}

// Returns the changes that are found and undone after `change` has run.
template <class Change>
Changes after(const Change& change) {
  const OwnState process;
  const OwnThread thread;
  change();
  Changes changes;
  thread.put_back(changes);
  process.put_back(changes);
  Changes again;
  thread.put_back(again);
  process.put_back(again);
  CHECK(again.told.size() == (changes.used_up ? 1U : 0U));  // it could not be undone
  return changes;
}

}  // namespace

TEST_CASE("an unchanged process needs no restoring") {
  const Changes changes = after([] {});
  CHECK(changes.told.empty());
  CHECK_FALSE(changes.used_up);
}

TEST_CASE("changes of a test are named and undone") {
  CHECK(tells(after([] { ::signal(SIGUSR1, SIG_IGN); }), "the handler of SIGUSR1, which was restored"));
  CHECK(tells(after([] { ::umask(0707); }), "the umask, which was restored"));
  CHECK(tells(after([] { CHECK(::chdir("/") == 0); }), "the current directory, which was restored"));
  CHECK(tells(after([] { std::fesetround(FE_DOWNWARD); }), "the rounding mode, which was restored"));
  CHECK(tells(after([] { ::alarm(1000); }), "a running timer, which was restored"));
  CHECK(tells(after([] {
                rlimit limit{};
                ::getrlimit(RLIMIT_NOFILE, &limit);
                --limit.rlim_cur;
                ::setrlimit(RLIMIT_NOFILE, &limit);
              }),
              "RLIMIT_NOFILE, which was restored"));
}

TEST_CASE("a variable is restored whether it was set, changed or removed") {
  ::setenv("DISTRUN_UNIT_KEPT", "right", 1);
  CHECK(tells(after([] { ::setenv("DISTRUN_UNIT_KEPT", "wrong", 1); }),
              "the variable DISTRUN_UNIT_KEPT, which was restored"));
  CHECK(std::string(std::getenv("DISTRUN_UNIT_KEPT")) == "right");
  CHECK(tells(after([] { ::unsetenv("DISTRUN_UNIT_KEPT"); }), "the variable DISTRUN_UNIT_KEPT, which was restored"));
  CHECK(std::string(std::getenv("DISTRUN_UNIT_KEPT")) == "right");
  CHECK(
      tells(after([] { ::setenv("DISTRUN_UNIT_NEW", "1", 1); }), "the variable DISTRUN_UNIT_NEW, which was restored"));
  CHECK(std::getenv("DISTRUN_UNIT_NEW") == nullptr);
  ::unsetenv("DISTRUN_UNIT_KEPT");
}

TEST_CASE("a change that cannot be undone makes the process unusable for another test") {
  const Changes changes = after([] { ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); });
  CHECK(tells(changes, "whether it is dumpable, which cannot be restored"));
  CHECK(changes.used_up);
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}
