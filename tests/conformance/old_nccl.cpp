// A plugin that brings a backend called nccl, of an old version.
#include <distrun/sdk/backends.hpp>
#include <distrun/sdk/test.hpp>

namespace {

[[maybe_unused]] const bool brought = [] {
  distrun::add_backend("nccl", {2, 9, 15});
  return true;
}();

}  // namespace

DISTRUN_TEST(Nccl, any, .skip = {requires_nccl()}) { DISTRUN_EXPECT(distrun::is_backend_available("nccl")); }
DISTRUN_TEST(Nccl, old_enough, .skip = {requires_nccl_version({2, 9, 15}, "no bfloat16")}) { DISTRUN_EXPECT(true); }
DISTRUN_TEST(Nccl, newer, .skip = {requires_nccl_version({2, 10, 0}, "no bfloat16")}) { DISTRUN_FAIL("it ran"); }
