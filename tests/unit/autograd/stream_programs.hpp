#pragma once
// Random programs over streams of two devices: passes under random current streams, whose gradients are read there and
// on other streams, released early, and overwritten. Each returns what it read: the same on any streams.
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/graph_task.hpp>

#include "stream_readings.hpp"

namespace distrun::testing {

struct StreamProgram {
  const char* name;
  TensorList (*run)(std::uint32_t seed, Streams streams);
};

inline constexpr int kPassesOfProgram = 3;

// A graph with hooks, and roots for passes over it.
class ProgramGraph {
 public:
  ProgramGraph(std::uint32_t seed, Streams streams)
      : graph_(seed, streams), hooks_(graph_, seed, streams), loss_(graph_.loss()) {}

  const StreamGraph& graph() const { return graph_; }
  const TensorList& leaves() const { return graph_.leaves(); }
  // Returns the loss, or a value, so that a pass reaches some leaves only.
  Tensor root(StreamDraw& draw) const {
    const auto& values = graph_.values();
    const std::size_t which = leaves().size() + draw.below(values.size() - leaves().size());
    return draw.below(2) == 0 ? loss_ : values[which].tensor;
  }
  // Overwrites what any operator's stream has freed.
  void overwrite() const {
    for (const MadeOn& each : graph_.values()) overwrite_freed(each.stream);
  }
  // Returns the readings and those of the hooks.
  TensorList read(const Readings& readings) const {
    TensorList all = readings.on_cpu();
    hooks_.append_to(all);
    for (int device = 0; device < 2; ++device) device::synchronize(device::cuda(device));
    return all;
  }

 private:
  const StreamGraph graph_;
  const ReadingHooks hooks_;
  const Tensor loss_;
};

// Returns the gradient of a root, on the current stream of its device.
inline Tensor ones_of(const Tensor& root) { return full(root.sizes(), 1, root.options()); }

// grad() of the leaves, read after each pass. What was read is removed; or left there, where the next pass has the same
// current streams, so that it adds after the reading.
inline TensorList read_grads(std::uint32_t seed, Streams streams) {
  const ProgramGraph program(seed, streams);
  StreamDraw draw(seed, streams);
  Readings readings(seed, streams);
  std::optional<StreamsOfCaller> caller;
  bool keeps_streams = false;
  for (int pass = 0; pass < kPassesOfProgram; ++pass) {
    if (!keeps_streams) {
      StreamsOfCaller::change(caller, draw);
      // The pass may not reach these: then what it promises for its caller does not cover them.
      for (const Tensor& leaf : program.leaves()) {
        if (grad(leaf).defined()) grad(leaf).record_stream(device::current_stream(leaf.device()));
      }
    }
    keeps_streams = draw.below(2) == 0;
    const Tensor root = program.root(draw);
    backward(root, ones_of(root), {.retain_graph = true});
    for (const Tensor& leaf : program.leaves()) {
      if (!grad(leaf).defined() || draw.below(2) == 0) continue;
      if (keeps_streams) {
        readings.read_here(grad(leaf));
      } else {
        readings.read(grad(leaf));
        set_grad(leaf, {});
      }
    }
    program.overwrite();
  }
  return program.read(readings);
}

// gradients() of leaves and of other values.
inline TensorList read_captures(std::uint32_t seed, Streams streams) {
  const ProgramGraph program(seed, streams);
  StreamDraw draw(seed, streams);
  Readings readings(seed, streams);
  for (int pass = 0; pass < kPassesOfProgram; ++pass) {
    const StreamsOfCaller caller(draw);
    TensorList inputs = program.leaves();
    for (int i = 0; i < 2; ++i) inputs.push_back(program.root(draw));
    const Tensor root = program.root(draw);
    for (const Tensor& each : gradients({root}, inputs, {ones_of(root)}, {.retain_graph = true}, true)) {
      if (each.defined()) readings.read(each);
    }
    program.overwrite();
  }
  return program.read(readings);
}

inline void pass_into(autograd::GradientMap& map, const Tensor& root) {
  const Tensor ones = ones_of(root);
  const auto task = tensor::make_ref<autograd::GraphTask>(autograd::PassOptions{.retain_graph = true, .leaves = &map});
  task->add_root(autograd::gradient_edge(root), ones);
  task->run();
  map.end_pass();
}

// A map of gradients, read after each pass on streams other than the pass's, and destroyed.
inline TensorList read_maps(std::uint32_t seed, Streams streams) {
  const ProgramGraph program(seed, streams);
  StreamDraw draw(seed, streams);
  Readings readings(seed, streams);
  for (int i = 0; i < 2; ++i) {
    autograd::GradientMap map;
    for (int pass = 0; pass < kPassesOfProgram; ++pass) {
      {
        const StreamsOfCaller caller(draw);
        pass_into(map, program.root(draw));
      }
      const StreamsOfCaller reader(draw);
      for (const Tensor& leaf : program.leaves()) {
        if (draw.below(2) == 0) continue;
        if (const Tensor gradient = map.find(leaf); gradient.defined()) readings.read(gradient);
      }
      program.overwrite();
    }
  }
  program.overwrite();
  return program.read(readings);
}

// Threads, each with current streams of its own, that run passes into the same leaves, of the map and of grad().
inline TensorList read_after_threads(std::uint32_t seed, Streams streams) {
  constexpr std::uint32_t kThreads = 3;
  const StreamGraph graph(seed, streams);
  const Tensor loss = graph.loss();
  autograd::GradientMap map;
  {
    std::vector<base::Thread> threads;
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      threads.emplace_back("pass", [&, draw = StreamDraw(seed + i, streams)]() mutable {
        for (int pass = 0; pass < kPassesOfProgram; ++pass) {
          const StreamsOfCaller caller(draw);
          pass_into(map, loss);
          backward(loss, {}, {.retain_graph = true});
        }
      });
    }
  }
  StreamDraw draw(seed, streams);
  const StreamsOfCaller reader(draw);
  Readings readings(seed, streams);
  for (const Tensor& leaf : graph.leaves()) {
    if (const Tensor gradient = map.find(leaf); gradient.defined()) readings.read(gradient);
  }
  for (int device = 0; device < 2; ++device) device::synchronize(device::cuda(device));  // for grad(), after threads
  for (const Tensor& leaf : graph.leaves()) {
    if (grad(leaf).defined()) readings.read(grad(leaf));
  }
  return readings.on_cpu();
}

inline constexpr StreamProgram kStreamPrograms[] = {
    {"grads", read_grads}, {"captures", read_captures}, {"maps", read_maps}, {"threads", read_after_threads}};

}  // namespace distrun::testing
