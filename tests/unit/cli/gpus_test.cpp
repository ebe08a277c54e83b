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

}  // namespace
}  // namespace distrun::cli
