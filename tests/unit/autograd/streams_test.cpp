// Passes over graphs on GPUs: the stream of each node, and the waits between streams. The virtual driver's check of
// stream order detects missing waits no matter how the streams happen to run.
#include <latch>
#include <mutex>

#include <catch2/catch.hpp>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/function.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/graph_task.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/thread_state.hpp>

#include "central_differences.hpp"
#include "support/no_threads.hpp"

namespace distrun {
namespace {

using device::StreamGuard;

const Device kFirst = device::cuda(0), kSecond = device::cuda(1);

std::mutex stream_mutex;
Stream stream_of_backward;

struct SeesStream {
  static Tensor forward(FunctionContext&, const Tensor& x) { return x * 2; }
  static TensorList backward(FunctionContext&, TensorList gradients) {
    const std::lock_guard lock(stream_mutex);
    stream_of_backward = device::current_stream(gradients[0].device());
    return {gradients[0] * 2};
  }
};

// Used by two ranks that are threads: each rank's node waits for the other's.
std::latch both{2};
struct MeetsOtherRank {
  static Tensor forward(FunctionContext&, const Tensor& x) { return x * 1; }
  static TensorList backward(FunctionContext&, TensorList gradients) {
    both.arrive_and_wait();
    return gradients;
  }
};

Tensor leaf_on(Device device, const Dims& sizes = {64}) { return set_requires_grad(ones(sizes, {DType::F32, device})); }

}  // namespace

TEST_CASE("a pass fails if its worker cannot be started, and the next pass runs") {
  test::gpu();
  auto& rank = *new core::RankState;  // without workers yet
  core::ThreadState state = core::thread_state();
  state.rank = &rank;
  const core::ThreadStateGuard as_rank(state);
  const Tensor a = leaf_on(kFirst);
  const Tensor y = sum(cpu(a * 2));  // its last node is on the CPU
  const Tensor on_gpu = sum(a);
  {
    const test::NoThreads none;
    CHECK_THROWS_WITH(backward(y, {}, {.retain_graph = true}), Catch::Contains("cannot start thread"));
    CHECK_THROWS_WITH(backward(on_gpu, {}, {.retain_graph = true}), Catch::Contains("cannot start thread"));
  }
  backward(y);
  CHECK(equal(cpu(grad(a)), full({64}, 2.0)));
}

TEST_CASE("a node runs on the stream of its forward call, and the caller's stream waits for the leaves") {
  test::gpu();
  const Stream side = device::stream_from_pool(kFirst);
  device::Event ready;
  const Tensor a = leaf_on(kFirst);
  ready.record(device::current_stream(kFirst));
  Tensor total;
  {
    const StreamGuard guard(side);
    ready.block(side);
    total = sum(apply<SeesStream>(a) * 3);
    ready.record(side);
  }
  ready.block(device::current_stream(kFirst));
  backward(total);
  CHECK(stream_of_backward == side);
  CHECK(equal(cpu(grad(a)), full({64}, 6.0)));
  CHECK(test::order_reports().empty());
}

TEST_CASE("gradients of several roots are added in one order, however fast the device's worker is") {
  test::gpu();
  const Tensor a = leaf_on(kFirst, {1});
  TensorList roots;  // so many that the worker begins long before it gets the last of them
  for (int i = 0; i < 1000; ++i) roots.push_back(a * (i % 2 == 0 ? 1.0 / (i + 1) : 1e7 / i));
  backward(roots, {}, {.retain_graph = true});
  const auto first = cpu(grad(a)).item_as<float>();
  for (int pass = 0; pass < 8; ++pass) {
    set_grad(a, {});
    backward(roots, {}, {.retain_graph = true});
    CHECK(cpu(grad(a)).item_as<float>() == first);
  }
}

TEST_CASE("gradients cross streams and devices in order") {
  test::gpu();
  const Tensor a = leaf_on(kFirst), host = set_requires_grad(ones({64}));
  for (int pass = 0; pass < 20; ++pass) {
    const Tensor there = to(a, kSecond) * to(host, kSecond);
    Tensor branch;
    device::Event made;
    made.record(device::current_stream(kSecond));
    {
      const StreamGuard guard(device::stream_from_pool(kSecond));
      made.block(device::current_stream(kSecond));
      there.record_stream(device::current_stream(kSecond));
      branch = sin(there) * 0.5;
      made.record(device::current_stream(kSecond));
    }
    made.block(device::current_stream(kSecond));
    branch.record_stream(device::current_stream(kSecond));
    backward(cpu(sum(there + branch)));
  }
  const double expected = 20 * (1 + 0.5 * std::cos(1.0));
  CHECK(std::abs(select(cpu(grad(a)), 0, 5).item_as<double>() - expected) < 1e-4);
  CHECK(std::abs(select(grad(host), 0, 5).item_as<double>() - expected) < 1e-4);
  CHECK(grad(a).device() == kFirst);
  CHECK(test::order_reports().empty());
}

TEST_CASE("threads run passes over two devices at once, also within nodes") {
  test::gpu();
  const Tensor shared = leaf_on(kFirst);
  cpu(shared);  // completes its creation, for all threads
  constexpr int kThreads = 4, kPasses = 20;
  {
    std::vector<base::Thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back("pass", [&shared, i] {
        for (int pass = 0; pass < kPasses; ++pass) {
          const Tensor own = leaf_on(i % 2 == 0 ? kFirst : kSecond);
          backward(sum(to(shared, own.device()) * own));
        }
      });
    }
  }
  CHECK(equal(cpu(grad(shared)), full({64}, 1.0 * kThreads * kPasses)));
  CHECK(test::order_reports().empty());
}

TEST_CASE("a pass within a node of a GPU is run by that GPU's worker") {
  struct Inner {
    static Tensor forward(FunctionContext&, const Tensor& x) { return x * 1; }
    static TensorList backward(FunctionContext&, TensorList gradients) {
      const EnableGradGuard recorded;
      const Tensor own = leaf_on(kFirst), host = set_requires_grad(ones({64}));
      distrun::backward(sum(own * to(host, kFirst) * to(to(own, kSecond), kFirst)));
      return {gradients[0] * grad(own) * to(grad(host), kFirst)};
    }
  };
  test::gpu();
  const Tensor a = leaf_on(kFirst);
  backward(sum(apply<Inner>(a)));
  CHECK(equal(cpu(grad(a)), full({64}, 2.0)));
  CHECK(test::order_reports().empty());
}

TEST_CASE("reading a map of gradients makes the reader's stream wait") {
  test::gpu();
  const Tensor a = leaf_on(kFirst);
  autograd::GradientMap map;
  const Tensor loss = sum(a * 5);
  const auto task = tensor::make_ref<autograd::GraphTask>(autograd::PassOptions{.leaves = &map});
  task->add_root(autograd::gradient_edge(loss), ones_like(loss));
  task->run();
  const StreamGuard guard(device::stream_from_pool(kFirst));
  CHECK(equal(cpu(map.find(a)), full({64}, 5.0)));
  CHECK(test::order_reports().empty());
}

TEST_CASE("nodes of ranks that are threads may wait for each other on one GPU") {
  test::gpu();
  static auto* const ranks = new core::RankState[2];  // the workers refer to them until the process ends
  const auto pass = [](core::RankState& rank) {
    core::thread_state().rank = &rank;
    const Tensor a = leaf_on(kFirst);
    backward(sum(apply<MeetsOtherRank>(a)));
    return to_vector<float>(cpu(grad(a))).front();
  };
  float other = 0;
  float own = 0;
  {
    base::Thread first("first rank", [&] { other = pass(ranks[0]); }),
        second("second rank", [&] { own = pass(ranks[1]); });
    first.join();
    second.join();
  }
  CHECK(other == 1.0F);
  CHECK(own == 1.0F);
}

}  // namespace distrun
