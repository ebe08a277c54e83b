#include <distrun/runner/attempt/run_orders.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <distrun/common/base/rng.hpp>
#include <distrun/runner/attempt/cpu_binding.hpp>

namespace distrun::runner {
namespace {

constexpr char kVisibleDevices[] = "CUDA_VISIBLE_DEVICES";
constexpr char kStoreSecret[] = "DISTRUN_STORE_SECRET";

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

void give_own_device(wire::RunOrder& order, int local_rank) {
  order.gpus = 1;
  order.env.insert(order.env.begin(),
                   {{kVisibleDevices, device_of(local_rank)}, {"DISTRUN_GPU", std::to_string(local_rank)}});
}

}  // namespace

std::string store_secret(const Settings& settings) {
  static const std::string secret = base::random_hex(32);
  for (auto pair = settings.env.rbegin(); pair != settings.env.rend(); ++pair) {
    if (pair->key == kStoreSecret) return pair->value;
  }
  return secret;
}

wire::RunOrder common_order(const PlannedTest& test, const Settings& settings, const std::string& run_id, int attempt) {
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
  order.env.push_back({kStoreSecret, store_secret(settings)});
  order.env.push_back({"DISTRUN_RPC_TRANSPORT", settings.rpc_transport});
  if (!settings.faults.empty()) order.env.push_back({"DISTRUN_RPC_FAULTS", settings.faults});
  order.env.insert(order.env.end(), settings.env.begin(), settings.env.end());
  return order;
}

// In front, so that what the user has set wins.
void add_meeting(wire::RunOrder& order, const PlannedTest& test, const Meeting& meeting) {
  std::vector<wire::KeyValue> variables;
  if (!meeting.store.empty()) variables.push_back({"DISTRUN_STORE", meeting.store});
  if (!meeting.address.empty()) variables.push_back({"MASTER_ADDR", meeting.address});
  if (test.info.env_rendezvous) variables.push_back({"MASTER_PORT", std::to_string(meeting.port)});
  order.env.insert(order.env.begin(), variables.begin(), variables.end());
  order.init_method = meeting.init_method;
}

void add_machine(wire::RunOrder& order, const OnMachine& machine, bool env_rendezvous, bool own_gpu) {
  order.coordinator_pid = ::getpid();
  order.temp_dir = machine.temp_dir;
  order.work_dir = machine.work_dir;
  order.tmp_dir = machine.tmp_dir;
  order.cpus = machine.cpus;
  std::vector<wire::KeyValue> variables{{"DISTRUN_THREADS", machine.threads}};
  if (!machine.cpus.empty()) variables.push_back({kCpusVariable, std::to_string(machine.cpu_count)});
  if (env_rendezvous) {
    variables.push_back({"RANK", std::to_string(order.rank)});
    variables.push_back({"LOCAL_RANK", std::to_string(machine.local_rank)});
  }
  order.env.insert(order.env.begin(), variables.begin(), variables.end());
  if (own_gpu) give_own_device(order, machine.local_rank);
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
