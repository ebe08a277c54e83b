#include <distrun/runtime/rpc/session/detail/meeting_keys.hpp>

#include <algorithm>

#include <distrun/runtime/rpc/calls/calls.hpp>

namespace distrun::rpc {
namespace {

constexpr std::string_view kSeparator = ", ";

// '#' does not occur in names, and sorts before all of their characters.
std::string part_of(const std::string& name, Incarnation incarnation) {
  return incarnation > 1 ? name + "#" + std::to_string(incarnation) : name;
}

}  // namespace

WorkerKeys keys_of(const Calls& calls, const std::set<std::string>& names, base::Location site) {
  WorkerKeys keys;
  for (const std::string& name : names) keys.emplace(name, calls.workers().resolve(Destination(name, site)).key());
  return keys;
}

std::string join(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : kSeparator).append(name);
  return text;
}

std::string key_of(const WorkerKeys& workers) {
  std::set<std::string> parts;
  for (const auto& [name, key] : workers) parts.insert(part_of(name, key.incarnation));
  return join(parts);
}

bool names_earlier(std::string_view key, const WorkerInfo& worker) {
  while (!key.empty()) {
    const std::size_t end = std::min(key.find(kSeparator), key.size());
    const std::string_view part = key.substr(0, end);
    if (part.substr(0, part.find('#')) == worker.name() && part != part_of(worker.name(), worker.incarnation())) {
      return true;
    }
    key.remove_prefix(std::min(end + kSeparator.size(), key.size()));
  }
  return false;
}

}  // namespace distrun::rpc
