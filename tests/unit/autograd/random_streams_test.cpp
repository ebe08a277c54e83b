// Random graphs whose operators run on random streams of two devices: their gradients are those of the same graph on
// the default streams, and no access is out of order.
#include <random>

#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

#include "central_differences.hpp"

namespace distrun {
namespace {

using device::StreamGuard;

constexpr std::int64_t kElements = 64;
constexpr int kLeaves = 3, kOperators = 24;

enum class Streams { Default, Random };

// A tensor and the stream on which it was made.
struct Made {
  Tensor tensor;
  Stream stream;
};

// The same seed makes the same operators, whatever the streams. Their constants keep all numbers exact.
class RandomGraph {
 public:
  RandomGraph(std::uint32_t seed, Streams streams) : draw_(seed), draw_stream_(seed), streams_(streams) {
    for (int i = 0; i < kLeaves; ++i) {
      const Device device = device::cuda(i % 2);
      leaves_.push_back(set_requires_grad(full({kElements}, i + 1, {DType::F64, device})));
      values_.push_back({leaves_.back(), device::current_stream(device)});
    }
    for (int i = 0; i < kOperators; ++i) add_operator();
  }

  // All leaves' gradients of the sum of all values, on the CPU.
  TensorList gradients(int passes) {
    Tensor loss = full({}, 0, {DType::F64, device::cuda(0)});
    const Stream home = device::current_stream(device::cuda(0));
    for (Made& each : values_) {
      const Tensor summed = on(each.stream, [&] { return sum(each.tensor); });
      const Tensor here = used_on(home, {to_device(summed, each.stream, home), home});
      loss = loss + here;
    }
    for (int pass = 0; pass < passes; ++pass) backward(loss, {}, {.retain_graph = true});
    TensorList gradients;
    for (const Tensor& leaf : leaves_) gradients.push_back(grad(leaf).defined() ? cpu(grad(leaf)) : Tensor());
    return gradients;
  }

 private:
  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(draw_); }

  Stream any_stream(Device device) {
    const bool is_default = streams_ == Streams::Default || draw_stream_() % 3 == 0;
    return is_default ? device::default_stream(device) : device::stream_from_pool(device);
  }

  template <class Make>
  static Tensor on(Stream stream, Make make) {
    const StreamGuard guard(stream);
    return make();
  }

  // What was made on one stream is read on another, as users must say it.
  static Tensor used_on(Stream reader, const Made& made) {
    if (made.stream == reader) return made.tensor;
    device::Event ready;
    ready.record(made.stream);
    ready.block(reader);
    made.tensor.record_stream(reader);
    return made.tensor;
  }

  // The copy is made on a stream of the tensor's device, and is there for the reader afterwards.
  static Tensor to_device(const Tensor& tensor, Stream stream, Stream reader) {
    if (stream.device() == reader.device()) return used_on(reader, {tensor, stream});
    const Tensor copied = on(stream, [&] { return on(reader, [&] { return to(tensor, reader.device()); }); });
    return copied;
  }

  void add_operator() {
    const std::size_t kind = below(5), first = below(values_.size()), second = below(values_.size());
    const Device device = device::cuda(static_cast<int>(below(2)));
    const Stream stream = any_stream(device);
    const Tensor a = to_device(values_[first].tensor, values_[first].stream, stream);
    const Tensor b = to_device(values_[second].tensor, values_[second].stream, stream);
    values_.push_back({on(stream, [&] { return result_of(kind, a, b); }), stream});
  }

  static Tensor result_of(std::size_t kind, const Tensor& a, const Tensor& b) {
    switch (kind) {
      case 0: return a + b;
      case 1: return a - b;
      case 2: return a * 0.5;
      case 3: return -a;
      default: return (a + b) * 0.25;
    }
  }

  std::mt19937 draw_, draw_stream_;
  const Streams streams_;
  TensorList leaves_;
  std::vector<Made> values_;
};

}  // namespace

TEST_CASE("random graphs over streams and devices have the gradients that they have on the default streams") {
  test::gpu();
  constexpr int kPasses = 2;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    const TensorList expected = RandomGraph(seed, Streams::Default).gradients(kPasses);
    const TensorList got = RandomGraph(seed, Streams::Random).gradients(kPasses);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      REQUIRE(expected[i].defined() == got[i].defined());
      if (expected[i].defined()) CHECK(equal(expected[i], got[i]));
    }
    REQUIRE(test::order_reports() == std::vector<std::string>{});
  }
}

TEST_CASE("a gradient that another stream still reads is not added to in place") {
  test::gpu();
  const Device device = device::cuda(0);
  const Stream home = device::current_stream(device), a = device::stream_from_pool(device),
               b = device::stream_from_pool(device);
  for (int round = 0; round < 20; ++round) {
    const Tensor w = set_requires_grad(ones({kElements}, {DType::F64, device}));
    device::Event ready;
    ready.record(home);
    Tensor u, x;
    const auto made_on = [&](Stream stream, double factor) {
      ready.block(stream);
      w.record_stream(stream);
      const StreamGuard guard(stream);
      const Tensor made = w * factor;
      device::Event done;
      done.record(stream);
      done.block(home);
      made.record_stream(home);
      return made;
    };
    u = made_on(a, 2);
    x = made_on(b, 3);
    const Tensor p = sum(u * 5), q = sum(x * 7), z = sum(-(u + x));
    backward(p + q + z);
    CHECK(equal(cpu(grad(w)), full({kElements}, 2.0 * (5 - 1) + 3.0 * (7 - 1), {DType::F64})));
  }
  CHECK(test::order_reports() == std::vector<std::string>{});
}

}  // namespace distrun
