#include <distrun/runner/attempt/run_orders.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <distrun/common/base/free_port.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runner/attempt/attempt_trace.hpp>
#include <distrun/runner/attempt/cpu_share.hpp>

namespace distrun::runner {
namespace {

constexpr char kVisibleDevices[] = "CUDA_VISIBLE_DEVICES";

// Returns "2" for rank 1 and the list "0,2"; without a list, or if it is too short, the rank's number.
std::string device_of(int rank) {
  const char* list = std::getenv(kVisibleDevices);
  std::istringstream devices(list == nullptr ? "" : list);
  std::string device;
  for (int i = 0; i <= rank; ++i) {
    if (!std::getline(devices, device, ',')) return std::to_string(rank);
  }
  return device;
}

void give_own_device(wire::RunOrder& order) {
  order.gpus = 1;
  order.env.insert(order.env.begin(),
                   {{kVisibleDevices, device_of(order.rank)}, {"DISTRUN_GPU", std::to_string(order.rank)}});
}

// The run's secret: its ranks and hosts prove it to each other on sockets that any process can connect to.
const std::string& store_secret() {
  static const std::string secret = base::random_hex(32);
  return secret;
}

}  // namespace

wire::RunOrder common_order(const PlannedTest& test, const Settings& settings, const std::string& run_id, int attempt,
                            const WorkDirs& dirs, const AttemptStore& store, const trace::Memory* trace) {
  wire::RunOrder order;
  order.run_id = run_id;
  order.test_id = test.is_host() ? test.id : test.info.id_in_plugin();
  order.world_size = test.variant.world_size;
  order.attempt = attempt;
  order.coordinator_pid = ::getpid();
  order.seed = settings.seed;
  order.backend = settings.backend;
  order.agent = settings.agent;
  order.gpu_driver = settings.gpu_driver;
  order.gpus = settings.gpus;
  order.threads = test.variant.isolation == Isolation::Threads;
  order.quick_exit = settings.quick_exit;
  order.suite = test.info.suite;
  order.suite_code = test.info.has_suite_code;
  order.host = test.host;
  order.run_world_size = settings.world_size;
  if (test.share) {
    order.suite_dir = test.share->dir;
    order.suite_settings = test.share->settings;
  }
  // Things that a test leaves behind in a process that is kept would be blamed on the next test.
  order.leaks_strict = !settings.leaks_off && (settings.leaks_strict || base::ranks_stay(test.variant.isolation));
  order.temp_dir = dirs.shared();
  order.init_method = "file://" + dirs.shared() + "/rendezvous";
  if (test.info.env_rendezvous) order.env.push_back({"MASTER_PORT", std::to_string(base::find_free_port())});
  order.env.push_back({"DISTRUN_STORE", store.path()});
  order.env.push_back({"DISTRUN_STORE_SECRET", store_secret()});
  order.env.push_back({"DISTRUN_RPC_TRANSPORT", settings.rpc_transport});
  order.env.push_back({"DISTRUN_THREADS", threads_each(order.world_size, settings.jobs)});
  add_trace(order, trace);
  if (!settings.faults.empty()) order.env.push_back({"DISTRUN_RPC_FAULTS", settings.faults});
  order.env.insert(order.env.end(), settings.env.begin(), settings.env.end());
  return order;
}

wire::RunOrder order_for(wire::RunOrder common, const PlannedTest& test, const WorkDirs& dirs, int rank) {
  common.rank = rank;
  common.work_dir = dirs.of(rank);
  common.tmp_dir = test.is_host() ? test.share->tmp_dir : dirs.tmp_of(common.threads ? 0 : rank);
  if (test.info.env_rendezvous) {
    common.env.insert(common.env.begin(), {{"RANK", std::to_string(rank)}, {"LOCAL_RANK", std::to_string(rank)}});
  }
  if (test.info.gpu_per_rank) give_own_device(common);
  return common;
}

std::vector<wire::WatchedDirectory> watched_by_ranks(const NameWatch& names, const PrivateTmp* private_tmp) {
  std::vector<std::string> unseen;
  if (private_tmp != nullptr) unseen = private_directories();
  std::vector<wire::WatchedDirectory> watched;
  for (const proc::LeakScan::Watched& each : names.watched()) {
    if (std::find(unseen.begin(), unseen.end(), each.directory) != unseen.end()) continue;
    watched.push_back({each.directory, each.modified_ns});
  }
  return watched;
}

}  // namespace distrun::runner
