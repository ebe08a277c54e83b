// Calls with tensors on GPUs, by channel, compared with the same tensors on the CPU. $DISTRUN_BENCH_GPU selects the
// driver: "cuda", otherwise "virtual" (two devices).
#include <benchmark/benchmark.h>

#include <cstdlib>

#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "rpc_report.hpp"

namespace device_bench {

using namespace distrun;
using bench::batch_of;
using bench::Figures;
using bench::report;
using bench::RpcRank;
using bench::time_calls;

// Returns once the tensor has arrived.
std::int64_t receive(const Tensor& tensor) {
  if (!tensor.device().is_cpu()) device::current_stream(tensor.device()).synchronize();
  return tensor.numel();
}
DISTRUN_RPC(receive)

const char* driver_name() {
  const char* const wanted = std::getenv("DISTRUN_BENCH_GPU");
  return wanted == nullptr ? "virtual" : wanted;
}

struct Way {
  const char* name;
  bool is_on_gpu;
  bool has_handles;
  const char* to;
};
constexpr Way kWays[] = {{"cpu", false, true, "worker1"},
                         {"ipc", true, true, "worker1"},
                         {"staged", true, false, "worker1"},
                         {"copy", true, true, "worker0"}};

int count_for(std::int64_t bytes) { return batch_of(bytes < (1 << 16) ? 2000 : (bytes < (1 << 23) ? 300 : 18)); }

void tensor_there(benchmark::State& state, const Way& way) {
  const std::int64_t bytes = state.range(0);
  for (auto _ : state) {
    const Figures figures = bench::run_ranks(2, "shm", [&](RpcRank& rank) {
      ::setenv("DISTRUN_RPC_DEVICE_HANDLES", way.has_handles ? "1" : "0", 1);
      device::choose_gpu_driver({.driver = driver_name(), .devices = 2});
      rank.init(1);
      if (rank.is_first()) {
        const device::Device device = way.is_on_gpu ? device::cuda(0) : device::kCpu;
        const Tensor tensor = tensor::ones({bytes / 4}, {tensor::DType::F32, device});
        time_calls(rank, 3, count_for(bytes),
                   [&] { benchmark::DoNotOptimize(rpc::rpc_sync(way.to, receive, tensor)); });
      }
      rank.shutdown();
    });
    if (!report(state, figures)) return;
    state.counters["GB_per_s"] = static_cast<double>(bytes) / bench::median_of(figures.samples) / 1e3;
  }
}

// The upper bound: a copy on the device itself.
void device_copy(benchmark::State& state) {
  const std::int64_t bytes = state.range(0);
  for (auto _ : state) {
    const Figures figures = bench::run_ranks(1, "shm", [&](RpcRank& rank) {
      device::choose_gpu_driver({.driver = driver_name(), .devices = 2});
      const device::Device device = device::cuda(0);
      const device::Stream stream = device::current_stream(device);
      const auto from = device::allocate(device, static_cast<std::size_t>(bytes));
      const auto to = device::allocate(device, static_cast<std::size_t>(bytes));
      time_calls(rank, 3, count_for(bytes), [&] {
        stream.driver().copy(stream.ref(), to->data(), from->data(), static_cast<std::size_t>(bytes));
        stream.synchronize();
      });
    });
    if (!report(state, figures)) return;
    state.counters["GB_per_s"] = static_cast<double>(bytes) / bench::median_of(figures.samples) / 1e3;
  }
}

const bool registered = [] {
  const auto sizes = [](benchmark::internal::Benchmark* bench) {
    bench::once(bench)->Arg(1 << 10)->Arg(1 << 20)->Arg(64 << 20);
  };
  sizes(benchmark::RegisterBenchmark("device_copy", device_copy));
  for (const Way& way : kWays) {
    sizes(benchmark::RegisterBenchmark((std::string("device_tensor_there/") + way.name).c_str(),
                                       [&way](benchmark::State& state) { tensor_there(state, way); }));
  }
  return true;
}();

}  // namespace device_bench
