#include <distrun/runtime/rpc/functions/registry.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <shared_mutex>
#include <unordered_map>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/nearest.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/rpc/compat.hpp>

namespace distrun::rpc {
namespace {

std::atomic<std::uint64_t> version{1};

// The functions of the process. Never destroyed, since calls may run until the process ends.
struct Functions {
  std::shared_mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<const Function>> by_name;
  std::unordered_map<const void*, std::string> names;
  std::unordered_map<std::string, std::string> methods;  // by key (method_key())
};
Functions& functions() {
  static auto* const only = new Functions;
  return *only;
}

// The functions that a rank hides.
struct Hidden {
  std::atomic<bool> any{false};
  std::mutex mutex;
  std::set<std::string, std::less<>> names;  // guarded by mutex
};
Hidden& hidden() { return core::rank_state().part<Hidden>(core::Part::Functions); }

bool is_hidden(std::string_view name) {
  Hidden& own = hidden();
  if (!own.any.load(std::memory_order_acquire)) return false;
  const std::lock_guard lock(own.mutex);
  return own.names.find(name) != own.names.end();
}

std::shared_ptr<const Function> find_any(const std::string& name) {
  Functions& all = functions();
  const std::shared_lock lock(all.mutex);
  const auto found = all.by_name.find(name);
  return found == all.by_name.end() ? nullptr : found->second;
}

// " Did you mean \"add_twice\"?"
std::string most_alike(std::string_view name) {
  std::vector<std::string> found = base::nearest(name, function_names());
  for (std::string& each : found) each = "\"" + each + "\"";
  return found.empty() ? "" : " Did you mean " + base::joined_by_or(found) + "?";
}

}  // namespace

void add_function(Function function, const void* address) {
  Functions& all = functions();
  const std::unique_lock lock(all.mutex);
  const std::string name = function.signature.name;
  if (!all.by_name.try_emplace(name, std::make_shared<const Function>(std::move(function))).second) {
    throw Error(ErrorKind::InvalidArgument, "a function \"" + name + "\" is registered for RPC already");
  }
  if (address != nullptr) all.names.emplace(address, name);
  version.fetch_add(1);
}

bool hide_function(std::string_view name) {
  if (find_function(name) == nullptr) return false;
  Hidden& own = hidden();
  const std::lock_guard lock(own.mutex);
  own.names.emplace(name);
  own.any.store(true, std::memory_order_release);
  version.fetch_add(1);
  return true;
}

void show_function(std::string_view name) {
  Hidden& own = hidden();
  const std::lock_guard lock(own.mutex);
  const auto found = own.names.find(name);
  if (found != own.names.end()) own.names.erase(found);
  version.fetch_add(1);
}

std::uint64_t functions_version() noexcept { return version.load(std::memory_order_acquire); }

std::shared_ptr<const Function> find_function(std::string_view name) {
  return is_hidden(name) ? nullptr : find_any(std::string(name));
}

std::shared_ptr<const Function> get_function(std::string_view name) {
  std::shared_ptr<const Function> found = find_function(name);
  if (found != nullptr) return found;
  throw Error(ErrorKind::Failed, "no function \"" + std::string(name.substr(0, 100)) +
                                     "\" is registered here. Default RPC pickler does not serialize function code. "
                                     "Ensure that it is registered (DISTRUN_RPC) in both caller and callee." +
                                     most_alike(name));
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  {
    Functions& all = functions();
    const std::shared_lock lock(all.mutex);
    for (const auto& [name, function] : all.by_name) names.push_back(name);
  }
  std::erase_if(names, [](const std::string& name) { return is_hidden(name); });
  std::sort(names.begin(), names.end());
  return names;
}

void add_method_name(std::string key, std::string name) {
  Functions& all = functions();
  const std::unique_lock lock(all.mutex);
  all.methods.emplace(std::move(key), std::move(name));
}

const std::string& name_of_method(const std::string& key) {
  Functions& all = functions();
  const std::shared_lock lock(all.mutex);
  const auto found = all.methods.find(key);
  if (found != all.methods.end()) return found->second;
  throw Error(ErrorKind::InvalidArgument,
              "this method can't be called by others: register it with RegisterClass<...>(...).method(name, method)");
}

const std::string& name_of_function(const void* address) {
  Functions& all = functions();
  const std::shared_lock lock(all.mutex);
  const auto found = all.names.find(address);
  if (found != all.names.end()) return found->second;
  throw Error(ErrorKind::InvalidArgument,
              "this function can't be called by others: register it with DISTRUN_RPC(function)");
}

}  // namespace distrun::rpc
