// Default options of the sanitizers if distrun-rank itself is built with one; ASAN_OPTIONS and the like override them.
// No object of distrun leaks at a rank's exit, so there are no suppressions here.
#include <distrun/common/base/sanitizer.hpp>

// Called by the runtime before main(). By default each rank would sleep for a second at its exit, to catch races of its
// other threads; a run of many short tests would do little else.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the runtime's own name for it
extern "C" const char* __tsan_default_options() { return distrun::base::kThreadSanitizer ? "atexit_sleep_ms=0" : ""; }
