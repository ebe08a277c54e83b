// The number of a machine's GPUs is derived from its device nodes.
#include "commands/gpus.hpp"

#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>

#include "support/scratch.hpp"

namespace distrun::cli {
namespace {

TEST_CASE("GPUs are counted with any numbers, as a container has them") {
  const testing::Scratch scratch;
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  CHECK(count_cuda_devices(scratch.path()).count == 0);
  CHECK(count_cuda_devices(scratch.path()).why_none == "this machine has no NVIDIA device");
  CHECK(count_cuda_devices(scratch.path(), "node01").why_none == "node01 has no NVIDIA device");
  // Each is a character device, like GPU nodes; other files of drivers and users are not.
  for (const char* node : {"nvidia3", "nvidia5", "nvidiactl"}) {
    std::filesystem::create_symlink("/dev/null", scratch.path() + "/" + node);
  }
  testing::write_file(scratch.path() + "/nvidia7", "");
  CHECK(count_cuda_devices(scratch.path()).count == 2);
  ::setenv("CUDA_VISIBLE_DEVICES", "0", 1);
  CHECK(count_cuda_devices(scratch.path()).count == 1);
  ::setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
  CHECK(count_cuda_devices(scratch.path()).why_none == "CUDA_VISIBLE_DEVICES hides all NVIDIA devices");
  CHECK(count_cuda_devices(scratch.path(), "node01").why_none ==
        "CUDA_VISIBLE_DEVICES hides all NVIDIA devices on node01");
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_CASE("GPUs that ctest assigns are the visible ones, unless the user has chosen some") {
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  take_gpus_of_ctest();
  CHECK(std::getenv("CUDA_VISIBLE_DEVICES") == nullptr);
  ::setenv("CTEST_RESOURCE_GROUP_0_GPUS", "id:3,slots:1;id:1,slots:1", 1);
  ::setenv("CTEST_RESOURCE_GROUP_1_GPUS", "id:3,slots:1", 1);
  take_gpus_of_ctest();
  CHECK(std::string(std::getenv("CUDA_VISIBLE_DEVICES")) == "3,1");
  ::setenv("CUDA_VISIBLE_DEVICES", "7", 1);
  take_gpus_of_ctest();
  CHECK(std::string(std::getenv("CUDA_VISIBLE_DEVICES")) == "7");
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "CTEST_RESOURCE_GROUP_0_GPUS", "CTEST_RESOURCE_GROUP_1_GPUS"}) {
    ::unsetenv(name);
  }
}

TEST_CASE("GPUs that Slurm has given to a step, or else to its job, are the visible ones, unless the user has chosen") {
  const auto visible_with = [](const char* name, const char* gpus) {
    ::setenv(name, gpus, 1);
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    take_gpus_of_slurm();
    const char* const list = std::getenv("CUDA_VISIBLE_DEVICES");
    return list == nullptr ? std::string("unset") : std::string(list);
  };
  CHECK(visible_with("SLURM_JOB_GPUS", "1,3") == "1,3");
  CHECK(visible_with("SLURM_JOB_GPUS", "0-2") == "0,1,2");
  CHECK(visible_with("SLURM_JOB_GPUS", "no list") == "unset");
  CHECK(visible_with("SLURM_STEP_GPUS", "3") == "3");
  ::setenv("CUDA_VISIBLE_DEVICES", "7", 1);
  take_gpus_of_slurm();
  CHECK(std::string(std::getenv("CUDA_VISIBLE_DEVICES")) == "7");
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "SLURM_JOB_GPUS", "SLURM_STEP_GPUS"}) ::unsetenv(name);
}

}  // namespace
}  // namespace distrun::cli
