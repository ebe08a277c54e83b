#include <distrun/plugin/sdk/detail/decide.hpp>

#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/plugin/sdk/detail/registry.hpp>

namespace {

using namespace distrun;
using detail::decide;

ListContext usual_run() {
  return {.world_size = 4,
          .backend = "shm",
          .agent = "pipe",
          .gpu_driver = "none",
          .gpus = 0,
          .isolation = "process",
          .why_no_gpu = ""};
}

// Returns "code reason"; empty if the test runs.
std::string skip_of(const TestOptions& options, const ListContext& run = usual_run()) {
  const auto skip = decide(options, run).skip;
  return skip ? std::to_string(skip->code) + " " + skip->reason : "";
}

std::string skip_of(SkipCondition condition, int world_size, int gpus = 0, const std::string& backend = "shm") {
  ListContext run = usual_run();
  run.world_size = world_size;
  run.gpus = gpus;
  run.backend = backend;
  return skip_of(TestOptions{.skip = {std::move(condition)}}, run);
}

}  // namespace

TEST_CASE("a world size follows its rule", "[sdk]") {
  ListContext run = usual_run();
  run.gpus = 3;
  CHECK(decide({}, run).world_size == 4);
  CHECK(decide({.world_size = any_world()}, run).world_size == 4);
  CHECK(decide({.world_size = fixed(2)}, run).world_size == 2);
  CHECK(decide({.world_size = any_of({2, 4})}, run).world_size == 4);
  CHECK(decide({.world_size = gpus()}, run).world_size == 3);
}

TEST_CASE("a rule without a possible world size skips with what is needed and what is available", "[sdk]") {
  CHECK(skip_of({.world_size = any_of({2, 3, 8})}) == "86 needs a world size of 2, 3 or 8; this run has 4");
  CHECK(decide({.world_size = any_of({2})}, usual_run()).world_size == 0);
  CHECK(skip_of({.world_size = gpus()}) ==
        "86 needs a device for each rank; this run has none (--gpu-driver virtual --gpus 4 emulates 4)");
}

TEST_CASE("resources that a test needs and the run lacks are named", "[sdk]") {
  CHECK(skip_of({.backends = {"gloo", "nccl"}}) == "86 needs the backend gloo or nccl; this run has shm");
  CHECK(skip_of({.backends = {"gloo", "shm"}}).empty());
  CHECK(skip_of({.agents = {"faulty"}}) == "86 needs the agent faulty; this run has pipe");
  CHECK(skip_of({.devices = 1}) == "86 needs 1 device; this run has none (--gpu-driver virtual --gpus 1 emulates 1)");
  ListContext run = usual_run();
  run.why_no_gpu = "this machine has no NVIDIA device";
  CHECK(decide({.devices = 2}, run).skip.value().reason ==
        "needs 2 devices; this run has none: this machine has no NVIDIA device "
        "(--gpu-driver virtual --gpus 2 emulates 2)");
  run.gpus = 1;
  CHECK(decide({.devices = 2}, run).skip.value().reason == "needs 2 devices; this run has 1");
}

TEST_CASE("the first condition that holds gives the reason, the suite's before the test's", "[sdk]") {
  const TestOptions suite{.skip = {skip_if(false, "never"), skip_if(true, "suite")}};
  const TestOptions test{.skip = {skip_if(true, "test")}};
  CHECK(skip_of(detail::merged(suite, test)) == "86 suite");
  CHECK(skip_of(test) == "86 test");
}

TEST_CASE("a condition sees the world size of its own test", "[sdk]") {
  const auto condition = skip_if([](const ListContext& run) { return run.world_size == 2; }, "pairs");
  CHECK(skip_of({.world_size = fixed(2), .skip = {condition}}) == "86 pairs");
  CHECK(skip_of({.skip = {condition}}).empty());
}

TEST_CASE("skip_if_lt_x_gpu has the harness's code for each number of devices", "[sdk]") {
  const std::vector<std::pair<int, int>> codes{{1, 75}, {2, 77}, {3, 80}, {4, 81}, {5, 82}, {6, 83}, {7, 84}, {8, 85}};
  for (const auto& [devices, code] : codes) {
    const std::string text = skip_of(skip_if_lt_x_gpu(devices), 4, devices - 1);
    CHECK(text == std::to_string(code) + " Need at least " + std::to_string(devices) +
                      (devices == 1 ? " CUDA device" : " CUDA devices"));
    CHECK(skip_of(skip_if_lt_x_gpu(devices), 4, devices).empty());
  }
  CHECK_THROWS_AS(skip_of(skip_if_lt_x_gpu(9), 4, 0), Error);
}

TEST_CASE("skip_if_no_gpu distinguishes no device from too few", "[sdk]") {
  CHECK(skip_of(skip_if_no_gpu(), 4, 0) == "74 CUDA is not available.");
  CHECK(skip_of(skip_if_no_gpu(), 4, 3) == "81 Need at least 4 CUDA devices");
  CHECK(skip_of(skip_if_no_gpu(), 4, 4).empty());
  CHECK_THROWS_WITH(skip_of(skip_if_no_gpu(), 9, 4), "the skip table has no entry 'multi-gpu-9'");
}

TEST_CASE("small and odd world sizes skip except with mpi", "[sdk]") {
  CHECK(skip_of(skip_if_small_worldsize(), 2) == "73 Skipped due to small world size.");
  CHECK(skip_of(skip_if_small_worldsize(), 3).empty());
  CHECK(skip_of(skip_if_small_worldsize(), 2, 0, "mpi").empty());
  CHECK(skip_of(skip_if_odd_worldsize(), 3) == "87 Skipped due to odd world size.");
  CHECK(skip_of(skip_if_odd_worldsize(), 4).empty());
  CHECK(skip_of(skip_if_odd_worldsize(), 3, 0, "mpi").empty());
}

TEST_CASE("a test that gives each rank a device needs as many devices as ranks", "[sdk]") {
  ListContext run;
  run.world_size = 4;
  run.gpus = 3;
  CHECK(decide({.gpu_per_rank = true}, run).skip.value().reason == "needs 4 devices; this run has 3");
  CHECK_FALSE(decide({.world_size = gpus(), .gpu_per_rank = true}, run).skip);
  CHECK_FALSE(decide({.world_size = fixed(2), .gpu_per_rank = true}, run).skip);
  CHECK(detail::merged({.gpu_per_rank = true}, {}).gpu_per_rank);
  CHECK(detail::merged({}, {.gpu_per_rank = true}).gpu_per_rank);
}

TEST_CASE("require_n_gpus_for_nccl_backend leaves other backends alone", "[sdk]") {
  CHECK(skip_of(require_n_gpus_for_nccl_backend(2), 4, 1, "nccl") == "77 Need at least 2 CUDA devices");
  CHECK(skip_of(require_n_gpus_for_nccl_backend(2), 4, 2, "nccl").empty());
  CHECK(skip_of(require_n_gpus_for_nccl_backend(2), 4, 0, "gloo").empty());
}

TEST_CASE("require_world_size has the harness's text", "[sdk]") {
  CHECK(skip_of(require_world_size(5), 4) == "86 Test requires world size of 5");
  CHECK(skip_of(require_world_size(4), 4).empty());
}

TEST_CASE("a backend that the test names itself wins over the run's", "[sdk]") {
  CHECK(skip_of(require_n_gpus_for_nccl_backend(2, "nccl"), 4, 1) == "77 Need at least 2 CUDA devices");
  CHECK(skip_of(require_n_gpus_for_nccl_backend(2, "gloo"), 4, 1, "nccl").empty());
  CHECK(skip_of(nccl_skip_if_lt_x_gpu("nccl", 3), 4, 2) == "80 Need at least 3 CUDA devices");
  CHECK(skip_of(nccl_skip_if_lt_x_gpu("nccl", 3), 4, 3).empty());
}

TEST_CASE("skip_if_too_few_gpus counts devices only if there are any", "[sdk]") {
  CHECK(skip_of(skip_if_too_few_gpus(), 4, 0).empty());
  CHECK(skip_of(skip_if_too_few_gpus(), 4, 0, "nccl") == "74 CUDA is not available.");
  CHECK(skip_of(skip_if_too_few_gpus(), 4, 3) == "81 Need at least 4 CUDA devices");
  CHECK(skip_of(skip_if_too_few_gpus(), 4, 4, "nccl").empty());
}

TEST_CASE("conditions for other systems never hold", "[sdk]") {
  CHECK(skip_of(skip_if_rocm(), 4).empty());
  CHECK(skip_of(skip_if_win32(), 4).empty());
}
