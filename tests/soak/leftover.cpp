#include "leftover.hpp"

#include <sys/resource.h>

#include <cstdlib>

namespace distrun::soak {
namespace {

constexpr std::uint64_t kOfAttempts = (1U << 24U) - 1;  // low bits, which distinguish attempts

std::uint64_t run_tag_of(pid_t pid) {
  rlimit limit{};
  if (prlimit(pid, RLIMIT_LOCKS, nullptr, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  return limit.rlim_cur & ~kOfAttempts;
}

}  // namespace

std::uint64_t tag_in_use(const testing::Sandbox& sandbox) {
  for (const testing::ProcessInfo& info : sandbox.processes()) {
    const std::uint64_t tag = run_tag_of(info.pid);
    if (tag != 0) return tag;
  }
  return 0;
}

std::vector<std::string> processes_with(std::uint64_t tag) {
  std::vector<std::string> found;
  if (tag == 0) return found;
  for (const testing::ProcessInfo& info : testing::living_processes()) {
    if (run_tag_of(info.pid) == tag) found.push_back(info.describe() + ", by its tag");
  }
  return found;
}

std::vector<std::string> not_ended(const testing::Summary& summary) {
  std::vector<std::string> found;
  for (const testing::TestResult& test : summary.tests) {
    for (const testing::AttemptResult& attempt : test.attempts) {
      for (const testing::LeakResult& leak : attempt.leaks) {
        const std::size_t number = leak.what.find_first_of("0123456789");
        if (leak.kind != "process" || !leak.removed || number == std::string::npos) continue;
        if (testing::is_alive(std::atoi(leak.what.c_str() + number))) found.push_back(leak.what + ", told as ended");
      }
    }
  }
  return found;
}

}  // namespace distrun::soak
