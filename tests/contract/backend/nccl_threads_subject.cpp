// The backend nccl with ranks that are threads, on virtual GPUs of one process with checks of stream order.
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/order_report.hpp>
#include <distrun/runtime/store/hash_store.hpp>

#include <mutex>

#include "backend_contract.hpp"
#include "group_of.hpp"
#include "unit/core/fake_rank_line.hpp"

namespace distrun::collectives {
namespace {

void use_gpus() {
  static std::once_flag done;
  std::call_once(done, [] {
    device::GpuSettings settings;
    settings.driver = "virtual";
    settings.devices = 5;
    settings.seed = 11;
    settings.check_order = true;
    device::choose_gpu_driver(settings);
  });
}

}  // namespace

bool letters_have_tags() { return false; }

std::vector<std::string> run_ranks(int ranks, const Body& body) {
  use_gpus();
  std::mutex telling;
  std::string unordered;
  device::tell_order_reports_to([&](const device::OrderReport& report) {
    const std::lock_guard lock(telling);
    unordered += report.text;
  });
  HashStore store;
  std::vector<std::string> thrown(static_cast<std::size_t>(ranks));
  {
    std::vector<base::Thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back("rank", [&, rank] {
        const testing::FakeRank fake;
        thrown[static_cast<std::size_t>(rank)] = what_it_throws("nccl", group_of(rank, ranks), store, body);
      });
    }
  }
  device::tell_order_reports_to({});
  thrown.front() += unordered;
  return thrown;
}

}  // namespace distrun::collectives
