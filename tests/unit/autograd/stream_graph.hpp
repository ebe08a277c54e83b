#pragma once
// Random graphs with operators on random streams of two devices, for tests that compare their gradients with those of
// the same graph on the default streams.
#include <cstdint>
#include <functional>
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

// The same seed gives the same operators on any streams.
class StreamGraph {
 public:
  // Computes an operator on tensors of one device, on its current stream.
  using Run = std::function<Tensor(std::size_t kind, const Tensor& a, const Tensor& b)>;

  StreamGraph(std::uint32_t seed, Streams streams, Run run = stream_graph_operator)
      : draw_(seed), draw_stream_(seed), streams_(streams), run_(std::move(run)) {
    for (int i = 0; i < kLeaves; ++i) {
      const device::Device device = device::cuda(i % 2);
      leaves_.push_back(set_requires_grad(full({kGraphElements}, i + 1, {tensor::DType::F64, device})));
      values_.push_back({leaves_.back(), device::current_stream(device)});
    }
    for (int i = 0; i < kOperators; ++i) add_operator();
  }

  const TensorList& leaves() const { return leaves_; }
  // Returns the sum of all values, on the current stream of the first device.
  Tensor loss() const {
    Tensor loss = full({}, 0, {tensor::DType::F64, device::cuda(0)});
    const device::Stream home = device::current_stream(device::cuda(0));
    for (const MadeOn& each : values_) {
      const Tensor summed = on_stream(each.stream, [&] { return sum(each.tensor); });
      const Tensor here = used_on(home, {to_device(summed, each.stream, home), home});
      loss = loss + here;
    }
    return loss;
  }

 private:
  static constexpr int kLeaves = 3, kOperators = 24;

  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(draw_); }

  device::Stream any_stream(device::Device device) {
    const bool is_default = streams_ == Streams::Default || draw_stream_() % 3 == 0;
    return is_default ? device::default_stream(device) : device::stream_from_pool(device);
  }

  // The copy runs on a stream of the tensor's device, and is then ready for the reader.
  static Tensor to_device(const Tensor& tensor, device::Stream stream, device::Stream reader) {
    if (stream.device() == reader.device()) return used_on(reader, {tensor, stream});
    return on_stream(stream, [&] { return on_stream(reader, [&] { return to(tensor, reader.device()); }); });
  }

  void add_operator() {
    const std::size_t kind = below(kStreamGraphOperators), first = below(values_.size()),
                      second = below(values_.size());
    const device::Device device = device::cuda(static_cast<int>(below(2)));
    const device::Stream stream = any_stream(device);
    const Tensor a = to_device(values_[first].tensor, values_[first].stream, stream);
    const Tensor b = to_device(values_[second].tensor, values_[second].stream, stream);
    values_.push_back({on_stream(stream, [&] { return run_(kind, a, b); }), stream});
  }

  std::mt19937 draw_, draw_stream_;
  const Streams streams_;
  const Run run_;
  TensorList leaves_;
  std::vector<MadeOn> values_;
};

}  // namespace distrun::testing
