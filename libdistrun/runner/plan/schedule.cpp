#include <distrun/runner/plan/schedule.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

namespace distrun::runner {
namespace {

constexpr int kRanksPerCore = 16;
constexpr std::uint64_t kMemoryPerRank = std::uint64_t{64} << 20;

int ranks_at_once(int cores, std::uint64_t memory_available) {
  const int ranks = std::max(cores, 1) * kRanksPerCore;
  if (memory_available == 0) return ranks;
  const auto held = std::min<std::uint64_t>(memory_available / kMemoryPerRank, std::numeric_limits<int>::max());
  return std::min(ranks, static_cast<int>(held));
}

void add_to(std::vector<int>& sums, const std::vector<int>& more, int times) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += times * more.at(i);
}

void add_locks(Batch& batch, const std::vector<std::string>& more) {
  std::vector<std::string> all;
  std::set_union(batch.locks.begin(), batch.locks.end(), more.begin(), more.end(), std::back_inserter(all));
  batch.locks = std::move(all);
}

}  // namespace

bool is_alike(const PlannedTest& test, const PlannedTest& other) {
  return base::ranks_stay(test.variant.isolation) && other.plugin == test.plugin &&
         other.info.suite == test.info.suite && other.variant.isolation == test.variant.isolation &&
         other.variant.world_size == test.variant.world_size;
}

std::vector<Batch> batches(const std::vector<PlannedTest>& tests) {
  std::vector<Batch> all;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const bool devices = tests[i].info.devices > 0;
    if (all.empty() || !is_alike(tests[i], tests[all.back().begin])) {
      all.push_back({i, i, tests[i].variant.world_size, false});
    }
    all.back().end = i + 1;
    all.back().devices = all.back().devices || devices;
    add_locks(all.back(), tests[i].info.locks);
  }
  return all;
}

Room Room::of_machine(int cores, std::uint64_t memory_available) { return {{ranks_at_once(cores, memory_available)}}; }

Room Room::of_machines(const launch::Node& node) {
  Room room;
  for (const launch::Resources& machine : node.machines()) {
    room.ranks.push_back(ranks_at_once(machine.cpus, machine.memory_available));
  }
  room.split = [&node](int world_size) { return node.split(world_size); };
  return room;
}

Schedule::Schedule(std::vector<Batch> batches, Room room)
    : waiting_(std::move(batches)), room_(std::move(room)), ranks_(room_.ranks.size(), 0) {}

std::vector<int> Schedule::ranks_of(const Batch& batch) const {
  return room_.split ? room_.split(batch.ranks) : std::vector<int>{batch.ranks};
}

bool Schedule::has_room(const Batch& batch) const {
  if (running_ == 0) return true;
  if (devices_ && batch.devices) return false;
  const std::vector<int> more = ranks_of(batch);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (more.at(i) > 0 && ranks_[i] + more[i] > room_.ranks[i]) return false;
  }
  return true;
}

std::optional<Batch> Schedule::next(const std::function<bool(const Batch&)>& may_begin) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Batch& each) { return has_room(each) && (!may_begin || may_begin(each)); });
  if (found == waiting_.end()) return std::nullopt;
  const Batch batch = *found;
  waiting_.erase(found);
  ++running_;
  add_to(ranks_, ranks_of(batch), 1);
  devices_ = devices_ || batch.devices;
  return batch;
}

void Schedule::remove(const Batch& batch) {
  std::erase_if(waiting_, [&](const Batch& each) { return each.begin == batch.begin; });
}

void Schedule::over(const Batch& batch) {
  --running_;
  add_to(ranks_, ranks_of(batch), -1);
  if (batch.devices) devices_ = false;
}

std::uint64_t memory_available() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t kilobytes = 0;
  for (std::string unit; file >> name >> kilobytes; std::getline(file, unit)) {
    if (name == "MemAvailable:") return kilobytes << 10;
  }
  return 0;
}

}  // namespace distrun::runner
