// Device memory: copies, timed events, the allocator, and memory shared between ranks by handles.
#include <distrun/test.hpp>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/memory/allocator.hpp>
#include <distrun/runtime/device/stream.hpp>

#include "kernels.hpp"

using namespace distrun::device;

DISTRUN_SUITE(Copies, .devices = 2);
DISTRUN_SUITE(Events, .devices = 1);
DISTRUN_SUITE(Memories, .devices = 1);
DISTRUN_SUITE(Handles, .devices = 1);

namespace {

std::vector<int> counted(std::size_t count, int first) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

std::string packed(const IpcHandle& handle) {
  return {reinterpret_cast<const char*>(handle.bytes.data()), handle.bytes.size()};
}

IpcHandle unpacked(const std::string& bytes) {
  IpcHandle handle;
  handle.bytes.resize(bytes.size());
  std::memcpy(handle.bytes.data(), bytes.data(), bytes.size());
  return handle;
}

}  // namespace

DISTRUN_TEST(Copies, come_back_as_they_went) {
  const Stream stream = default_stream(cuda(0));
  const Ints there(cuda(0), 1000);
  const std::vector<int> values = counted(1000, rank.rank());
  stream.driver().copy(stream.ref(), there.data(), values.data(), there.bytes());
  DISTRUN_EXPECT(there.read(stream) == values);
}

DISTRUN_TEST(Copies, reach_pinned_memory_without_waiting) {
  const Stream stream = stream_from_pool(cuda(0));
  const StreamGuard guard(stream);
  const Ints there(cuda(0), 100);
  const auto pinned = allocate_pinned(2 * there.bytes());
  auto* const values = static_cast<int*>(pinned->data());
  std::iota(values, values + 100, 1);
  stream.driver().copy(stream.ref(), there.data(), values, there.bytes());
  stream.driver().copy(stream.ref(), values + 100, there.data(), there.bytes());
  stream.synchronize();
  DISTRUN_EXPECT(std::vector<int>(values + 100, values + 200) == counted(100, 1));
}

DISTRUN_TEST(Copies, go_from_device_to_device) {
  const Ints here(cuda(0), 100);
  const Ints there(cuda(1), 100);
  const Stream first = default_stream(cuda(0));
  const std::vector<int> values = counted(100, 5);
  first.driver().copy(first.ref(), here.data(), values.data(), here.bytes());
  first.driver().copy(first.ref(), there.data(), here.data(), here.bytes());
  first.synchronize();
  DISTRUN_EXPECT(there.read(default_stream(cuda(1))) == values);
}

DISTRUN_TEST(Events, tell_the_time_between_them) {
  const Stream stream = default_stream(cuda(0));
  Event begin({.timing = true});
  Event end({.timing = true});
  begin.record(stream);
  stream.driver().busy(stream.ref(), 2'000'000);
  end.record(stream);
  end.synchronize();
  DISTRUN_EXPECT(begin.elapsed(end).count() > 0);
}

DISTRUN_TEST(Events, without_timing_have_no_times) {
  Event begin;
  Event end;
  begin.record();
  end.record();
  end.synchronize();
  DISTRUN_EXPECT_THROWS(distrun::Error, "timing", begin.elapsed(end));
}

DISTRUN_TEST(Events, that_were_never_recorded_are_done) {
  const Event event;
  DISTRUN_EXPECT(event.is_done());
  event.synchronize();
  event.block(default_stream(cuda(0)));
}

DISTRUN_TEST(Memories, are_used_again_on_their_stream,
             .skip = {distrun::skip_if([](const distrun::ListContext& run) { return run.isolation == "threads"; },
                                       "ranks that are threads may get each other's blocks")}) {
  Ints first(cuda(0), 1000);
  const int* const address = first.data();
  first.set(default_stream(cuda(0)), 1);
  first.let_go();
  const Ints second(cuda(0), 1000);
  DISTRUN_EXPECT(second.data() == address);
  second.set(default_stream(cuda(0)), 2);
  DISTRUN_EXPECT(second.read(default_stream(cuda(0))) == std::vector<int>(1000, 2));
}

DISTRUN_TEST(Memories, wait_for_streams_that_use_them) {
  const Stream other = stream_from_pool(cuda(0));
  Ints first(cuda(0), 1000);
  Event set;
  first.set(default_stream(cuda(0)), 1);
  set.record(default_stream(cuda(0)));
  set.block(other);
  other.driver().busy(other.ref(), 5'000'000);
  first.add(other, 1);
  first.memory().record_stream(other);
  first.let_go();
  const Ints second(cuda(0), 1000);
  second.set(default_stream(cuda(0)), 9);  // neither the allocator nor the check reports an error
  DISTRUN_EXPECT(second.read(default_stream(cuda(0))) == std::vector<int>(1000, 9));
}

DISTRUN_TEST(Memories, beyond_what_there_is_are_refused) {
  try {
    allocate(cuda(0), std::size_t{1} << 50);
    DISTRUN_EXPECT(false);
  } catch (const distrun::Error& error) {
    DISTRUN_EXPECT(error.type() == "OutOfMemoryError");
    DISTRUN_EXPECT(error.text().find("cuda:0 is out of memory") != std::string::npos);
  }
}

// Rank 0 owns the memory; each other rank adds to its part, in its process.
DISTRUN_TEST(Handles, share_memory_and_events_between_ranks,
             .skip = {distrun::skip_if([](const distrun::ListContext& run) { return run.isolation == "threads"; },
                                       "ranks that are threads share their memory anyway")}) {
  constexpr std::size_t kPart = 256;
  const Stream stream = default_stream(cuda(0));
  Event filled({.interprocess = true});
  if (!rank.is_master()) {
    const IpcHandle memory = unpacked(rank.receive(0, "memory"));
    const std::size_t offset = std::stoul(rank.receive(0, "offset"));
    filled = Event::import_handle(cuda(0), unpacked(rank.receive(0, "event")));
    auto* const all = static_cast<int*>(gpu_driver().import_memory(0, memory)) + offset / sizeof(int);
    filled.block(stream);
    std::vector<int> part(kPart);
    int* const own = all + static_cast<std::size_t>(rank.rank()) * kPart;
    stream.driver().copy(stream.ref(), part.data(), own, kPart * sizeof(int));
    DISTRUN_EXPECT(part == std::vector<int>(kPart, 7));
    part.assign(kPart, rank.rank());
    stream.driver().copy(stream.ref(), own, part.data(), kPart * sizeof(int));
    stream.synchronize();
    rank.barrier("written");
    gpu_driver().close_imported(0, all - offset / sizeof(int));
    return;
  }
  const Ints all(cuda(0), kPart * static_cast<std::size_t>(rank.world_size()));
  std::size_t offset = 0;
  const std::string memory = packed(gpu_driver().export_memory(all.data(), &offset));
  stream.driver().busy(stream.ref(), 2'000'000);
  all.set(stream, 7);
  filled.record(stream);
  const std::string event = packed(filled.export_handle(cuda(0)));
  for (int other = 1; other < rank.world_size(); ++other) {
    rank.send(other, "memory", memory);
    rank.send(other, "offset", std::to_string(offset));
    rank.send(other, "event", event);
  }
  rank.barrier("written");
  const std::vector<int> values = all.read(stream);
  for (int other = 1; other < rank.world_size(); ++other) {
    DISTRUN_EXPECT(values[static_cast<std::size_t>(other) * kPart] == other);
    DISTRUN_EXPECT(values[static_cast<std::size_t>(other + 1) * kPart - 1] == other);
  }
}
