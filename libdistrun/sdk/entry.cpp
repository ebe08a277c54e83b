// The C line: what the loading program calls. Nothing is thrown across it.
#include <distrun/sdk/failure.hpp>
#include <distrun/sdk/list.hpp>
#include <distrun/sdk/plugin.h>
#include <distrun/sdk/run.hpp>
#include <distrun/sdk/string.hpp>

namespace {

using namespace distrun::detail;

// Whether the other side has every field that this ABI started with.
template <class Struct>
bool understands(const Struct* other) noexcept {
  return other != nullptr && other->abi == DISTRUN_ABI && other->size >= sizeof(Struct);
}

std::int32_t list(void*, const distrun_list* to) noexcept {
  if (!understands(to)) return DISTRUN_INCOMPATIBLE;
  try {
    return list_tests(registry(), *to);
  } catch (...) {
    to->fail(to->self, lend(current_failure().text));
    return DISTRUN_INVALID;
  }
}

std::int32_t run(void*, distrun_string test_id, const distrun_rank* rank) noexcept {
  if (!understands(rank)) return DISTRUN_INCOMPATIBLE;
  try {
    return run_test(registry(), view(test_id), *rank);
  } catch (...) {
    Tally(*rank).report(current_failure());
    return DISTRUN_FAILED;
  }
}

}  // namespace

std::int32_t distrun_plugin_entry(const distrun_host* host, distrun_plugin* plugin) {
  plugin->abi = DISTRUN_ABI;
  if (!understands(host) || plugin->size < sizeof(distrun_plugin)) return DISTRUN_INCOMPATIBLE;
  plugin->self = nullptr;
  plugin->runtime = 0;
  plugin->list = list;
  plugin->run = run;
  plugin->reentrant = 1;
  return DISTRUN_OK;
}
