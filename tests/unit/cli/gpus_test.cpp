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

}  // namespace
}  // namespace distrun::cli
