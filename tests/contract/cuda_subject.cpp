#include "driver_contract.hpp"

#include <vector>

#include <distrun/base/error.hpp>
#include <distrun/device/allocator.hpp>
#include <distrun/device/cuda/cuda_module.hpp>
#include <distrun/device/gpu.hpp>

namespace distrun::device {

Subject make_subject() {
  CudaDriver cuda = open_cuda_driver(0);
  Subject subject;
  subject.driver = std::move(cuda.driver);
  subject.why_absent = cuda.why_none;
  subject.runs_host_kernels = false;
  return subject;
}

TEST_CASE("the module's kernels fill, add and multiply") {
  choose_gpu_driver({.driver = "cuda"});
  DISTRUN_SKIP_IF(gpu_count() == 0, why_no_gpu());
  constexpr std::size_t kCount = 1000;
  const Stream stream = default_stream(cuda(0));
  const auto memory = allocate(cuda(0), 2 * kCount * sizeof(float));
  float* const a = static_cast<float*>(memory->data());
  float* const b = a + kCount;
  cuda_fill(stream, a, 3, kCount);
  cuda_fill(stream, b, 2, kCount);
  cuda_add(stream, b, a, b, kCount);
  cuda_mul(stream, a, a, b, kCount);
  std::vector<float> got(kCount);
  stream.driver().copy(stream.ref(), got.data(), a, kCount * sizeof(float));
  stream.synchronize();
  CHECK(got == std::vector<float>(kCount, 15));
}

TEST_CASE("the module's kernels are for streams of CUDA alone") {
  float number = 1;
  try {
    cuda_add(default_stream(kCpu), &number, &number, &number, 1);
    FAIL("it was launched");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Unimplemented);
  }
  CHECK(number == 1);
}

}  // namespace distrun::device
