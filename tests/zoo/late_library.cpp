// A library with a constructor that hangs; ends.cpp opens it with dlopen() and says how in a variable.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

namespace {

// The thread needs the loader's lock, which the constructor's thread holds.
void join_a_thread_that_loads() {
  std::thread helper([] {
    dlopen("libm.so.6", RTLD_NOW | RTLD_NOLOAD);  // culprit: constructor_joins
    usleep(1);
  });
  helper.join();  // culprit: constructor_joins
}

void sleep_in_constructor() {
  for (int i = 0; i < 60; ++i) sleep(1);  // culprit: constructor_sleeps
}

}  // namespace

[[gnu::constructor]] static void begin() {
  const char* how = std::getenv("ZOO_LATE");
  if (how == nullptr) return;
  if (std::string(how) == "joins") join_a_thread_that_loads();
  if (std::string(how) == "sleeps") sleep_in_constructor();
}
