#include <distrun/runtime/device/memory/pinned_cache.hpp>
#include <distrun/runtime/device/stream.hpp>

#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/drivers/virtual/virtual_driver.hpp>

namespace distrun::device {
namespace {

TEST_CASE("pinned memory serves again once the streams that use it are done") {
  const std::unique_ptr<Driver> driver = make_virtual_driver({});
  PinnedCache cache(*driver);
  void* const first = cache.allocate(1000)->data();
  auto memory = cache.allocate(600);  // the same power of two
  CHECK(memory->data() == first);
  CHECK(memory->bytes() == 600);
  CHECK(memory->device() == kCpu);
  driver->busy({}, 20'000'000);
  memory->record_stream(default_stream(cuda(0)));
  memory.reset();
  CHECK(cache.allocate(1000)->data() != first);
  driver->synchronize(StreamRef{});
  const auto again = cache.allocate(1000);
  const auto more = cache.allocate(1000);
  CHECK((again->data() == first || more->data() == first));
}

TEST_CASE("with much memory still in use by streams an allocation waits for them") {
  const std::unique_ptr<Driver> driver = make_virtual_driver({});
  PinnedCache cache(*driver, 1500);
  const auto use = [&] {
    const auto memory = cache.allocate(1000);
    driver->busy({}, 50'000'000);
    memory->record_stream(default_stream(cuda(0)));
  };
  use(), use();
  cache.allocate(1);
  CHECK(driver->is_idle({}));
}

TEST_CASE("a request for more pinned memory than exists is refused") {
  const std::unique_ptr<Driver> driver = make_virtual_driver({});
  PinnedCache cache(*driver);
  CHECK_THROWS_WITH(cache.allocate(~std::size_t{0}), Catch::Contains("in one piece"));
}

}  // namespace
}  // namespace distrun::device
