// A plugin that registers all backends, nccl in an old version.
#include <distrun/plugin/sdk/backends.hpp>
#include <distrun/test.hpp>

namespace {

[[maybe_unused]] const bool brought = [] {
  distrun::add_backend("nccl", {2, 9, 15});
  for (const char* name : {"gloo", "mpi", "ucc"}) distrun::add_backend(name);
  return true;
}();

}  // namespace

DISTRUN_TEST(Brought, gloo, .skip = {requires_gloo()}) { DISTRUN_EXPECT(distrun::is_backend_available("gloo")); }
DISTRUN_TEST(Brought, mpi, .skip = {requires_mpi()}) { DISTRUN_EXPECT(distrun::is_backend_available("mpi")); }
DISTRUN_TEST(Brought, ucc, .skip = {requires_ucc()}) { DISTRUN_EXPECT(distrun::is_backend_available("ucc")); }
DISTRUN_TEST(Nccl, any, .skip = {requires_nccl()}) { DISTRUN_EXPECT(distrun::is_backend_available("nccl")); }
DISTRUN_TEST(Nccl, old_enough, .skip = {requires_nccl_version({2, 9, 15}, "no bfloat16")}) { DISTRUN_EXPECT(true); }
DISTRUN_TEST(Nccl, newer, .skip = {requires_nccl_version({2, 10, 0}, "no bfloat16")}) { DISTRUN_FAIL("it ran"); }
