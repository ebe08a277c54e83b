// Capabilities of backends, queried by name, and skip conditions on whether a backend exists.
#include <distrun/test.hpp>

#include <string>
#include <vector>

namespace {

using Backends = std::vector<std::string>;

const Backends kBackends{"gloo", "mpi", "nccl", "ucc"};

// An out-of-tree backend registers itself while its plugin is loaded.
[[maybe_unused]] const bool registered = [] {
  distrun::add_backend("harness_backend");
  return true;
}();

Backends without(const std::string& collective) {
  Backends lacking;
  for (const std::string& backend : kBackends) {
    if (!distrun::backend_supports(backend, collective)) lacking.push_back(backend);
  }
  return lacking;
}

Backends with(const std::string& feature) {
  Backends having;
  for (const std::string& backend : kBackends) {
    if (distrun::backend_has(backend, feature)) having.push_back(backend);
  }
  return having;
}

}  // namespace

DISTRUN_TEST(Backends, collectives_are_missing_by_name) {
  rank.note("rows",
            "[row:dist_cases/skip_collective-allgather_coalesced] [row:dist_cases/skip_collective-reduce] "
            "[row:dist_cases/skip_collective-sendrecv-anysource] [row:dist_cases/skip_collective-cpu-barrier]");
  DISTRUN_EXPECT((without("allgather_coalesced") == Backends{"mpi", "nccl", "ucc"}));
  DISTRUN_EXPECT(without("reduce").empty());
  DISTRUN_EXPECT((without("sendrecv anysource") == Backends{"nccl", "ucc"}));
  DISTRUN_EXPECT((without("cpu barrier") == Backends{"nccl", "ucc"}));
  DISTRUN_EXPECT_THROWS(distrun::Error, "cpu barrier", (void)distrun::backend_supports("gloo", "cpu_barrier"));
}

DISTRUN_TEST(Backends, features_are_had_by_name) {
  rank.note("rows",
            "[row:dist_cases/backend_feature-gpu] [row:dist_cases/backend_feature-cuda] "
            "[row:dist_cases/backend_feature-ddp] [row:dist_cases/backend_feature-subgroup]");
  for (const char* feature : {"gpu", "cuda", "ddp", "subgroup"}) {
    DISTRUN_EXPECT((with(feature) == Backends{"gloo", "nccl", "ucc"}));
  }
  DISTRUN_EXPECT_THROWS(distrun::Error, "subgroup", (void)distrun::backend_has("gloo", "subgroups"));
}

DISTRUN_TEST(Backends, are_all_profiled) {
  rank.note("rows", "[row:profiling/backend-white-lists]");
  for (const char* feature : {"profiling", "cuda profiling", "sendrecv profiling"}) {
    DISTRUN_EXPECT(with(feature) == kBackends);
    DISTRUN_EXPECT(!distrun::backend_has("harness_backend", feature));
  }
}

DISTRUN_TEST(Backends, one_from_outside_is_a_plugin) {
  rank.note("rows", "[row:dist_cases/backend_feature-plugin]");
  DISTRUN_EXPECT(with("plugin").empty());
  DISTRUN_EXPECT(distrun::backend_has("harness_backend", "plugin"));
  DISTRUN_EXPECT(distrun::is_backend_available("harness_backend"));
  DISTRUN_EXPECT(!distrun::is_backend_available("no_backend"));
  DISTRUN_EXPECT(!distrun::backend_has("no_backend", "plugin"));
}

DISTRUN_TEST(Backends, one_of_a_list_must_be_there) {
  rank.note("rows", "[row:skip_condition/require_backend_is_available-backends]");
  const auto condition = distrun::require_backend_is_available({"harness_backend", "gloo", "ucc"});
  distrun::ListContext run;
  run.backend = "harness_backend";
  DISTRUN_EXPECT(!condition(run));
  run.backend = "other";
  DISTRUN_REQUIRE(condition(run).has_value());
  DISTRUN_EXPECT(condition(run)->reason == "Test requires backend other to be one of harness_backend, gloo, ucc");
  run.backend = "ucc";  // which no plugin provides
  DISTRUN_REQUIRE(condition(run).has_value());
  DISTRUN_EXPECT(condition(run)->reason == "Test requires backend ucc to be available");
}
