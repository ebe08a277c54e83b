// The skip conditions of options.hpp.
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/skip_table.hpp>
#include <distrun/plugin/sdk/options.hpp>

namespace distrun {
namespace {

// Skips with an entry of the skip table if `holds`, like a condition of PyTorch's harness.
template <class Predicate>
SkipCondition entry_if(std::string name, Predicate holds) {
  return [name = std::move(name), holds](const ListContext& run) -> std::optional<Skip> {
    if (!holds(run)) return std::nullopt;
    return skip_entry(name);
  };
}

std::string multi_gpu(int devices) { return "multi-gpu-" + std::to_string(devices); }

bool is_mpi(const ListContext& run) { return run.backend == "mpi"; }

}  // namespace

Skip skip_entry(std::string_view table_name) {
  const auto entry = wire::find_skip(table_name);
  if (!entry) {
    throw Error(ErrorKind::InvalidArgument, "the skip table has no entry '" + std::string(table_name) + "'");
  }
  return {entry->exit_code, std::string(entry->message)};
}

SkipCondition skip_if(std::function<bool(const ListContext&)> condition, std::string reason) {
  return [condition = std::move(condition), reason = std::move(reason)](const ListContext& run) -> std::optional<Skip> {
    if (!condition(run)) return std::nullopt;
    return Skip{.reason = reason};
  };
}

SkipCondition skip_if_lt_x_gpu(int x) {
  return entry_if(multi_gpu(x), [x](const ListContext& run) { return run.gpus < x; });
}

SkipCondition skip_if_no_gpu() {
  return [](const ListContext& run) -> std::optional<Skip> {
    if (run.gpus == 0) return skip_entry("no_cuda");
    if (run.gpus < run.world_size) return skip_entry(multi_gpu(run.world_size));
    return std::nullopt;
  };
}

SkipCondition skip_if_small_worldsize() {
  return entry_if("small_worldsize", [](const ListContext& run) { return !is_mpi(run) && run.world_size <= 2; });
}

SkipCondition skip_if_odd_worldsize() {
  return entry_if("odd_worldsize", [](const ListContext& run) { return !is_mpi(run) && run.world_size % 2 == 1; });
}

SkipCondition require_n_gpus_for_nccl_backend(int n) {
  return entry_if(multi_gpu(n), [n](const ListContext& run) { return run.backend == "nccl" && run.gpus < n; });
}

SkipCondition require_n_gpus_for_nccl_backend(int n, std::string_view backend) {
  return entry_if(multi_gpu(n), [n, nccl = backend == "nccl"](const ListContext& run) { return nccl && run.gpus < n; });
}

SkipCondition nccl_skip_if_lt_x_gpu(std::string_view backend, int x) {
  return require_n_gpus_for_nccl_backend(x, backend);
}

SkipCondition skip_if_too_few_gpus() {
  return [](const ListContext& run) -> std::optional<Skip> {
    if (run.backend == "nccl" && run.gpus == 0) return skip_entry("no_cuda");
    if (run.gpus > 0 && run.gpus < run.world_size) return skip_entry(multi_gpu(run.world_size));
    return std::nullopt;
  };
}

SkipCondition skip_if_rocm() {
  return entry_if("skipIfRocm", [](const ListContext&) { return false; });
}

SkipCondition skip_if_win32() { return skip_if(false, "This unit test case is not supported on Windows platform"); }

SkipCondition require_world_size(int n) {
  return skip_if([n](const ListContext& run) { return run.world_size < n; },
                 "Test requires world size of " + std::to_string(n));
}

}  // namespace distrun
