#include <distrun/plugin/sdk/backends.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <distrun/plugin/sdk/detail/runtime.h>
#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/backend_names.hpp>
#include <distrun/plugin/sdk/detail/string.hpp>

namespace distrun {
namespace {

using Names = std::vector<std::string_view>;

struct Entry {
  std::string_view key;
  Names backends;
};

// Lists for each collective the backends that do not support it.
const std::vector<Entry>& unsupported() {
  static const std::vector<Entry> table{{"allgather_coalesced", {"nccl", "mpi", "ucc"}},
                                        {"reduce", {}},
                                        {"sendrecv anysource", {"nccl", "ucc"}},
                                        {"cpu barrier", {"nccl", "ucc"}}};
  return table;
}

// Lists for each feature the backends that have it. "plugin" marks those of add_backend().
const std::vector<Entry>& features() {
  static const Names with_gpus{"nccl", "gloo", "ucc"};
  static const Names all{"nccl", "gloo", "mpi", "ucc"};
  static const std::vector<Entry> table{{"gpu", with_gpus},          {"cuda", with_gpus}, {"ddp", with_gpus},
                                        {"subgroup", with_gpus},     {"profiling", all},  {"cuda profiling", all},
                                        {"sendrecv profiling", all}, {"plugin", {}}};
  return table;
}

using Backends = std::map<std::string, BackendVersion, std::less<>>;

// Backends added by plugins.
Backends& brought() {
  static Backends backends;
  return backends;
}

void take(void* backends, distrun_string name, std::int32_t major, std::int32_t minor, std::int32_t patch) {
  static_cast<Backends*>(backends)->emplace(detail::view(name), BackendVersion{major, minor, patch});
}

// Includes the runtime's backends, if the plugin is linked with it. The plugin's own win over those of the same name.
Backends available() {
  Backends all = brought();
  if (distrun_runtime_backends != nullptr) distrun_runtime_backends(&all, take);
  return all;
}

template <class Texts>
std::string joined(const Texts& texts) {
  std::string all;
  for (const auto& text : texts) all += (all.empty() ? "" : ", ") + std::string(text);
  return all;
}

bool contains(const auto& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const Names& find(const std::vector<Entry>& table, std::string_view key, const char* what) {
  Names known;
  for (const Entry& entry : table) {
    if (entry.key == key) return entry.backends;
    known.push_back(entry.key);
  }
  throw Error(ErrorKind::InvalidArgument,
              std::string(what) + " '" + std::string(key) + "' is not in the table; it has " + joined(known));
}

SkipCondition requires_backend(std::string name, const std::string& shown) {
  return skip_if([name = std::move(name)](const ListContext&) { return !is_backend_available(name); },
                 "c10d was not compiled with the " + shown + " backend");
}

std::string text_of(const BackendVersion& version) {
  return std::to_string(version[0]) + "." + std::to_string(version[1]) + "." + std::to_string(version[2]);
}

}  // namespace

void add_backend(std::string name, BackendVersion version) { brought().insert_or_assign(std::move(name), version); }

bool is_backend_available(std::string_view name) { return available().contains(name); }

bool backend_supports(std::string_view backend, std::string_view collective) {
  return !contains(find(unsupported(), collective, "the collective"), backend);
}

bool backend_has(std::string_view backend, std::string_view feature) {
  const Names& having = find(features(), feature, "the feature");
  if (feature == "plugin") return is_backend_available(backend) && !wire::is_backend_name(backend);
  return contains(having, backend);
}

SkipCondition require_backend_is_available(std::vector<std::string> backends) {
  return [backends = std::move(backends)](const ListContext& run) -> std::optional<Skip> {
    const std::string requires_it = "Test requires backend " + run.backend;
    if (!contains(backends, run.backend)) return Skip{.reason = requires_it + " to be one of " + joined(backends)};
    if (!is_backend_available(run.backend)) return Skip{.reason = requires_it + " to be available"};
    return std::nullopt;
  };
}

SkipCondition requires_gloo() { return requires_backend("gloo", "Gloo"); }
SkipCondition requires_nccl() { return requires_backend("nccl", "NCCL"); }
SkipCondition requires_ucc() { return requires_backend("ucc", "UCC"); }
SkipCondition requires_mpi() { return requires_backend("mpi", "MPI"); }

SkipCondition requires_nccl_version(BackendVersion least, std::string why) {
  return [least, why = std::move(why)](const ListContext& run) -> std::optional<Skip> {
    if (auto skip = requires_nccl()(run)) return skip;
    const BackendVersion found = available().at("nccl");
    if (found >= least) return std::nullopt;
    return Skip{.reason = "Requires NCCL version greater than or equal to: " + text_of(least) +
                          ", found: " + text_of(found) + ", reason: " + why};
  };
}

}  // namespace distrun
