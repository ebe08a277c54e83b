// The plugin of the launch tests. DISTRUN_UNIT_LAUNCH controls its behaviour while it is loaded.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <thread>

#include <distrun/test.hpp>

namespace {

[[maybe_unused]] const bool loaded = [] {
  const char* how = std::getenv("DISTRUN_UNIT_LAUNCH");
  const std::string_view mode = how != nullptr ? how : "";
  if (mode == "hang") {
    std::cerr << "about to hang" << std::endl;
    for (;;) ::pause();
  }
  if (mode == "die") {
    std::cerr << "about to die" << std::endl;
    ::raise(SIGKILL);
  }
  if (mode == "exit") ::_exit(0);
  if (mode == "thread") {
    std::thread([] {
      for (;;) ::pause();
    }).detach();
  }
  return true;
}();

[[noreturn]] void wait_for_ever() {
  for (;;) ::pause();
}

}  // namespace

DISTRUN_TEST(Launch, passes) {
  std::cout << "rank " << rank.rank() << " of " << rank.world_size() << std::endl;
  std::cerr << "to stderr" << std::endl;
  DISTRUN_EXPECT(rank.world_size() > 0);
}
DISTRUN_TEST(Launch, waits) { wait_for_ever(); }
DISTRUN_TEST(Launch, computes) {
  for (volatile int i = 0;; i = i + 1) {
  }
}
DISTRUN_TEST(Launch, ignores_term) {
  ::signal(SIGTERM, SIG_IGN);
  std::cout << "deaf" << std::endl;
  wait_for_ever();
}
DISTRUN_TEST(Launch, exits) { ::_exit(3); }
DISTRUN_TEST(Launch, dies) { ::raise(SIGKILL); }
DISTRUN_TEST(Launch, floods) {
  for (int i = 0; i < 5000; ++i) std::cout << "line " << i << " of a flood of output\n";
}
DISTRUN_TEST(Launch, leaves_a_daemon) {
  if (::fork() == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    wait_for_ever();
  }
}
DISTRUN_TEST(Launch, exists_only_with_two, .world_size = fixed(2)) {}
