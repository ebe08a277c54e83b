#include <distrun/runner/nodes/hosted_test.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <distrun/common/base/directories.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runner/attempt/attempt_trace.hpp>
#include <distrun/runner/attempt/cpu_share.hpp>
#include <distrun/runner/attempt/run_orders.hpp>

namespace distrun::nodes {

HostedTest::HostedTest(const NodeShared& shared, const SpawnRequest& world, TestOfWorld test,
                       const runner::PrivateTmp* tmp)
    : shared_(shared),
      world_(world),
      test_(std::move(test)),
      tmp_(tmp),
      dirs_(shared.dirs.take(world.ranks_here)),
      store_(world.ranks_here == world.world_size && !world.program ? std::make_shared<runner::AttemptStore>()
                                                                    : nullptr) {
  begin_search(test_.id);
  if (test_.trace_records > 0) make_trace();
}

// The memory has an area for each rank of the world: those of ranks on other hosts take no memory, since nothing is
// written there.
void HostedTest::make_trace() {
  try {
    trace_ = std::make_unique<trace::Memory>(world_.world_size, test_.trace_records);
  } catch (const Error& error) {
    why_no_trace_ = error.what();
  }
}

TracePart HostedTest::read_trace(const TraceRequest& request) const {
  TracePart part;
  part.why_missing = why_no_trace_;
  const bool is_here = request.rank >= world_.first_rank && request.rank - world_.first_rank < world_.ranks_here;
  if (!trace_ || !is_here) return part;
  trace::ShownArea area = trace::read(*trace_, request.rank, request.first, std::min(request.count, kTracePartMax));
  part.written = trace::written(*trace_, request.rank);
  part.not_kept = area.not_kept;
  part.slices = std::move(area.slices);
  for (auto& [tid, name] : area.threads) part.threads.push_back({tid, std::move(name)});
  return part;
}

void HostedTest::complete(wire::RunOrder& order) const {
  const int local = order.rank - world_.first_rank;
  runner::OnMachine machine;
  machine.local_rank = local;
  machine.temp_dir = dirs_->shared();
  machine.work_dir = dirs_->of(local);
  machine.tmp_dir = dirs_->tmp_of(local);
  machine.threads = runner::threads_each(shared_.cpus, world_.ranks_here * shared_.run.jobs);
  const runner::LaneCpus cpus = shared_.cpus_of(world_.lane);
  machine.cpus = cpus.of(local, world_.ranks_here);
  machine.cpu_count = cpus.count(world_.ranks_here);
  runner::add_trace(order, trace_.get());
  runner::add_machine(order, machine, test_.env_rendezvous, test_.own_gpu);
  if (store_) {
    order.env.insert(order.env.begin(), {"DISTRUN_STORE", store_->path()});
    order.init_method = "file://" + dirs_->shared() + "/rendezvous";
  } else {
    order.env.insert(order.env.begin(), {{"DISTRUN_HOST_ADDRESS", shared_.address}, {"DISTRUN_HOSTS", world_.hosts}});
  }
  if (!order.suite_dir.empty()) order.suite_dir = suite_dir(order);
  if (!shared_.run.leaks_off) order.watched = runner::watched_by_ranks(shared_.names, tmp_);
}

// Each host has a directory of its own for the ranks of a suite: the coordinator's may not exist here.
std::string HostedTest::suite_dir(const wire::RunOrder& order) const {
  const std::string name = world_.plugin + '\n' + order.suite + '\n' + order.suite_dir;
  const std::string path = dirs_->shared() + "/../suite" + std::to_string(std::hash<std::string>{}(name));
  base::make_directories(path);
  return path;
}

}  // namespace distrun::nodes
