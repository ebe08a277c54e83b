// Kernels that the CUDA driver stages through the host: ordered by streams only, and the behaviour when the host has no
// memory.
#include <catch2/catch.hpp>

#include <cstdint>
#include <future>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/order_report.hpp>

#include "support/emulated_cuda.hpp"

namespace distrun::device {
namespace {

using testing::limit_pinned_memory;
using testing::make_emulated_cuda;

constexpr std::uint64_t kSeeds = 200;
constexpr std::int64_t kRows = 64, kColumns = 4;
constexpr auto kCount = static_cast<std::size_t>(kRows * kColumns);

// A matrix of ints on an emulated CUDA with checked order, and the findings.
class Checked {
 public:
  explicit Checked(std::uint64_t seed) {
    VirtualSettings settings;
    settings.seed = seed;
    settings.check_order = true;
    settings.memory_bytes = std::size_t{8} << 20;
    driver_ = make_emulated_cuda(settings);
    tell_order_reports_to([this](const OrderReport& report) { found.push_back(report.text); });
    other = {0, driver_->make_stream(0, Priority::Normal)};
    matrix_ = static_cast<int*>(driver_->allocate(0, kCount * sizeof(int)));
    driver_->fill({}, matrix_, 0, kCount * sizeof(int));
    order({}, other);
  }
  ~Checked() { tell_order_reports_to({}); }

  Driver& operator*() const { return *driver_; }
  Driver* operator->() const { return driver_.get(); }

  void order(StreamRef before, StreamRef after) {
    const EventId event = driver_->make_event(0, {});
    driver_->record(before, event);
    driver_->wait(after, event);
    driver_->destroy_event(0, event);
  }
  void increment(StreamRef stream, std::int64_t first_column, std::int64_t columns) {
    increment_block(stream, matrix_ + first_column, kRows, columns);
  }
  void increment_rows(StreamRef stream, std::int64_t first_row, std::int64_t rows) {
    increment_block(stream, matrix_ + first_row * kColumns, rows, kColumns);
  }
  std::vector<int> numbers() {
    std::vector<int> numbers(kCount);
    order(other, {});
    driver_->copy({}, numbers.data(), matrix_, kCount * sizeof(int));
    driver_->synchronize(StreamRef{});
    return numbers;
  }

  StreamRef other;
  std::vector<std::string> found;

 private:
  void increment_block(StreamRef stream, int* begin, std::int64_t rows, std::int64_t columns) {
    Region region;
    region.begin = begin;
    region.element_bytes = sizeof(int);
    region.sizes = {rows, columns};
    region.strides = {kColumns, 1};
    region.access = Access::ReadWrite;
    const auto body = [rows, columns](const std::vector<Region>& there) {
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        ++static_cast<int*>(there[0].begin)[i / columns * kColumns + i % columns];
      }
    };
    driver_->launch(stream, {"increment", {region}, body, {}});
  }

  std::unique_ptr<Driver> driver_;
  int* matrix_ = nullptr;
};

// The driver's copies and kernels must be ordered exactly as the user has ordered them.
TEST_CASE("accesses ordered by events are never reported of staged kernels, and the results are right") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    INFO("seed " << seed);
    Checked checked(seed);
    checked.increment({}, 0, kColumns);
    checked.order({}, checked.other);
    checked.increment(checked.other, 1, 2);
    checked.order(checked.other, {});
    checked.increment({}, 0, kColumns);
    std::vector<int> expected;
    for (std::size_t i = 0; i < kCount; ++i) expected.push_back(i % kColumns == 1 || i % kColumns == 2 ? 3 : 2);
    REQUIRE(checked.numbers() == expected);
    REQUIRE(checked.found.empty());
  }
}

TEST_CASE("accesses without an order are reported of staged kernels, whether with holes or without") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    INFO("seed " << seed);
    for (const std::int64_t columns : {kColumns, std::int64_t{1}}) {
      Checked checked(seed);
      // No work runs until everything is queued: work that the driver sees finished counts as ordered. The two run in
      // sequence by means invisible to the driver, so that no real race occurs.
      std::promise<void> all_asked, first_done;
      checked->call_host({}, [asked = all_asked.get_future().share()] { asked.wait(); });
      checked->call_host(checked.other, [done = first_done.get_future().share()] { done.wait(); });
      checked.increment({}, 0, columns);
      checked->call_host({}, [&first_done] { first_done.set_value(); });
      checked.increment(checked.other, 0, columns);
      all_asked.set_value();
      checked->synchronize(StreamRef{});
      checked->synchronize(checked.other);
      REQUIRE_FALSE(checked.found.empty());
    }
  }
}

TEST_CASE("staged kernels leave the bytes between their elements to other streams") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    INFO("seed " << seed);
    Checked checked(seed);
    for (int i = 0; i < 3; ++i) {
      checked.increment({}, 0, 2);
      checked.increment(checked.other, 2, 2);
    }
    REQUIRE(checked.numbers() == std::vector<int>(kCount, 3));
    REQUIRE(checked.found.empty());
  }
}

TEST_CASE("memory staged for one stream is not used for another before it is done") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    INFO("seed " << seed);
    Checked checked(seed);
    for (int i = 0; i < 3; ++i) {
      checked.increment_rows({}, 0, kRows / 2);
      checked.increment_rows(checked.other, kRows / 2, kRows / 2);
    }
    REQUIRE(checked.numbers() == std::vector<int>(kCount, 3));
    REQUIRE(checked.found.empty());
  }
}

TEST_CASE("a kernel for which the host has no memory is refused, and nothing else is lost") {
  Checked checked(1);
  limit_pinned_memory(16);
  try {
    checked.increment({}, 0, kColumns);
    FAIL("it was launched");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Overloaded);
    CHECK(error.type() == "OutOfMemoryError");
    CHECK_THAT(error.what(), Catch::Contains("run increment on the host") && Catch::Contains("CUDA cannot pin"));
  }
  limit_pinned_memory(SIZE_MAX);
  checked.increment({}, 0, kColumns);
  CHECK(checked.numbers() == std::vector<int>(kCount, 1));
  CHECK(checked->launch_statistics().staged.at("increment") == 1);
}

TEST_CASE("memory of the host that streams still use is waited for before a kernel is refused") {
  Checked checked(1);
  limit_pinned_memory(4096);
  for (int i = 0; i < 20; ++i) {
    checked->busy({}, 100'000);
    checked.increment({}, 0, kColumns);
  }
  CHECK(checked.numbers() == std::vector<int>(kCount, 20));
  CHECK(checked->launch_statistics().staged.at("increment") == 20);
}

TEST_CASE("code that throws is an error of its stream, and the kernels after it do not run") {
  Checked checked(1);
  int calls = 0;
  const auto launch = [&](StreamRef stream, bool is_broken) {
    const auto body = [&calls, is_broken](const std::vector<Region>&) {
      ++calls;
      if (is_broken) throw Error(ErrorKind::Failed, "a broken kernel");
    };
    checked->launch(stream, {"broken", {}, body, {}});
  };
  launch(checked.other, true);
  launch(checked.other, false);
  CHECK_THROWS_WITH(checked->synchronize(checked.other), Catch::Contains("a broken kernel"));
  CHECK(calls == 1);
  checked.increment({}, 0, kColumns);
  checked->synchronize(StreamRef{});
}

}  // namespace
}  // namespace distrun::device
