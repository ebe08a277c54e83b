// The cost of profiles: for threads without one, for threads with one, and for reading one.
#include <benchmark/benchmark.h>

#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/profiler/averages.hpp>
#include <distrun/runtime/profiler/chrome_trace.hpp>
#include <distrun/runtime/profiler/profile.hpp>
#include <distrun/runtime/profiler/recorder.hpp>
#include <distrun/runtime/profiler/remote_events.hpp>
#include <distrun/runtime/profiler/span.hpp>

namespace distrun::bench {
namespace {

using profiler::Profile;
using profiler::ProfileOptions;

void span_without_a_profile(benchmark::State& state) {
  for (auto _ : state) {
    const profiler::Span span("forward");
    benchmark::DoNotOptimize(span.is_recorded());
  }
}

void span_in_a_profile(benchmark::State& state) {
  const Profile profile;
  for (auto _ : state) const profiler::Span span("forward");
}

// An operator loads one pointer for profiles.
void operator_without_a_profile(benchmark::State& state) {
  const Tensor a = ones({4});
  for (auto _ : state) benchmark::DoNotOptimize(neg(a));
}

// The cost for a thread when only other threads have a profile.
void operator_beside_a_profile(benchmark::State& state) {
  const Profile profile;
  core::ThreadState none = core::thread_state();
  none.profiler = nullptr;
  const core::ThreadStateGuard guard(none);
  const Tensor a = ones({4});
  for (auto _ : state) benchmark::DoNotOptimize(neg(a));
}

void operator_in_a_profile(benchmark::State& state, const ProfileOptions& options) {
  const Tensor a = ones({4});
  const Profile profile(options);
  for (auto _ : state) benchmark::DoNotOptimize(neg(a));
}

profiler::Events some_events(std::int64_t count) {
  const Profile profile;
  const profiler::Span outer("outer");
  const Tensor a = ones({4});
  for (std::int64_t i = 0; i < count; ++i) relu(a);
  return profile.events();
}

void look_at_events(benchmark::State& state) {
  const Profile profile;
  const Tensor a = ones({4});
  for (std::int64_t i = 0; i < state.range(0); ++i) relu(a);
  for (auto _ : state) benchmark::DoNotOptimize(profile.events());
}

void average_and_print(benchmark::State& state) {
  const profiler::Events events = some_events(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(profiler::table(profiler::key_averages(events)));
}

void trace(benchmark::State& state) {
  const profiler::Events events = some_events(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(profiler::chrome_trace(events));
}

// A worker encodes the events, and its caller decodes them.
void send_events(benchmark::State& state) {
  const profiler::Events events = some_events(state.range(0));
  const profiler::CalledWorker worker{"rpc_sync#f(worker0 -> worker1)", 1, events.front().begin, events.back().end};
  for (auto _ : state) {
    const profiler::Recorder recorder(ProfileOptions{});
    profiler::add_remote_events(recorder, worker, wire::view_of(profiler::encode_events(events, 0)));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(events.size()));
}

BENCHMARK(span_without_a_profile);
BENCHMARK(span_in_a_profile);
BENCHMARK(operator_without_a_profile);
BENCHMARK(operator_beside_a_profile);
BENCHMARK_CAPTURE(operator_in_a_profile, plain, ProfileOptions{});
BENCHMARK_CAPTURE(operator_in_a_profile, shapes_and_memory,
                  ProfileOptions{.record_shapes = true, .profile_memory = true});
BENCHMARK(look_at_events)->Arg(1000);
BENCHMARK(average_and_print)->Arg(1000);
BENCHMARK(trace)->Arg(1000);
BENCHMARK(send_events)->Arg(6)->Arg(1000);

}  // namespace
}  // namespace distrun::bench
