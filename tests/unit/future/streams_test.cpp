// Values on GPUs: streams wait for them instead of the host. The check of stream order detects missing waits no matter
// how the streams happen to run.
#include <catch2/catch.hpp>

#include <mutex>
#include <thread>

#include <distrun/runtime/device/order_report.hpp>
#include <distrun/runtime/future/collect.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "support/gpus.hpp"
#include "unit/core/fake_rank_line.hpp"

namespace distrun {
namespace {

namespace t = tensor;
using device::StreamGuard;
using testing::FakeRank;

const Device kFirst = device::cuda(0), kSecond = device::cuda(1);

// Collects the findings of the check of stream order.
class OrderWatch {
 public:
  OrderWatch() {
    testing::use_gpus();
    device::tell_order_reports_to([this](const device::OrderReport& report) {
      const std::lock_guard lock(mutex_);
      texts_.push_back(report.text);
    });
  }
  ~OrderWatch() { device::tell_order_reports_to({}); }
  OrderWatch(const OrderWatch&) = delete;
  OrderWatch& operator=(const OrderWatch&) = delete;

  std::vector<std::string> texts() const {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

Tensor zeros(Device device) { return t::zeros({100}, {DType::F32, device}); }
bool is_all(const Tensor& tensor, double value) { return t::equal(t::to(tensor, device::kCpu), t::full({100}, value)); }
void keep_busy(Stream stream) { stream.driver().busy(stream.ref(), 1'000'000); }

// Runs on a separate stream that is still busy when the future is completed.
void complete_late(const Future<Tensor>& future, const Tensor& tensor, double value) {
  device::synchronize(tensor.device());
  const StreamGuard guard(device::stream_from_pool(tensor.device()));
  keep_busy(device::current_stream(tensor.device()));
  t::fill_(tensor, value);
  future.set_result(tensor);
}

struct Batch {
  std::shared_ptr<std::vector<Tensor>> tensors = std::make_shared<std::vector<Tensor>>();
  std::shared_ptr<std::mutex> mutex = std::make_shared<std::mutex>();

  void visit_tensors(const future::TensorVisitor& visit) const { future::visit_tensors(tensors, visit); }
};

TEST_CASE("devices of a future are named by number, name or value") {
  CHECK(Device(future::FutureDevice(0)) == kFirst);
  CHECK(Device(future::FutureDevice("cuda:1")) == kSecond);
  CHECK(Device(future::FutureDevice(kSecond)) == kSecond);
  CHECK_THROWS_WITH(Future<int>({"cpu"}), Catch::StartsWith("Expected devices to have indices, got cpu"));
  CHECK_THROWS_WITH(Future<int>({-1}), "Expected a device's index, got -1");
  CHECK_THROWS_AS(Future<int>({"tpu:0"}), Error);
}

TEST_CASE("a thread that waits for a value is ordered after the streams that compute it") {
  const FakeRank rank;
  const OrderWatch watch;
  const Future<Tensor> future({kFirst});
  const Tensor tensor = zeros(kFirst);
  complete_late(future, tensor, 1);
  const StreamGuard guard(device::stream_from_pool(kFirst));
  CHECK(is_all(future.wait(), 1));
  CHECK(watch.texts().empty());
}

TEST_CASE("value() is not ordered, and the check of stream order sees it") {
  const FakeRank rank;
  const OrderWatch watch;
  const Future<Tensor> future({kFirst});
  const Tensor tensor = zeros(kFirst);
  complete_late(future, tensor, 1);
  const StreamGuard guard(device::stream_from_pool(kFirst));
  (void)t::add(future.value(), 1);
  CHECK_FALSE(watch.texts().empty());
  device::synchronize(kFirst);
}

TEST_CASE("tensors are found in containers, pointers, variants and classes") {
  TensorList found;
  const auto visit = [&](const Tensor& tensor) { found.push_back(tensor); };
  const Tensor one = t::zeros({1});
  const Tensor two = t::zeros({2});
  Batch batch;
  *batch.tensors = {one, two, Tensor()};
  const std::tuple value(std::vector{one}, std::map<std::string, Tensor>{{"two", two}}, std::optional<Tensor>(one),
                         std::variant<int, Tensor>(two), batch, std::make_unique<Tensor>(one), 5, std::string("text"),
                         static_cast<const Tensor*>(nullptr));
  future::visit_tensors(value, visit);
  REQUIRE(found.size() == 7);
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i].is_same(i % 2 == 0 && i < 6 ? one : i == 6 ? one : two));
}

TEST_CASE("tensors within a value are waited for") {
  const FakeRank rank;
  const OrderWatch watch;
  const Future<Batch> future({kFirst});
  const Tensor tensor = zeros(kFirst);
  device::synchronize(kFirst);
  {
    const StreamGuard guard(device::stream_from_pool(kFirst));
    t::fill_(tensor, 2);
    Batch batch;
    batch.tensors->push_back(tensor);
    future.set_result(batch);
  }
  CHECK(is_all(future.wait().tensors->front(), 2));
  CHECK(watch.texts().empty());
}

TEST_CASE("indices and values of a sparse tensor are waited for") {
  const FakeRank rank;
  const OrderWatch watch;
  const Future<Tensor> future({kFirst});
  const Tensor host = t::sparse_coo(t::from_values<std::int64_t>({0, 1, 1, 2, 0, 2}, {2, 3}),
                                    t::from_values<std::int64_t>({3, 4, 5}), {2, 3});
  {
    const StreamGuard guard(device::stream_from_pool(kFirst));
    keep_busy(device::current_stream(kFirst));
    future.set_result(t::to(host, kFirst));
  }
  const StreamGuard guard(device::stream_from_pool(kFirst));
  CHECK(t::equal(t::to_dense(t::to(future.wait(), device::kCpu)), t::to_dense(host)));
  CHECK(watch.texts().empty());
}

TEST_CASE("a callback runs on new streams of all devices, after the value") {
  const FakeRank rank;
  const OrderWatch watch;
  const Future<Tensor> future({kFirst, kSecond});
  const Tensor first = zeros(kFirst);
  const Tensor second = zeros(kSecond);
  device::synchronize(kSecond);
  const Future<Tensor> child = future.then([&](const Future<Tensor>& done) {
    CHECK(device::current_stream(kFirst) != device::default_stream(kFirst));
    CHECK(device::current_stream(kSecond) != device::default_stream(kSecond));
    t::copy_(second, done.value());
    return second;
  });
  complete_late(future, first, 1);
  const StreamGuard guard(device::stream_from_pool(kSecond));
  CHECK(is_all(child.wait(), 1));
  CHECK(watch.texts().empty());
}

TEST_CASE("a value on a device outside the future's fails it, and callbacks still run") {
  const FakeRank rank;
  const OrderWatch watch;
  const Future<Tensor> future({kSecond});
  const Tensor second = zeros(kSecond);
  device::synchronize(kSecond);
  const Future<Tensor> child = future.then([&](const Future<Tensor>&) {
    t::fill_(second, 1);
    return second;
  });
  complete_late(future, zeros(kFirst), 1);
  CHECK_THROWS_WITH(future.wait(),
                    "The result contained tensors residing on device(s) cuda:0 which are not among the "
                    "expected device(s) cuda:1");
  CHECK(is_all(child.wait(), 1));
  CHECK(watch.texts().empty());
  device::synchronize(kFirst);
}

TEST_CASE("a future without devices reports a value on a GPU") {
  const FakeRank rank;
  testing::use_gpus();
  const Future<Tensor> future;
  future.set_result(zeros(kFirst));
  CHECK_THROWS_WITH(future.wait(),
                    Catch::EndsWith("expected device(s) (none: the future was created without devices)"));
}

TEST_CASE("a value may be changed after it was given") {
  const FakeRank rank;
  testing::use_gpus();
  const Future<Batch> future({kFirst});
  const Batch batch;
  batch.tensors->push_back(zeros(kFirst));
  future.set_result(batch);
  SECTION("in place") { t::fill_(batch.tensors->front(), 1); }
  SECTION("by another tensor") { batch.tensors->front() = t::ones({100}, {DType::F32, kFirst}); }
  SECTION("by removing it") { batch.tensors->clear(); }
  CHECK_NOTHROW(future.wait());
  device::synchronize(kFirst);
}

TEST_CASE("the memory of a value is not reused while a waiter's stream uses it") {
  const FakeRank rank;
  const OrderWatch watch;
  const Stream waiter = device::stream_from_pool(kFirst);
  {
    const Future<Tensor> future({kFirst});
    complete_late(future, zeros(kFirst), 1);
    const StreamGuard guard(waiter);
    keep_busy(waiter);
    t::fill_(future.wait(), 2);
  }
  const Tensor next = zeros(kFirst);  // would reuse the value's memory if that were already free
  device::synchronize(kFirst);
  CHECK(watch.texts().empty());
}

}  // namespace
}  // namespace distrun
