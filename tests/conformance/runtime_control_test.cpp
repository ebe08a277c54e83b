// Each suite of the runtime against a runtime with planted faults: minutes, see scripts/check-all mutations.
#include <catch2/catch.hpp>

#include "control.hpp"

namespace {

using namespace distrun::testing;

const ControlledSuite kTensor{DISTRUN_TENSOR_SUITE,
                              DISTRUN_LIES "/tensor.lies",
                              DISTRUN_TENSOR_SUITE_EXPECTED,
                              {"--gpu-driver", "virtual", "--gpus", "2"},
                              DISTRUN_LYING_RUNTIME};
const ControlledSuite kCollectives{DISTRUN_COLLECTIVES_SUITE,
                                   DISTRUN_LIES "/collectives.lies",
                                   DISTRUN_COLLECTIVES_SUITE_EXPECTED,
                                   {"--gpu-driver", "virtual", "--gpus", "4"},
                                   DISTRUN_LYING_RUNTIME};
const ControlledSuite kRpc{DISTRUN_RPC_SUITE,
                           DISTRUN_LIES "/rpc.lies",
                           DISTRUN_RPC_SUITE_EXPECTED,
                           {"--gpu-driver", "virtual", "--gpus", "2", "--jobs", "4"},
                           DISTRUN_LYING_RUNTIME};
const ControlledSuite kRref{
    DISTRUN_RREF_SUITE, DISTRUN_LIES "/rref.lies", DISTRUN_RREF_SUITE_EXPECTED, {"--jobs", "8"}, DISTRUN_LYING_RUNTIME};
const ControlledSuite kProfiler{DISTRUN_PROFILER_SUITE,
                                DISTRUN_LIES "/profiler.lies",
                                DISTRUN_PROFILER_SUITE_EXPECTED,
                                {"--gpu-driver", "virtual", "--gpus", "2", "--jobs", "8"},
                                DISTRUN_LYING_RUNTIME};
const ControlledSuite kCudaRpc{DISTRUN_CUDA_RPC_SUITE,
                               DISTRUN_LIES "/cuda_rpc.lies",
                               DISTRUN_CUDA_RPC_SUITE_EXPECTED,
                               {"--gpu-driver", "virtual", "--gpus", "4", "--jobs", "8"},
                               DISTRUN_LYING_RUNTIME};
const ControlledSuite kDistAutograd{DISTRUN_DIST_AUTOGRAD_SUITE,
                                    DISTRUN_LIES "/dist_autograd.lies",
                                    DISTRUN_DIST_AUTOGRAD_SUITE_EXPECTED,
                                    {"--gpu-driver", "virtual", "--gpus", "4", "--jobs", "8"},
                                    DISTRUN_LYING_RUNTIME};

}  // namespace

TEST_CASE("every test of the tensor suite fails where it is lied to", "[suite]") { check_control(kTensor); }
TEST_CASE("the tensor suite with lies that nobody tells passes", "[suite]") { check_honest(kTensor); }
TEST_CASE("every test of the collectives suite fails where it is lied to", "[suite]") { check_control(kCollectives); }
TEST_CASE("the collectives suite with lies that nobody tells passes", "[suite]") { check_honest(kCollectives); }
TEST_CASE("every test of the RPC suite fails where it is lied to", "[suite]") { check_control(kRpc); }
TEST_CASE("the RPC suite with lies that nobody tells passes", "[suite]") { check_honest(kRpc); }
TEST_CASE("every test of the RRef suite fails where it is lied to", "[suite]") { check_control(kRref); }
TEST_CASE("the RRef suite with lies that nobody tells passes", "[suite]") { check_honest(kRref); }
TEST_CASE("every test of the suite of the profiler fails where it is lied to", "[suite]") { check_control(kProfiler); }
TEST_CASE("the suite of the profiler with lies that nobody tells passes", "[suite]") { check_honest(kProfiler); }
TEST_CASE("every test of the CUDA RPC suite fails where it is lied to", "[suite]") { check_control(kCudaRpc); }
TEST_CASE("the CUDA RPC suite with lies that nobody tells passes", "[suite]") { check_honest(kCudaRpc); }
TEST_CASE("every test of the distributed autograd suite fails where it is lied to", "[suite]") {
  check_control(kDistAutograd);
}
TEST_CASE("the distributed autograd suite with lies that nobody tells passes", "[suite]") {
  check_honest(kDistAutograd);
}
