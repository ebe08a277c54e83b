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

Room Room::of_machine(int cores, std::uint64_t memory_available) {
  Room room;
  room.ranks = std::max(cores, 1) * kRanksPerCore;
  if (memory_available > 0) {
    const std::uint64_t held =
        std::min<std::uint64_t>(memory_available / kMemoryPerRank, std::numeric_limits<int>::max());
    room.ranks = std::min(room.ranks, static_cast<int>(held));
  }
  return room;
}

bool Schedule::has_room(const Batch& batch) const {
  if (running_ == 0) return true;
  return ranks_ + batch.ranks <= room_.ranks && !(devices_ && batch.devices);
}

std::optional<Batch> Schedule::next(const std::function<bool(const Batch&)>& may_begin) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Batch& each) { return has_room(each) && (!may_begin || may_begin(each)); });
  if (found == waiting_.end()) return std::nullopt;
  const Batch batch = *found;
  waiting_.erase(found);
  ++running_;
  ranks_ += batch.ranks;
  devices_ = devices_ || batch.devices;
  return batch;
}

void Schedule::remove(const Batch& batch) {
  std::erase_if(waiting_, [&](const Batch& each) { return each.begin == batch.begin; });
}

void Schedule::over(const Batch& batch) {
  --running_;
  ranks_ -= batch.ranks;
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
