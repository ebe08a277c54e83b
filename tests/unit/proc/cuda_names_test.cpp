#include <distrun/runner/proc/cuda_names.hpp>

#include <catch2/catch.hpp>

using distrun::proc::is_cuda_name_of;
using distrun::proc::maker_of_cuda_name;

TEST_CASE("a name of the CUDA driver tells the process that has made it") {
  CHECK(maker_of_cuda_name("/dev/shm/cuda.shm.0.62e.1") == 0x62e);
  CHECK(maker_of_cuda_name("/dev/shm/cuda.shm.1000.3fffff.1a") == 0x3fffff);
}

TEST_CASE("other names are not taken for the CUDA driver's") {
  for (const char* path :
       {"", "/dev/shm/", "/dev/shm/cuda.shm.", "/dev/shm/cuda.shm.0", "/dev/shm/cuda.shm.0.62e",
        "/dev/shm/cuda.shm.0.62e.", "/dev/shm/cuda.shm.0..1", "/dev/shm/cuda.shm..62e.1", "/dev/shm/cuda.shm.0.62e.1.2",
        "/dev/shm/cuda.shm.0.xyz.1", "/dev/shm/cuda.shm.0.-62e.1", "/dev/shm/cuda.shm.0.62e.1/x",
        "/dev/shm/cuda.shm.0.fffffffff.1", "/tmp/cuda.shm.0.62e.1", "/dev/shm/xcuda.shm.0.62e.1"}) {
    CAPTURE(path);
    CHECK(maker_of_cuda_name(path) == 0);
  }
}

TEST_CASE("a name belongs to the processes in which the CUDA driver has made it") {
  CHECK(is_cuda_name_of("/dev/shm/cuda.shm.0.62e.1", {0, 0x62e}));
  CHECK_FALSE(is_cuda_name_of("/dev/shm/cuda.shm.0.62e.1", {0, 0x62f}));
  CHECK_FALSE(is_cuda_name_of("/tmp/x", {0, 0x62e}));
}
