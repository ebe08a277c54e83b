#include <distrun/runtime/rpc/calls/known_workers.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/nearest.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kDeadMax = 1024;  // remembered deaths of workers

}  // namespace

struct KnownWorkers::List {
  std::unordered_map<std::string, WorkerInfo> by_name;
  std::unordered_map<WorkerId, WorkerInfo> by_id;
};

KnownWorkers::KnownWorkers(std::shared_ptr<Agent> agent) : agent_(std::move(agent)) { refresh(); }

void KnownWorkers::refresh() {
  // Held while reading and storing, so that concurrent refreshes cannot store an older list over a newer one.
  const std::lock_guard refreshing(refreshing_);
  auto workers = std::make_shared<List>();
  for (const WorkerInfo& each : agent_->worker_infos()) {
    workers->by_name.emplace(each.name(), each);
    workers->by_id.emplace(each.id(), each);
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(dead_, [&](const auto& each) { return workers->by_name.contains(each.first); });
  list_ = std::move(workers);
}

void KnownWorkers::note_death(const WorkerInfo& worker, const Error& why) {
  const std::lock_guard lock(mutex_);
  if (dead_.size() < kDeadMax) dead_.insert_or_assign(worker.name(), why);
}

std::shared_ptr<const KnownWorkers::List> KnownWorkers::list() const {
  const std::lock_guard lock(mutex_);
  return list_;
}

std::optional<WorkerInfo> KnownWorkers::find(WorkerKey key) const {
  const auto all = list();
  const auto found = all->by_id.find(key.id);
  if (found == all->by_id.end() || !found->second.key().matches(key)) return std::nullopt;
  return found->second;
}

std::string KnownWorkers::name_of(WorkerKey key) const {
  const std::optional<WorkerInfo> found = find(key);
  return found ? found->name() : "worker " + std::to_string(key.id);
}

void KnownWorkers::throw_if_dead(const std::string& name, base::Location site) const {
  const std::lock_guard lock(mutex_);
  const auto found = dead_.find(name);
  if (found == dead_.end()) return;
  throw Error(found->second.kind(), found->second.type(), found->second.text(), site)
      .with_cause(found->second.because_of());
}

WorkerInfo KnownWorkers::resolve(const Destination& to) const {
  const std::shared_ptr<const List> workers = list();
  const WorkerInfo& self = agent_->worker_info();
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::InvalidArgument, "RuntimeError",
                "name:" + self.name() + ",rank:" + std::to_string(self.id()) + " could not find destination " + what,
                to.site());
  };
  if (const auto* const name = std::get_if<std::string>(&to.whom())) {
    const auto found = workers->by_name.find(*name);
    if (found == workers->by_name.end()) {
      throw_if_dead(*name, to.site());
      std::vector<std::string> known;
      for (const auto& [each, worker] : workers->by_name) known.push_back(each);
      refuse("name " + *name + base::did_you_mean(*name, known));
    }
    return found->second;
  }
  const auto* const worker = std::get_if<WorkerInfo>(&to.whom());
  const WorkerId id = worker != nullptr ? worker->id() : std::get<int>(to.whom());
  const auto found = workers->by_id.find(id);
  if (found == workers->by_id.end()) {
    // Only a worker that was a member has an incarnation.
    if (worker != nullptr && worker->incarnation() != 0) {
      throw_if_dead(worker->name(), to.site());
      throw Error(ErrorKind::Disconnected, worker->name() + " has left", to.site());
    }
    refuse("id " + std::to_string(id));
  }
  if (worker != nullptr && worker->name() != found->second.name()) refuse(to_string(*worker));
  if (worker != nullptr && !worker->matches(found->second)) {
    throw Error(ErrorKind::Disconnected,
                worker->name() + " has left, and another worker has joined as " + worker->name() +
                    " since: get_worker_info() returns that one",
                to.site());
  }
  return found->second;
}

bool KnownWorkers::has_left(const WorkerInfo& worker) const noexcept {
  const auto is_missing = [&] {
    const std::vector<WorkerInfo> all = agent_->worker_infos();
    return std::ranges::none_of(all, [&](const WorkerInfo& each) { return each.key().matches(worker.key()); });
  };
  return base::if_memory(is_missing, [] { return false; });
}

}  // namespace distrun::rpc
