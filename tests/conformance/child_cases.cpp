// The rank process around a body, in states where nothing else could do the work: a rank that no process may trace, one
// that no signal ends, and crashes outside the body. child_test.cpp has the expected results.
#include <distrun/test.hpp>

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "fixtures/misbehave.hpp"

namespace {

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  DIR* const folder = opendir(("/proc/" + std::to_string(pid) + "/task").c_str());
  while (const dirent* entry = readdir(folder)) {
    if (const int thread = std::atoi(entry->d_name); thread > 0) threads.push_back(thread);
  }
  closedir(folder);
  return threads;
}

// A child holds all threads of this process, the listener's too, like a debugger: no answer is possible.
[[noreturn]] void hang_held_by_own_child() {
  const pid_t rank = getpid();
  fixture::start_child([&](auto ready) {
    for (const pid_t thread : threads_of(rank)) {
      ptrace(PTRACE_SEIZE, thread, nullptr, nullptr);
      if (thread != rank) ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
    }
    ready();
    ptrace(PTRACE_INTERRUPT, rank, nullptr, nullptr);
    fixture::hang();
  });
  fixture::hang();
}

}  // namespace

DISTRUN_TEST(Listener, answers_for_a_rank_that_is_traced, .world_size = fixed(2)) {
  if (rank.rank() == 1) fixture::hang_under_own_tracer();
  DISTRUN_EXPECT(true);
}

DISTRUN_TEST(Listener, ends_a_rank_that_no_signal_ends, .world_size = fixed(2)) {
  prctl(PR_SET_PDEATHSIG, 0);
  prctl(PR_SET_NAME, "outlives");  // signals readiness
  fixture::hang();
}

DISTRUN_TEST(Listener, cannot_answer) {
  if (rank.rank() == 1) hang_held_by_own_child();
  fixture::hang();
}

class ChildCrashesInSetUp : public distrun::Fixture {
 public:
  void set_up(distrun::Rank& rank) override {
    if (rank.rank() == 1) raise(SIGSEGV);
    rank.barrier("meet");
  }
};
DISTRUN_TEST_F(ChildCrashesInSetUp, a_test) { DISTRUN_FAIL("it ran"); }

class ChildCrashesInTearDown : public distrun::Fixture {
 public:
  void tear_down(distrun::Rank& rank) override {
    if (rank.rank() == 1) raise(SIGSEGV);
    rank.barrier("meet");
  }
};
DISTRUN_TEST_F(ChildCrashesInTearDown, a_test) { DISTRUN_EXPECT(true); }
