// Ranks that measure something.
#include <distrun/test.hpp>

#include <cmath>

namespace {

void measure_latency() { DISTRUN_MEASURE("latency", 8.5, "us"); }

}  // namespace

DISTRUN_TEST(Measured, values, .world_size = distrun::fixed(3)) {
  DISTRUN_MEASURE("bandwidth", 10.0 + rank.rank(), "GB/s");
  if (rank.is_master()) measure_latency();
  if (rank.is_master()) DISTRUN_MEASURE("steps", 1e6);
}

DISTRUN_TEST(Measured, nonsense, .world_size = distrun::fixed(1)) {
  DISTRUN_EXPECT_THROWS(distrun::Error, "needs a name", DISTRUN_MEASURE("", 1));
  DISTRUN_EXPECT_THROWS(distrun::Error, "must be finite", DISTRUN_MEASURE("x", std::nan("")));
  DISTRUN_EXPECT_THROWS(distrun::Error, "must be finite", DISTRUN_MEASURE("x", HUGE_VAL, "s"));
}
