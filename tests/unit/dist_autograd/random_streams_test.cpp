// Random graphs over streams and devices with operators on other workers, too: gradients that are read on any streams
// during and after passes equal those of the same graph on one rank and the default streams, and no access is out of
// order. Of ../autograd/streams.mutations they detect those of maps, sums and nodes, and a feed() without
// order_streams(); not those of grad() and of captures, which passes over several workers do not use.
#include <catch2/catch.hpp>

#include <optional>
#include <random>

#include <distrun/dist_autograd.hpp>

#include "../autograd/stream_programs.hpp"
#include "../rpc/session_ranks.hpp"
#include "autograd_ranks.hpp"
#include "support/order_reports.hpp"

namespace distrun::dist_autograd {

using distrun::testing::on_stream;
using distrun::testing::ReadingHooks;
using distrun::testing::Readings;
using distrun::testing::stream_graph_operator;
using distrun::testing::StreamDraw;
using distrun::testing::StreamGraph;
using distrun::testing::Streams;
using distrun::testing::StreamsOfCaller;
using distrun::testing::used_on;

// Runs on a stream chosen by the callee if `takes_stream`; else on the current one.
Tensor step_on_stream(std::int64_t kind, bool takes_stream, const Tensor& a, const Tensor& b) {
  const device::Stream home = device::current_stream(a.device());
  const device::Stream stream = takes_stream ? device::stream_from_pool(a.device()) : home;
  const Tensor first = used_on(stream, {a, home}), second = used_on(stream, {b, home});
  const Tensor made =
      on_stream(stream, [&] { return stream_graph_operator(static_cast<std::size_t>(kind), first, second); });
  return used_on(home, {made, stream});
}
DISTRUN_RPC(step_on_stream)

// Makes the worker `to` run it.
Tensor step_beyond(const std::string& to, std::int64_t kind, bool takes_stream, const Tensor& a, const Tensor& b) {
  return rpc::rpc_sync(to, step_on_stream, kind, takes_stream, a, b);
}
DISTRUN_RPC(step_beyond)

namespace {

constexpr int kWorkers = 3, kPassesOfEach = 2;

void begin_with_maps(const rpc::Ranks& ranks) {
  REQUIRE(ranks.run([&](int rank) {
    const auto options = std::make_shared<rpc::PipeOptions>();
    for (int other = 0; other < kWorkers; ++other) options->set_device_map(rpc::name_of(other), {{0, 0}, {1, 1}});
    rpc::init_rpc(ranks.options(rank, options));
  }) == rpc::no_errors(kWorkers));
}

// Runs each operator here, on a worker, or on one that a worker calls.
StreamGraph::Run run_by_chance(std::uint32_t seed) {
  return [draw = std::mt19937(seed)](std::size_t kind, const Tensor& a, const Tensor& b) mutable {
    const auto which = static_cast<std::int64_t>(kind);
    const bool takes_stream = draw() % 2 == 0;
    const std::string first = rpc::name_of(static_cast<int>(draw() % kWorkers)),
                      second = rpc::name_of(static_cast<int>(draw() % kWorkers));
    switch (draw() % 3) {
      case 0: return stream_graph_operator(kind, a, b);
      case 1: return rpc::rpc_sync(first, step_on_stream, which, takes_stream, a, b);
      default: return rpc::rpc_sync(first, step_beyond, second, which, takes_stream, a, b);
    }
  };
}

// FAST waits for all messages: each must lead to the loss.
Tensor loss_of(const StreamGraph& graph, Mode mode) { return mode == Mode::Fast ? graph.loss_of_all() : graph.loss(); }

// Runs passes, and reads all gradients so far after each, on streams other than the pass's.
template <class Pass, class Gradients>
void read_passes(StreamDraw& draw, Readings& readings, const Pass& pass, const Gradients& gradients) {
  for (int i = 0; i < kPassesOfEach; ++i) {
    {
      const StreamsOfCaller caller(draw);
      pass();
    }
    const StreamsOfCaller reader(draw);
    for (const Tensor& gradient : gradients()) {
      if (gradient.defined()) readings.read(gradient);
    }
  }
}

TensorList on_one_rank(std::uint32_t seed, Mode mode) {
  const StreamGraph graph(seed, Streams::Default);
  const ReadingHooks hooks(graph, seed, Streams::Default);
  StreamDraw draw(seed, Streams::Default);
  Readings readings(seed, Streams::Default);
  const Tensor loss = loss_of(graph, mode);
  autograd::GradientMap map;
  read_passes(
      draw, readings, [&] { distrun::testing::pass_into(map, loss); },
      [&] {
        TensorList all;
        for (const Tensor& leaf : graph.leaves()) all.push_back(map.find(leaf));
        return all;
      });
  TensorList all = readings.on_cpu();
  hooks.append_to(all);
  return all;
}

TensorList on_workers(std::uint32_t seed, Mode mode) {
  std::optional<ContextScope> scope;
  scope.emplace();
  const StreamGraph graph(seed, Streams::Random, run_by_chance(seed));
  const ReadingHooks hooks(graph, seed, Streams::Random);
  StreamDraw draw(seed, Streams::Random);
  Readings readings(seed, Streams::Random);
  const Tensor loss = loss_of(graph, mode);
  read_passes(
      draw, readings, [&] { backward(scope->id(), {loss}, {.retain_graph = true, .mode = mode, .timeout = 30}); },
      [&] {
        TensorList all;
        const GradientsOfLeaves found = get_gradients(scope->id());
        for (const Tensor& leaf : graph.leaves()) all.push_back(found.find(leaf));
        return all;
      });
  scope.reset();  // releases gradients that streams may still read
  for (const auto& each : graph.values()) distrun::testing::overwrite_freed(each.stream);
  TensorList all = readings.on_cpu();
  hooks.append_to(all);
  return all;
}

TEST_CASE("random graphs over streams, devices and workers have the same gradients as on one rank") {
  const rpc::Ranks ranks(kWorkers);
  begin_with_maps(ranks);
  const Mode mode = GENERATE(Mode::Smart, Mode::Fast);
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed << (mode == Mode::Fast ? ", FAST" : ", SMART"));
    const distrun::testing::OrderReports reports;
    const TensorList expected = on_one_rank(seed, mode);
    TensorList got;
    REQUIRE(ranks.error_as(0, [&] { got = on_workers(seed, mode); }) == "");
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(differs(got[i], expected[i]) == "");
    REQUIRE(reports.text() == "");
  }
}

TEST_CASE("the caller's streams wait for what the hook of a leaf computes in a pass") {
  const AutogradRanks ranks(1);
  const distrun::testing::OrderReports reports;
  ranks.as(0, [] {
    const ContextScope scope;
    const device::Device gpu = device::cuda(0);
    const device::Stream of_leaf = device::stream_from_pool(gpu), of_caller = device::stream_from_pool(gpu);
    Tensor seen;
    const Tensor loss = on_stream(of_leaf, [&] {
      const Tensor leaf = set_requires_grad(ones({distrun::testing::kGraphElements}, {F64, gpu}));
      register_hook(leaf, [&seen](const Tensor& gradient) { seen = gradient * 2; });
      return sum(leaf * 3);
    });
    const device::StreamGuard guard(of_caller);
    backward(scope.id(), {loss});
    seen.record_stream(of_caller);
    CHECK(differs(cpu(seen), full({distrun::testing::kGraphElements}, 6.0, {F64})) == "");
  });
  CHECK(reports.text() == "");
}

}  // namespace
}  // namespace distrun::dist_autograd
