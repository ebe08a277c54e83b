#include <distrun/plugin/sdk/backends.hpp>

#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>

namespace {

using namespace distrun;

std::string reason_of(const SkipCondition& condition, const std::string& backend = "shm") {
  ListContext run;
  run.backend = backend;
  const auto skip = condition(run);
  return skip ? skip->reason : "";
}

}  // namespace

TEST_CASE("a backend is available once it has been added", "[sdk]") {
  CHECK_FALSE(is_backend_available("ucc"));
  CHECK(reason_of(requires_ucc()) == "c10d was not compiled with the UCC backend");
  add_backend("ucc");
  CHECK(is_backend_available("ucc"));
  CHECK(reason_of(requires_ucc()).empty());
  CHECK_FALSE(backend_has("ucc", "plugin"));  // the tables have a separate name for it
  add_backend("from outside");
  CHECK(backend_has("from outside", "plugin"));
}

TEST_CASE("versions of NCCL are compared number by number", "[sdk]") {
  CHECK(reason_of(requires_nccl_version({2, 0, 0}, "x")) == "c10d was not compiled with the NCCL backend");
  add_backend("nccl", {2, 9, 9});
  CHECK(reason_of(requires_nccl_version({2, 9, 9}, "x")).empty());
  CHECK(reason_of(requires_nccl_version({1, 99, 0}, "x")).empty());
  CHECK(reason_of(requires_nccl_version({2, 10, 0}, "x")) ==
        "Requires NCCL version greater than or equal to: 2.10.0, found: 2.9.9, reason: x");
  add_backend("nccl", {2, 10, 1});  // the later call counts
  CHECK(reason_of(requires_nccl_version({2, 10, 0}, "x")).empty());
}

TEST_CASE("a backend that a test requires must be the run's and available", "[sdk]") {
  add_backend("gloo");
  const SkipCondition condition = require_backend_is_available({"gloo", "mpi"});
  CHECK(reason_of(condition, "gloo").empty());
  CHECK(reason_of(condition, "shm") == "Test requires backend shm to be one of gloo, mpi");
  CHECK(reason_of(condition, "mpi") == "Test requires backend mpi to be available");
}

TEST_CASE("unknown backends are refused with a list of the known ones", "[sdk]") {
  CHECK_THROWS_WITH(backend_supports("gloo", "all_reduce"), Catch::Contains("sendrecv anysource"));
  CHECK_THROWS_WITH(backend_has("gloo", "speed"), Catch::Contains("subgroup"));
  CHECK(backend_supports("unknown", "reduce"));
  CHECK_FALSE(backend_has("unknown", "gpu"));
}
