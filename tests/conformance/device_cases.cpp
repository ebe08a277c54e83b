// Deliberate errors in the use of devices; tests/conformance/device_test.cpp has the expected results.
#include <distrun/test.hpp>

#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/memory/allocator.hpp>

using namespace distrun::device;

DISTRUN_SUITE(DeviceFaults, .world_size = fixed(2), .devices = 2);

DISTRUN_TEST(DeviceFaults, host_code_touches_device_memory) {
  const auto memory = allocate(cuda(1), 1000);
  if (rank.rank() == 1) static_cast<volatile char*>(memory->data())[5] = 1;
  rank.barrier();
}

DISTRUN_TEST(DeviceFaults, streams_without_order) {
  const auto memory = allocate(cuda(0), 1000);
  Driver& driver = gpu_driver();
  const Stream other = stream_from_pool(cuda(0));
  rank.barrier();  // ranks that are threads each have separate memory, none released by another rank
  if (rank.rank() == 0) driver.fill(default_stream(cuda(0)).ref(), memory->data(), 1, 1000);
  driver.fill(other.ref(), memory->data(), 2, 1000);
  other.synchronize();
  DISTRUN_EXPECT(true);
}

DISTRUN_TEST(DeviceFaults, a_stream_never_comes_to_its_end) {
  const Stream stream = default_stream(cuda(1));
  if (rank.rank() == 0) stream.driver().busy(stream.ref(), 3'600'000'000'000);
  stream.synchronize();
  rank.barrier();
}

DISTRUN_TEST(DeviceFaults, operators_without_order) {
  const distrun::Tensor x = distrun::ones({8}, {distrun::DType::F32, cuda(0)});
  const Stream other = stream_from_pool(cuda(0));
  synchronize(cuda(0));
  rank.barrier();
  if (rank.rank() == 0) distrun::mul_(x, 2);
  const StreamGuard guard(other);
  const distrun::Tensor sum = distrun::add(x, x);
  other.synchronize();
}
