#include <distrun/runtime/rpc/calls/names.hpp>

#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>

namespace distrun::rpc {
namespace {

constexpr std::size_t kNamesMax = 10'000;
constexpr std::size_t kNameMost = 200;

struct Names {
  std::shared_mutex mutex;
  std::set<std::string, std::less<>> all;  // guarded by mutex; never shrinks
};
Names& names() {
  static auto* const only = new Names;
  return *only;
}

}  // namespace

const char* lasting_name(std::string_view name) {
  name = name.substr(0, kNameMost);
  Names& known = names();
  {
    const std::shared_lock lock(known.mutex);
    const auto found = known.all.find(name);
    if (found != known.all.end()) return found->c_str();
  }
  const std::unique_lock lock(known.mutex);
  if (known.all.size() >= kNamesMax) return "other";
  return known.all.emplace(name).first->c_str();
}

}  // namespace distrun::rpc
