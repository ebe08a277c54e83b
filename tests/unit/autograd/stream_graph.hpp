#pragma once
// Random graphs with operators on random streams of two devices, for tests that compare their gradients with those of
// the same graph on the default streams.
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/device/stream.hpp>

namespace distrun::testing {

using device::StreamGuard;

inline constexpr std::int64_t kGraphElements = 64;

enum class Streams { Default, Random };

// Draws numbers, and streams if they are random: the same seed gives the same numbers with any streams.
class StreamDraw {
 public:
  StreamDraw(std::uint32_t seed, Streams streams) : numbers_(seed), streams_(seed), kind_(streams) {}

  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(numbers_); }
  device::Device device() { return device::cuda(static_cast<int>(below(2))); }
  // Returns the default stream or one of the pool.
  device::Stream stream(device::Device device) {
    const bool is_default = kind_ == Streams::Default || streams_() % 3 == 0;
    return is_default ? device::default_stream(device) : device::stream_from_pool(device);
  }

 private:
  std::mt19937 numbers_, streams_;
  Streams kind_;
};

template <class Make>
Tensor on_stream(device::Stream stream, Make make) {
  const StreamGuard guard(stream);
  return make();
}

// Runs on the current stream of the tensors' device. The constants keep all numbers exact.
inline Tensor stream_graph_operator(std::size_t kind, const Tensor& a, const Tensor& b) {
  switch (kind) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * 0.5;
    case 3: return -a;
    default: return (a + b) * 0.25;
  }
}
inline constexpr std::size_t kStreamGraphOperators = 5;

// A tensor and the stream that computed it.
struct MadeOn {
  Tensor tensor;
  device::Stream stream;
};

// Makes a tensor ready for another stream, as users have to do.
inline Tensor used_on(device::Stream reader, const MadeOn& made) {
  if (made.stream == reader) return made.tensor;
  device::Event ready;
  ready.record(made.stream);
  ready.block(reader);
  made.tensor.record_stream(reader);
  return made.tensor;
}

// Copies to the reader's device on the tensor's stream; the result is ready for the reader.
inline Tensor brought_to(device::Stream reader, const MadeOn& made) {
  if (made.stream.device() == reader.device()) return used_on(reader, made);
  return on_stream(made.stream, [&] { return on_stream(reader, [&] { return to(made.tensor, reader.device()); }); });
}

// The same seed gives the same operators on any streams.
class StreamGraph {
 public:
  // Computes an operator on tensors of one device, on its current stream.
  using Run = std::function<Tensor(std::size_t kind, const Tensor& a, const Tensor& b)>;

  StreamGraph(std::uint32_t seed, Streams streams, Run run = stream_graph_operator)
      : draw_(seed, streams), run_(std::move(run)) {
    for (int i = 0; i < kLeaves; ++i) add_leaf(i);
    for (int i = 0; i < kOperators; ++i) add_operator();
    for (int i = 0; i < kSummed; ++i) summed_.push_back(below_values());
  }

  const TensorList& leaves() const { return leaves_; }
  // The leaves and what the operators computed, in the order of their creation.
  const std::vector<MadeOn>& values() const { return values_; }
  // Returns the sum of some values, on the current stream of the first device. If it were that of all, the first
  // gradient of each value would come from here, and none would be the only one that a node passes on.
  Tensor loss() const { return sum_of(summed_); }
  // Used by passes that must reach all nodes.
  Tensor loss_of_all() const {
    std::vector<std::size_t> all(values_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return sum_of(all);
  }

 private:
  static constexpr int kLeaves = 3, kOperators = 24, kSummed = 6;

  Tensor sum_of(const std::vector<std::size_t>& which) const {
    Tensor total = full({}, 0, {tensor::DType::F64, device::cuda(0)});
    const device::Stream home = device::current_stream(device::cuda(0));
    for (const std::size_t i : which) {
      const MadeOn& each = values_[i];
      const Tensor summed = on_stream(each.stream, [&] { return sum(each.tensor); });
      total = total + brought_to(home, {summed, each.stream});
    }
    return total;
  }

  std::size_t below_values() { return draw_.below(values_.size()); }

  void add_leaf(int number) {
    const device::Device device = device::cuda(number % 2);
    const device::Stream stream = draw_.stream(device);
    values_.push_back({on_stream(stream,
                                 [&] {
                                   const tensor::TensorOptions options{tensor::DType::F64, device};
                                   return set_requires_grad(full({kGraphElements}, number + 1, options));
                                 }),
                       stream});
    leaves_.push_back(values_.back().tensor);
  }

  void add_operator() {
    const std::size_t kind = draw_.below(kStreamGraphOperators), first = below_values(), second = below_values();
    const device::Stream stream = draw_.stream(draw_.device());
    const Tensor a = brought_to(stream, values_[first]), b = brought_to(stream, values_[second]);
    values_.push_back({on_stream(stream, [&] { return run_(kind, a, b); }), stream});
  }

  StreamDraw draw_;
  const Run run_;
  TensorList leaves_;
  std::vector<MadeOn> values_;
  std::vector<std::size_t> summed_;
};

}  // namespace distrun::testing
