#include <distrun/profiler.hpp>
#include <distrun/test.hpp>

DISTRUN_TEST(OutsideProfiler, names_a_span, .world_size = fixed(1), .timeout = 10s) {
  distrun::profiler::Profile profile;
  { const distrun::profiler::RecordFunction span("outside span"); }
  profile.end();
  DISTRUN_EXPECT(distrun::profiler::table(profile.key_averages()).find("outside span") != std::string::npos);
}
