#include <distrun/runner/plan/overrides.hpp>

#include <algorithm>
#include <chrono>

namespace distrun::runner {
namespace {

void add_labels(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
  std::sort(to.begin(), to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
}

std::int64_t milliseconds_of(Nanoseconds time) {
  return std::max<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(time).count(), 1);
}

}  // namespace

Overrides::Overrides(const std::vector<Override>& overrides) {
  for (const Override& each : overrides) entries_.push_back({Filter({each.filter}), each});
}

int Overrides::world_size_of(const std::string& plugin, const wire::TestInfo& test) const {
  int size = 0;
  const std::string id = test.id();
  std::vector<std::string> tags = test.tags;
  for (const Entry& each : entries_) {
    if (!each.filter.selects({test.suite, id, plugin, &tags, test.world_size})) continue;
    if (each.changes.world_size > 0) size = each.changes.world_size;
    add_labels(tags, each.changes.tags);
  }
  return size;
}

int Overrides::apply_to(const std::string& plugin, wire::TestInfo& test) const {
  int retries = -1;
  const std::string id = test.id();
  for (const Entry& each : entries_) {
    if (!each.filter.selects({test.suite, id, plugin, &test.tags, test.world_size})) continue;
    const Override& changes = each.changes;
    if (changes.timeout.count() > 0) test.timeout_ms = milliseconds_of(changes.timeout);
    if (changes.retries >= 0) retries = changes.retries;
    add_labels(test.tags, changes.tags);
    add_labels(test.locks, changes.locks);
  }
  return retries;
}

}  // namespace distrun::runner
