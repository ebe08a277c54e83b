// Runs each suite of the runtime against mutated runtimes: takes minutes, see scripts/check-all mutations.
#include <catch2/catch.hpp>

#include <utility>

#include "control.hpp"

namespace {

using namespace distrun::testing;

void check(const std::string& name, Texts arguments) {
  const ControlledSuite suite{DISTRUN_SUITE_PLUGINS "/" + name + ".so", DISTRUN_MUTATIONS "/" + name + ".mutations",
                              DISTRUN_SUITES "/" + name + "/expected_tests.txt", std::move(arguments),
                              DISTRUN_MUTATED_RUNTIME};
  check_honest(suite);
  check_control(suite);
}

}  // namespace

TEST_CASE("the tensor suite detects each planted fault, and passes without", "[suite]") {
  check("tensor", {"--gpu-driver", "virtual", "--gpus", "2"});
}
TEST_CASE("the collectives suite detects each planted fault, and passes without", "[suite]") {
  check("collectives", {"--gpu-driver", "virtual", "--gpus", "4"});
}
TEST_CASE("the RPC suite detects each planted fault, and passes without", "[suite]") {
  check("rpc", {"--gpu-driver", "virtual", "--gpus", "2", "--jobs", "4"});
}
TEST_CASE("the suite of references detects each planted fault, and passes without", "[suite]") {
  check("rref", {"--jobs", "8"});
}
TEST_CASE("the suite of the profiler detects each planted fault, and passes without", "[suite]") {
  check("profiler", {"--gpu-driver", "virtual", "--gpus", "2", "--jobs", "8"});
}
TEST_CASE("the suite of RPC with GPUs detects each planted fault, and passes without", "[suite]") {
  check("cuda_rpc", {"--gpu-driver", "virtual", "--gpus", "4", "--jobs", "8"});
}
TEST_CASE("the distributed autograd suite detects each planted fault, and passes without", "[suite]") {
  check("dist_autograd", {"--gpu-driver", "virtual", "--gpus", "4", "--jobs", "8"});
}
