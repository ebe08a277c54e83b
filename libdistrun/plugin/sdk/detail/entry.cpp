// The C interface that the loading program calls. No exception crosses it.
#include <cstddef>
#include <mutex>

#include <distrun/plugin/sdk/detail/runtime.h>
#include <distrun/plugin/sdk/plugin.h>
#include <distrun/plugin/sdk/detail/failure.hpp>
#include <distrun/plugin/sdk/detail/list.hpp>
#include <distrun/plugin/sdk/detail/run.hpp>
#include <distrun/plugin/sdk/detail/string.hpp>
#include <distrun/plugin/sdk/detail/suite_run.hpp>

namespace {

using namespace distrun::detail;

// Returns whether the other side has every field of the first version of this ABI; later ones are checked on use.
template <class Struct>
bool understands(const Struct* other, std::size_t first_size = sizeof(Struct)) noexcept {
  return other != nullptr && other->abi == DISTRUN_ABI && other->size >= first_size;
}

bool understands(const distrun_rank* rank) noexcept { return understands(rank, offsetof(distrun_rank, suite_dir)); }

// Includes the tests of other frameworks, which are complete only once all of the plugin is loaded. May be called by
// several ranks at once, if they are threads.
const Registry& all_tests() {
  static std::once_flag loaded;
  std::call_once(loaded, [] { registry().load_frameworks(); });
  return registry();
}

std::int32_t list(void*, const distrun_list* to) noexcept {
  if (!understands(to)) return DISTRUN_INCOMPATIBLE;
  try {
    return list_tests(all_tests(), *to);
  } catch (...) {
    to->fail(to->self, lend(current_failure().text));
    return DISTRUN_INVALID;
  }
}

// While it lives, the runtime, if the plugin is linked with it, knows the rank for which the plugin's code runs.
class Attached {
 public:
  explicit Attached(const distrun_rank* rank) noexcept : rank_(rank) {
    if (distrun_runtime_attach != nullptr) distrun_runtime_attach(rank);
  }
  ~Attached() {
    if (distrun_runtime_detach != nullptr) distrun_runtime_detach(rank_);
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  const distrun_rank* rank_;
};

std::int32_t run(void*, distrun_string test_id, const distrun_rank* rank) noexcept {
  if (!understands(rank)) return DISTRUN_INCOMPATIBLE;
  const Attached attached(rank);
  try {
    return run_test(all_tests(), view(test_id), *rank);
  } catch (...) {
    Tally(*rank).report(current_failure());
    return DISTRUN_FAILED;
  }
}

std::int32_t leave(void*, const distrun_rank* rank) noexcept {
  if (!understands(rank)) return DISTRUN_INCOMPATIBLE;
  const Attached attached(rank);
  return leave_suite(*rank);
}

std::int32_t set_up(void*, distrun_string suite, const distrun_rank* host) noexcept {
  if (!understands(host)) return DISTRUN_INCOMPATIBLE;
  const Attached attached(host);
  return set_up_host(registry(), view(suite), *host);
}

std::int32_t tear_down(void*, distrun_string suite, const distrun_rank* host) noexcept {
  if (!understands(host)) return DISTRUN_INCOMPATIBLE;
  const Attached attached(host);
  return tear_down_host(view(suite), *host);
}

}  // namespace

std::int32_t distrun_plugin_entry(const distrun_loader* loader, distrun_plugin* plugin) {
  plugin->abi = DISTRUN_ABI;
  constexpr std::size_t kFirstSize = offsetof(distrun_plugin, leave);
  if (!understands(loader) || plugin->size < kFirstSize) return DISTRUN_INCOMPATIBLE;
  plugin->self = nullptr;
  plugin->runtime = distrun_runtime_attach != nullptr ? DISTRUN_RUNTIME : 0;
  plugin->list = list;
  plugin->run = run;
  plugin->reuse = registry().has_frameworks() ? DISTRUN_RUNS_AGAIN : DISTRUN_RUNS_TOGETHER;
  if (plugin->size < sizeof(distrun_plugin)) return DISTRUN_OK;  // an older distrun without hosts
  plugin->leave = leave;
  plugin->set_up_host = set_up;
  plugin->tear_down_host = tear_down;
  return DISTRUN_OK;
}
