#include <distrun/runner/orders.hpp>

#include <unistd.h>

#include <distrun/base/free_port.hpp>

namespace distrun::runner {

wire::RunOrder common_order(const PlannedTest& test, const Settings& settings, const std::string& run_id,
                            int attempt, const WorkDirs& dirs) {
  wire::RunOrder order;
  order.run_id = run_id;
  order.test_id = test.id;
  order.world_size = test.variant.world_size;
  order.attempt = attempt;
  order.coordinator_pid = ::getpid();
  order.seed = settings.seed;
  order.backend = settings.backend;
  order.agent = settings.agent;
  order.gpu_driver = settings.gpu_driver;
  order.gpus = settings.gpus;
  order.threads = test.variant.isolation == "threads";
  // What a test leaves in a process that stays would be the next one's.
  order.leaks_strict = !settings.leaks_off && (settings.leaks_strict || launch::ranks_stay(test.variant.isolation));
  order.temp_dir = dirs.shared();
  order.init_method = "file://" + dirs.shared() + "/rendezvous";
  if (test.info.env_rendezvous) order.env.push_back({"MASTER_PORT", std::to_string(base::find_free_port())});
  order.env.insert(order.env.end(), settings.env.begin(), settings.env.end());
  return order;
}

wire::RunOrder order_for(wire::RunOrder common, const PlannedTest& test, const WorkDirs& dirs, int rank) {
  common.rank = rank;
  common.work_dir = dirs.of(rank);
  if (test.info.env_rendezvous) {
    common.env.insert(common.env.begin(), {{"RANK", std::to_string(rank)}, {"LOCAL_RANK", std::to_string(rank)}});
  }
  return common;
}

}  // namespace distrun::runner
