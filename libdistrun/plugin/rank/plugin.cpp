#include <distrun/plugin/rank/plugin.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/plugin/rank/plugin_file.hpp>
#include <distrun/plugin/rank/used_parts.hpp>

namespace distrun::rank {
namespace {

std::string absolute(const std::string& path) {
  return path.find('/') == std::string::npos ? "./" + path : path;  // dlopen would search for a bare name
}

distrun_plugin_entry_t open_entry(const std::string& path) {
  check_plugin_file(path);
  void* library = ::dlopen(absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse_plugin(path, std::string("cannot be loaded: ") + why_not_loaded());
  void* symbol = ::dlsym(library, "distrun_plugin_entry");
  if (symbol == nullptr) {
    refuse_plugin(
        path,
        "is not a distrun plugin: it has no symbol distrun_plugin_entry; link distrun::sdk (see distrun_add_plugin)");
  }
  return reinterpret_cast<distrun_plugin_entry_t>(symbol);
}

// The result of list(), passed through the void* of the C interface.
struct Listing {
  wire::PluginTable table;
  std::optional<std::string> failure;
};

// Plugins of an older build lack these fields.
bool has_later_fields(const distrun_test& test) {
  return test.size >= offsetof(distrun_test, description) + sizeof test.description;
}

bool knows_of_hosts(const distrun_test& test) {
  return test.size >= offsetof(distrun_test, gpu_per_rank) + sizeof test.gpu_per_rank;
}

bool knows_of_tags(const distrun_test& test) {
  return test.size >= offsetof(distrun_test, lock_count) + sizeof test.lock_count;
}

bool knows_of_mpi(const distrun_test& test) {
  return test.size >= offsetof(distrun_test, needs_mpi) + sizeof test.needs_mpi;
}

std::vector<std::string> texts_of(const distrun_string* texts, std::size_t count) {
  std::vector<std::string> copies;
  for (std::size_t i = 0; i < count; ++i) copies.push_back(text_of(texts[i]));
  std::sort(copies.begin(), copies.end());
  copies.erase(std::unique(copies.begin(), copies.end()), copies.end());
  return copies;
}

wire::TestInfo info_of(const distrun_test& test) {
  wire::TestInfo info;
  info.suite = text_of(test.suite);
  info.name = text_of(test.name);
  for (std::size_t i = 0; i < test.parameter_count; ++i) {
    info.parameters.push_back({text_of(test.parameters[i].key), text_of(test.parameters[i].value)});
  }
  info.file = text_of(test.file);
  info.line = test.line;
  info.world_rule = static_cast<wire::WorldRule>(test.world_rule);
  info.world_sizes.assign(test.world_sizes, test.world_sizes + test.world_size_count);
  info.world_size = test.world_size;
  info.timeout_ms = test.timeout_ms;
  info.isolation = text_of(test.isolation);
  info.env_rendezvous = test.env_rendezvous != 0;
  info.has_fixture = test.has_fixture != 0;
  for (std::size_t i = 0; i < test.may_die_count; ++i) {
    const distrun_may_die& death = test.may_die[i];
    info.may_die.push_back({death.rank, static_cast<wire::DeathKind>(death.how), death.value});
  }
  if (test.skip_reason.size > 0) info.skip.push_back({test.skip_code, text_of(test.skip_reason)});
  if (has_later_fields(test)) {
    info.devices = test.devices;
    info.description = text_of(test.description);
  }
  if (knows_of_hosts(test)) {
    info.has_host = test.has_host != 0;
    info.has_suite_code = test.has_suite_code != 0;
    info.gpu_per_rank = test.gpu_per_rank != 0;
  }
  if (knows_of_tags(test)) {
    info.tags = texts_of(test.tags, test.tag_count);
    info.locks = texts_of(test.locks, test.lock_count);
  }
  if (knows_of_mpi(test)) info.needs_mpi = test.needs_mpi != 0;
  return info;
}

void add_test(void* self, const distrun_test* test) {
  static_cast<Listing*>(self)->table.tests.push_back(info_of(*test));
}

void fail_listing(void* self, distrun_string text) { static_cast<Listing*>(self)->failure = text_of(text); }

}  // namespace

Plugin::Plugin(const std::string& path) : path_(path) {
  const distrun_plugin_entry_t entry = open_entry(path);
  const distrun_loader loader{sizeof(distrun_loader), DISTRUN_ABI};
  plugin_.size = sizeof plugin_;
  plugin_.abi = DISTRUN_ABI;
  const std::int32_t code = entry(&loader, &plugin_);
  if (code == DISTRUN_INCOMPATIBLE || plugin_.abi != DISTRUN_ABI) {
    refuse_plugin(path, "was built for plugin ABI " + std::to_string(plugin_.abi) + ", but this distrun has ABI " +
                            std::to_string(DISTRUN_ABI) + "; build it with this distrun's headers");
  }
  if (code != DISTRUN_OK) refuse_plugin(path, "refuses to start: its entry returned " + std::to_string(code));
  if (plugin_.list == nullptr || plugin_.run == nullptr) refuse_plugin(path, "has no list function or no run function");
  if (plugin_.runtime != 0 && plugin_.runtime != DISTRUN_RUNTIME) {
    refuse_plugin(path, "uses version " + std::to_string(plugin_.runtime) +
                            " of the distrun runtime, but this distrun has " + "version " +
                            std::to_string(DISTRUN_RUNTIME) + "; build it with this distrun's headers");
  }
}

wire::PluginTable Plugin::list(const wire::ListOrder& order) const {
  Listing listing;
  distrun_list line{};
  line.size = sizeof line;
  line.abi = DISTRUN_ABI;
  line.self = &listing;
  line.world_size = order.world_size;
  line.gpus = order.gpus;
  line.backend = view(order.backend);
  line.agent = view(order.agent);
  line.gpu_driver = view(order.gpu_driver);
  line.isolation = view(order.isolation);
  line.why_no_gpu = view(order.why_no_gpu);
  line.add = add_test;
  line.fail = fail_listing;
  const std::int32_t code = plugin_.list(plugin_.self, &line);
  if (listing.failure) throw Error(ErrorKind::Failed, "PluginError", path_ + ": " + *listing.failure);
  if (code != DISTRUN_OK) {
    throw Error(ErrorKind::Failed, "PluginError", path_ + ": its list function returned " + std::to_string(code));
  }
  listing.table.reuse = static_cast<wire::Reuse>(plugin_.reuse);
  const UsedParts parts = find_used_parts();
  listing.table.uses_backend = parts.backend;
  listing.table.uses_agent = parts.agent;
  return std::move(listing.table);
}

std::int32_t Plugin::run(const std::string& test_id, const distrun_rank& rank) const {
  return plugin_.run(plugin_.self, view(test_id), &rank);
}

std::int32_t Plugin::leave(const distrun_rank& rank) const {
  return plugin_.leave != nullptr ? plugin_.leave(plugin_.self, &rank) : DISTRUN_OK;
}

std::int32_t Plugin::set_up_host(const std::string& suite, const distrun_rank& host) const {
  return plugin_.set_up_host != nullptr ? plugin_.set_up_host(plugin_.self, view(suite), &host) : DISTRUN_NOT_FOUND;
}

std::int32_t Plugin::tear_down_host(const std::string& suite, const distrun_rank& host) const {
  return plugin_.tear_down_host != nullptr ? plugin_.tear_down_host(plugin_.self, view(suite), &host)
                                           : DISTRUN_NOT_FOUND;
}

}  // namespace distrun::rank
