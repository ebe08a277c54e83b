#pragma once
// Uses of gradients on random streams: programs read them on their current streams and on others, copy them
// to the other device, release them before that is done, and write to memory as soon as it is free.
#include <deque>
#include <optional>

#include <distrun/runtime/autograd/grad_mode.hpp>

#include "stream_graph.hpp"

namespace distrun::testing {

// Makes a stream of each device current for a scope.
class StreamsOfCaller {
 public:
  explicit StreamsOfCaller(StreamDraw& draw)
      : first_(draw.stream(device::cuda(0))), second_(draw.stream(device::cuda(1))) {}

  // Replaces the streams in `caller`. The new ones wait for the former ones.
  static void change(std::optional<StreamsOfCaller>& caller, StreamDraw& draw) {
    device::Event done[2];
    if (caller) {
      for (int i = 0; i < 2; ++i) done[i].record(device::current_stream(device::cuda(i)));
    }
    caller.reset();
    caller.emplace(draw);
    for (int i = 0; i < 2; ++i) done[i].block(device::current_stream(device::cuda(i)));
  }

 private:
  StreamGuard first_, second_;
};

// Copies of tensors, each made on a random stream. One thread at a time.
class Readings {
 public:
  Readings(std::uint32_t seed, Streams streams) : draw_(seed, streams) {}

  // Puts a copy on a stream, and does not wait for it. The tensor is ready for the current stream of its device, on
  // which half of the copies are read: what the caller owes to that stream, it owes here.
  void read(const Tensor& tensor) {
    const device::Stream here = device::current_stream(tensor.device()), other = draw_.stream(draw_.device());
    read_on(draw_.below(2) == 0 ? here : other, tensor);
  }
  void read_here(const Tensor& tensor) { read_on(device::current_stream(tensor.device()), tensor); }

  // Returns the copies, on the CPU.
  TensorList on_cpu() const {
    TensorList all;
    for (const MadeOn& each : copies_) all.push_back(on_stream(each.stream, [&] { return cpu(each.tensor); }));
    return all;
  }

 private:
  void read_on(device::Stream reader, const Tensor& tensor) {
    const autograd::NoGradGuard off;
    const Tensor there = brought_to(reader, {tensor, device::current_stream(tensor.device())});
    copies_.push_back({on_stream(reader, [&] { return there * 2; }), reader});
  }

  StreamDraw draw_;
  std::vector<MadeOn> copies_;
};

// Writes to memory that was freed for a stream.
inline void overwrite_freed(device::Stream stream) {
  constexpr int kBlocks = 8;
  const StreamGuard guard(stream);
  TensorList all;
  for (int i = 0; i < kBlocks; ++i) {
    all.push_back(full({kGraphElements}, -1, {tensor::DType::F64, stream.device()}));
  }
}

// Hooks of a graph's leaves and some other values that read each gradient and keep no handle. They must outlive its
// passes.
class ReadingHooks {
 public:
  ReadingHooks(const StreamGraph& graph, std::uint32_t seed, Streams streams) {
    StreamDraw draw(seed, streams);
    for (const MadeOn& each : graph.values()) {
      if (draw.below(3) != 0 && !autograd::is_leaf(each.tensor)) continue;
      Readings* const readings = &readings_.emplace_back(seed + static_cast<std::uint32_t>(readings_.size()), streams);
      autograd::register_hook(each.tensor, [readings](const Tensor& gradient) { readings->read(gradient); });
    }
  }

  void append_to(TensorList& all) const {
    for (const Readings& each : readings_) {
      for (const Tensor& copy : each.on_cpu()) all.push_back(copy);
    }
  }

 private:
  std::deque<Readings> readings_;  // a deque keeps addresses: nodes of two devices run on two threads
};

}  // namespace distrun::testing
