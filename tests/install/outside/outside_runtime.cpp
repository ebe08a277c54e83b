// A plugin of an external project that uses devices.
#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

DISTRUN_TEST(OutsideRuntime, fills_memory_of_a_device, .devices = 1) {
  const auto memory = distrun::device::allocate(distrun::device::cuda(0), 4);
  const distrun::Stream stream = distrun::device::default_stream(distrun::device::cuda(0));
  int value = 0;
  stream.driver().fill(stream.ref(), memory->data(), rank.rank(), 4);
  stream.driver().copy(stream.ref(), &value, memory->data(), 4);
  stream.synchronize();
  DISTRUN_EXPECT(value == rank.rank() * 0x01010101);
  DISTRUN_EXPECT_THROWS(distrun::Error, "does not exist", distrun::device::set_current_device(99));
}
