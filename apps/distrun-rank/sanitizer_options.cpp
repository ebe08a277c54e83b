// What the sanitizers are told where distrun-rank itself is built with one; ASAN_OPTIONS and its like beat it. Nothing
// of ours is lost at a rank's end, so there are no suppressions: they would stand here.
#include <distrun/common/base/sanitizer.hpp>

// Called by the runtime before main(). Without it each rank would sleep for a second when it ends, for races that its
// other threads may show then; a run of many short tests would do little else.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the runtime's own name for it
extern "C" const char* __tsan_default_options() { return distrun::base::kThreadSanitizer ? "atexit_sleep_ms=0" : ""; }
