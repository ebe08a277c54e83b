// The CUDA driver's own bookkeeping, over an emulated CUDA.
#include <catch2/catch.hpp>

#include <chrono>
#include <future>

#include "support/emulated_cuda.hpp"

namespace distrun::device {
namespace {

// CUDA holds a lock of its own while a copy of pageable memory waits for its stream, whose next work may be a callback.
TEST_CASE("a host callback runs while another thread is in a call of CUDA") {
  const auto driver = testing::make_emulated_cuda({});
  const StreamRef stream{0, driver->make_stream(0, Priority::Normal)};
  const EventId event = driver->make_event(0, {});
  std::promise<void> has_run;
  bool runs_meanwhile = false;
  testing::call_while_recording([&] {
    driver->call_host(stream, [&has_run] { has_run.set_value(); });
    runs_meanwhile = has_run.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  });
  driver->record({0, {}}, event);
  testing::call_while_recording({});
  CHECK(runs_meanwhile);
  driver->synchronize_device(0);
  driver->destroy_event(0, event);
  driver->destroy_stream(stream);
}

}  // namespace
}  // namespace distrun::device
