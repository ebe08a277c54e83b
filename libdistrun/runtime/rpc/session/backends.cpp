#include <distrun/runtime/rpc/session/backends.hpp>

#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::rpc {
namespace {

// Created on first use, since agents register while the library is loaded; never destroyed, since tests may use it.
class Table {
 public:
  static Table& only() {
    static auto* const table = new Table;
    return *table;
  }

  bool add(const std::shared_ptr<const BackendInfo>& info) {
    const std::lock_guard lock(mutex_);
    return all_.emplace(info->name, info).second;
  }
  std::shared_ptr<const BackendInfo> find(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(name);
    return found != all_.end() ? found->second : nullptr;
  }
  std::vector<std::shared_ptr<const BackendInfo>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<const BackendInfo>> all;
    for (const auto& [name, info] : all_) all.push_back(info);
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const BackendInfo>> all_;  // guarded by mutex_
};

std::string names_of(const std::vector<std::shared_ptr<const BackendInfo>>& all) {
  std::string names;
  for (const auto& info : all) names += (names.empty() ? "" : ", ") + info->name;
  return names.empty() ? "none" : names;
}

// Translates PyTorch's names of backends.
std::string own_name(const std::string& name) {
  if (name == "TENSORPIPE") return "pipe";
  return name == "FAULTY_TENSORPIPE" ? "faulty" : name;
}

}  // namespace

Backend register_backend(BackendInfo info) {
  const auto shared = std::make_shared<const BackendInfo>(std::move(info));
  if (!shared->make_agent && !shared->make_met_agent) {
    throw Error(ErrorKind::InvalidArgument, "RuntimeError",
                "RPC backend " + shared->name + ": nothing makes its agent");
  }
  if (!Table::only().add(shared)) {
    throw Error(ErrorKind::InvalidArgument, "RuntimeError", "RPC backend " + shared->name + ": already registered");
  }
  return Backend(shared);
}

Backend find_backend(const std::string& name) {
  if (auto info = Table::only().find(own_name(name))) return Backend(std::move(info));
  throw Error(ErrorKind::InvalidArgument,
              "there is no RPC backend \"" + name + "\"; there are " + names_of(Table::only().all()));
}

std::vector<Backend> backends() {
  std::vector<Backend> all;
  for (auto& info : Table::only().all()) all.push_back(Backend(std::move(info)));
  return all;
}

bool Backend::takes(const RpcBackendOptions& options) const { return !info_->takes || info_->takes(options); }

std::string default_backend() {
  const char* const named = std::getenv("DISTRUN_AGENT");
  return named != nullptr && *named != '\0' ? named : "pipe";
}

Backend backend_of(const RpcBackendOptions& options) {
  const std::string usual = default_backend();
  std::vector<Backend> that_take;
  for (const Backend& each : backends()) {
    if (!each.info().takes || !each.info().takes(options)) continue;
    if (each.name() == usual) return each;
    that_take.push_back(each);
  }
  for (const Backend& each : that_take) {
    if (each.name() == "pipe") return each;
  }
  if (!that_take.empty()) return that_take.front();
  throw Error(ErrorKind::InvalidArgument, "TypeError",
              "Could not infer backend for options: no backend takes them; there are " + names_of(Table::only().all()));
}

}  // namespace distrun::rpc
