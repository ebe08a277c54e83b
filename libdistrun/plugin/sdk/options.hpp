#pragma once
// What a test or a suite asks for. Options are plain values, written with designated initialisers:
//
//   DISTRUN_TEST(Ring, token_goes_round, .world_size = fixed(4), .timeout = 10s) { ... }
//
// A suite's options are the defaults of its tests; of both hold: the skip conditions (the suite's
// first), may_die, backends and agents (their common part), devices (the larger number),
// env_rendezvous, gpu_per_rank. They are evaluated when tests are listed or run, not while the plugin is loaded.
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <distrun/common/base/isolation.hpp>
#include <distrun/plugin/sdk/parameters.hpp>

namespace distrun {

// How many ranks a test runs with.
struct WorldSize {
  enum class Rule : std::int32_t { Any, Fixed, AnyOf, Gpus };
  Rule rule = Rule::Any;
  std::vector<int> sizes;
};
// As many as --world-size says (4 by default).
WorldSize any_world();
// Always n.
WorldSize fixed(int n);
// As many as --world-size says if it is one of these; else the test is skipped.
WorldSize any_of(std::vector<int> sizes);
// One rank per device; skipped where there is none.
WorldSize gpus();

// A death that a test causes on purpose: it is no failure, and nobody is told of it.
struct Death {
  int rank = -1;  // -1: any rank
  int how = 0;    // DISTRUN_DEATH_...
  int value = 0;
};
Death dies(int rank);
Death dies_by_signal(int rank, int signal);
Death exits_with(int rank, int code);

// What is known before any rank exists; conditions are evaluated with it when tests are listed.
struct ListContext {
  int world_size = 0;  // of this very test
  std::string backend;
  std::string agent;
  std::string gpu_driver;
  int gpus = 0;
  std::string isolation;
  std::string why_no_gpu;  // "this machine has no NVIDIA device"; empty: there are some
};

// Why a test does not run. The code is one of the skip table; 86 is the generic one.
struct Skip {
  int code = 86;
  std::string reason;
};
// An entry of the skip table ("no_cuda"). Throws Error{InvalidArgument} for another name.
Skip skip_entry(std::string_view table_name);

using SkipCondition = std::function<std::optional<Skip>(const ListContext&)>;
SkipCondition skip_if(std::function<bool(const ListContext&)> condition, std::string reason);
// Constrained, because a lambda converts to bool as well.
SkipCondition skip_if(std::same_as<bool> auto condition, std::string reason) {
  return skip_if([condition](const ListContext&) { return condition; }, std::move(reason));
}
// The conditions of PyTorch's harness, with its codes and texts. It knows 1 to 8 devices; a number
// beyond that is an error of the declaration.
SkipCondition skip_if_lt_x_gpu(int x);
SkipCondition skip_if_no_gpu();           // fewer devices than ranks
SkipCondition skip_if_small_worldsize();  // 2 ranks or fewer, except with mpi
SkipCondition skip_if_odd_worldsize();    // except with mpi
SkipCondition require_n_gpus_for_nccl_backend(int n);
// For tests that name their backend themselves; devices count only with nccl.
SkipCondition require_n_gpus_for_nccl_backend(int n, std::string_view backend);
SkipCondition nccl_skip_if_lt_x_gpu(std::string_view backend, int x);
SkipCondition skip_if_too_few_gpus();  // nccl without devices; with devices, fewer than ranks
SkipCondition skip_if_rocm();          // never holds here: devices are CUDA's
SkipCondition skip_if_win32();         // nor does this
SkipCondition require_world_size(int n);

struct TestOptions {
  std::optional<WorldSize> world_size{};
  std::chrono::milliseconds timeout{0};  // of the body; 0: the run's default
  std::optional<Isolation> isolation{};  // runs only so
  std::vector<std::string> backends{};   // runs only with one of these; empty: with any
  std::vector<std::string> agents{};
  int devices = 0;              // needs at least so many
  bool env_rendezvous = false;  // wants RANK, LOCAL_RANK and MASTER_PORT
  bool gpu_per_rank = false;    // rank r sees one device, the r-th; skipped where there are fewer
  std::vector<Death> may_die{};
  std::vector<SkipCondition> skip{};  // the first that holds skips the test
  Product parameters{};               // one test per element
};

}  // namespace distrun
