// A plugin that needs a library not on this machine: loading it fails.
#include <distrun/plugin/sdk/library.hpp>
#include <distrun/test.hpp>

namespace {

[[maybe_unused]] const bool loaded = [] {
  if (distrun::skip_if_no_library("libc10d_of_nowhere.so", "")({})) {
    throw distrun::Error(distrun::ErrorKind::Failed, "c10d not available");
  }
  return true;
}();

}  // namespace

DISTRUN_TEST(Missing, test) { DISTRUN_EXPECT(true); }
