#include <distrun/runtime/core/backends.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace distrun::core {
namespace {

struct Table {
  std::mutex mutex;
  std::vector<Backend> all;  // guarded by mutex
};

Table& table() {
  static auto* const only = new Table;  // static objects of other files fill it
  return *only;
}

}  // namespace

void add_backend(Backend backend) {
  Table& to = table();
  const std::lock_guard lock(to.mutex);
  const auto same =
      std::find_if(to.all.begin(), to.all.end(), [&](const Backend& each) { return each.name == backend.name; });
  if (same != to.all.end())
    *same = std::move(backend);
  else
    to.all.push_back(std::move(backend));
}

std::vector<Backend> backends() {
  Table& of = table();
  const std::lock_guard lock(of.mutex);
  return of.all;
}

}  // namespace distrun::core
