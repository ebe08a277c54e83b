// Devices as tests see them: names and properties, the current device, guards, streams and their events.
#include <distrun/test.hpp>

#include <set>
#include <string>
#include <vector>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/memory/allocator.hpp>
#include <distrun/runtime/device/stream.hpp>

#include "kernels.hpp"

using namespace distrun::device;

DISTRUN_SUITE(Devices, .devices = 2);
DISTRUN_SUITE(Streams, .devices = 2);

DISTRUN_TEST(Devices, are_as_many_as_the_run_has) {
  DISTRUN_REQUIRE(gpu_count() == rank.gpus());
  DISTRUN_EXPECT(why_no_gpu().empty());
  DISTRUN_EXPECT(gpu_driver().name() == rank.gpu_driver());
  std::set<std::string> uuids;
  for (int i = 0; i < gpu_count(); ++i) {
    const Properties properties = gpu_driver().properties(i);
    DISTRUN_EXPECT(properties.memory_bytes > 0);
    DISTRUN_EXPECT(properties.clock_hz > 0);
    uuids.insert(properties.uuid);
  }
  DISTRUN_EXPECT(uuids.size() == static_cast<std::size_t>(gpu_count()));
}

DISTRUN_TEST(Devices, have_names) {
  DISTRUN_EXPECT(to_string(parse_device("cuda:1")) == "cuda:1");
  DISTRUN_EXPECT(parse_device("cpu") == kCpu);
  DISTRUN_EXPECT_THROWS(distrun::Error, "is not a device", parse_device("cuda:x"));
}

DISTRUN_TEST(Devices, that_are_not_there_are_refused) {
  DISTRUN_EXPECT_THROWS(distrun::Error, "does not exist", set_current_device(rank.gpus()));
  DISTRUN_EXPECT_THROWS(distrun::Error, "does not exist", allocate(cuda(rank.gpus()), 8));
  DISTRUN_EXPECT(current_device() == 0);
}

DISTRUN_TEST(Devices, guards_put_back_what_was) {
  const Stream stream = stream_from_pool(cuda(1));
  {
    const StreamGuard guard(stream);
    DISTRUN_EXPECT(current_device() == 1);
    DISTRUN_EXPECT(current_stream(cuda(1)) == stream);
    const DeviceGuard inner(cuda(0));
    DISTRUN_EXPECT(current_device() == 0);
  }
  DISTRUN_EXPECT(current_device() == 0);
  DISTRUN_EXPECT(current_stream(cuda(1)) == default_stream(cuda(1)));
}

DISTRUN_TEST(Devices, the_current_one_is_each_threads_own) {
  const DeviceGuard guard(cuda(1));
  const distrun::core::ThreadState here = distrun::core::thread_state();
  int fresh = -1;
  int carried = -1;
  distrun::base::Thread("other", [&] {
    fresh = current_device();
    const distrun::core::ThreadStateGuard travelled(here);
    carried = current_device();
  }).join();
  DISTRUN_EXPECT(fresh == 0);
  DISTRUN_EXPECT(carried == 1);
}

DISTRUN_TEST(Streams, of_a_pool_go_round) {
  std::set<Stream> streams;
  for (int i = 0; i < 2000; ++i) streams.insert(stream_from_pool(cuda(0)));
  DISTRUN_EXPECT(streams.size() == 32);
  DISTRUN_EXPECT(stream_from_pool(cuda(0), Priority::High) != default_stream(cuda(0)));
}

DISTRUN_TEST(Streams, do_their_work_in_order) {
  const Stream stream = stream_from_pool(cuda(0));
  const StreamGuard guard(stream);
  const Ints numbers(cuda(0), 1000);
  numbers.set(stream, rank.rank());
  for (int i = 0; i < 50; ++i) numbers.add(stream, 1);
  DISTRUN_EXPECT(numbers.read(stream) == std::vector<int>(1000, rank.rank() + 50));
}

DISTRUN_TEST(Streams, wait_for_events_of_others) {
  const Stream first = stream_from_pool(cuda(0));
  const Stream second = stream_from_pool(cuda(0));
  const Ints numbers(cuda(0), 100);
  Event filled;
  first.driver().busy(first.ref(), 1'000'000);
  numbers.set(first, 7);
  filled.record(first);
  filled.block(second);
  numbers.add(second, 1);
  DISTRUN_EXPECT(numbers.read(second) == std::vector<int>(100, 8));
  DISTRUN_EXPECT(filled.is_done());
}

DISTRUN_TEST(Streams, wait_for_events_of_other_devices) {
  const Ints here(cuda(0), 100);
  const Ints there(cuda(1), 100);
  const Stream first = default_stream(cuda(0));
  const Stream second = default_stream(cuda(1));
  Event copied;
  here.set(first, 3);
  first.driver().copy(first.ref(), there.data(), here.data(), there.bytes());
  copied.record(first);
  copied.block(second);
  there.add(second, 4);
  DISTRUN_EXPECT(there.read(second) == std::vector<int>(100, 7));
}

DISTRUN_TEST(Streams, are_idle_when_their_work_is_done) {
  const Stream stream = stream_from_pool(cuda(1));
  stream.driver().busy(stream.ref(), 1000);
  synchronize(cuda(1));
  DISTRUN_EXPECT(stream.is_idle());
}

DISTRUN_TEST(Streams, call_the_host) {
  const Stream stream = stream_from_pool(cuda(0));
  std::vector<int> order;
  for (int i = 0; i < 10; ++i) stream.driver().call_host(stream.ref(), [&order, i] { order.push_back(i); });
  stream.synchronize();
  DISTRUN_EXPECT((order == std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

DISTRUN_TEST(Streams, keep_their_errors) {
  const Stream stream = make_stream(cuda(0));
  stream.driver().call_host(stream.ref(), [] { throw distrun::Error(distrun::ErrorKind::Failed, "on purpose"); });
  DISTRUN_EXPECT_THROWS(distrun::Error, "on purpose", stream.synchronize());
  DISTRUN_EXPECT_THROWS(distrun::Error, "on purpose", stream.synchronize());
  destroy_stream(stream);
  default_stream(cuda(0)).synchronize();
}
