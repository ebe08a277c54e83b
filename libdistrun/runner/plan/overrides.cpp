#include <distrun/runner/plan/overrides.hpp>

namespace distrun::runner {
namespace {

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

void add(Override& all, const Override& more) {
  if (more.timeout.count() > 0) all.timeout = more.timeout;
  if (more.retries >= 0) all.retries = more.retries;
  if (more.world_size > 0) all.world_size = more.world_size;
  append(all.tags, more.tags);
  append(all.locks, more.locks);
}

}  // namespace

Overrides::Overrides(const std::vector<Override>& overrides) {
  for (const Override& each : overrides) entries_.push_back({Filter({each.filter}), each});
}

Override Overrides::changes_of(const std::string& plugin, const wire::TestInfo& test) const {
  Override changes;
  const std::string id = test.id();
  std::vector<std::string> tags = test.tags;
  for (const Entry& each : entries_) {
    if (!each.filter.selects({test.suite, id, plugin, &tags, test.world_size})) continue;
    add(changes, each.changes);
    append(tags, each.changes.tags);
  }
  return changes;
}

}  // namespace distrun::runner
