#pragma once
// The options of a test or a suite: plain values, written with designated initialisers:
//
//   DISTRUN_TEST(Ring, token_goes_round, .world_size = fixed(4), .timeout = 10s) { ... }
//
// A suite's options are the defaults of its tests. These are combined: skip conditions (the suite's first), may_die,
// backends and agents (the common ones), devices (the larger number), env_rendezvous, gpu_per_rank, needs_mpi, tags,
// locks.
// Options are evaluated when tests are listed or run, not while the plugin is loaded.
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

// The world size that a test asks for.
struct WorldSize {
  enum class Rule : std::int32_t { Any, Fixed, AnyOf, Gpus };  // see any_world(), fixed(), any_of(), gpus()
  Rule rule = Rule::Any;                                       // default: any_world()
  std::vector<int> sizes;                                      // the one of Fixed, those of AnyOf
};
// Runs with the world size of --world-size (4 by default).
WorldSize any_world();
// Always runs with n ranks.
WorldSize fixed(int n);
// Runs with the world size of --world-size if it is one of these; otherwise the test is skipped.
WorldSize any_of(std::vector<int> sizes);
// Runs with one rank per device; skipped without devices.
WorldSize gpus();

// A death that a test causes on purpose: it is not a failure, and is not reported to other ranks as one.
struct Death {
  int rank = -1;  // -1: any rank
  int how = 0;    // DISTRUN_DEATH_...
  int value = 0;  // the signal or the exit code
};
// Allows the rank to die in any way.
Death dies(int rank);
// Allows the rank to be killed by that signal, such as SIGKILL.
Death dies_by_signal(int rank, int signal);
// Allows the rank's process to exit with that code.
Death exits_with(int rank, int code);

// Settings known before any rank exists; conditions are evaluated with it when tests are listed.
struct ListContext {
  int world_size = 0;      // of this test
  std::string backend;     // --backend
  std::string agent;       // --agent
  std::string gpu_driver;  // --gpu-driver
  int gpus = 0;            // usable GPUs
  std::string isolation;   // "process", "exec", "pool", "threads"
  std::string why_no_gpu;  // "this machine has no NVIDIA device"; empty: there are some
};

// Why a test does not run. The code is from the skip table; 86 is the generic one.
struct Skip {
  int code = 86;       // of the skip table
  std::string reason;  // for the report
};
// Returns an entry of the skip table ("no_cuda"). Throws Error{InvalidArgument} for another name.
Skip skip_entry(std::string_view table_name);

// Decides before any rank starts whether a test is skipped; nullopt: it runs.
using SkipCondition = std::function<std::optional<Skip>(const ListContext&)>;
// Skips with `reason` if the condition holds.
SkipCondition skip_if(std::function<bool(const ListContext&)> condition, std::string reason);
// A condition that is known already. Constrained, because a lambda also converts to bool.
SkipCondition skip_if(std::same_as<bool> auto condition, std::string reason) {
  return skip_if([condition](const ListContext&) { return condition; }, std::move(reason));
}
// These are conditions of PyTorch's harness, with its codes and texts. It knows 1 to 8 devices; more is an error.
SkipCondition skip_if_lt_x_gpu(int x);
SkipCondition skip_if_no_gpu();           // fewer devices than ranks
SkipCondition skip_if_small_worldsize();  // 2 ranks or fewer, except with mpi
SkipCondition skip_if_odd_worldsize();    // except with mpi
// With backend nccl, skips if there are fewer than n devices.
SkipCondition require_n_gpus_for_nccl_backend(int n);
// For tests that select their backend themselves: skips if `backend` is nccl and there are fewer than n devices.
SkipCondition require_n_gpus_for_nccl_backend(int n, std::string_view backend);
// Skips if `backend` is nccl and there are fewer than x devices.
SkipCondition nccl_skip_if_lt_x_gpu(std::string_view backend, int x);
SkipCondition skip_if_too_few_gpus();     // nccl without devices; with devices, fewer than ranks
SkipCondition skip_if_rocm();             // never true: devices are CUDA's
SkipCondition skip_if_win32();            // never true
SkipCondition require_world_size(int n);  // fewer than n ranks

// What a test asks for, and when it is skipped. Members that are left out are those of its suite, else of the run.
struct TestOptions {
  std::optional<WorldSize> world_size{};  // unset: any_world()
  std::chrono::milliseconds timeout{0};   // of the body; 0: the run's default
  std::optional<Isolation> isolation{};   // the only one allowed
  std::vector<std::string> backends{};    // the only ones allowed; empty: any
  std::vector<std::string> agents{};      // of RPC, in the same way
  int devices = 0;                        // the number needed
  bool env_rendezvous = false;            // needs RANK, LOCAL_RANK and MASTER_PORT
  bool gpu_per_rank = false;              // rank r sees only device r; skipped if there are fewer
  bool needs_mpi = false;                 // the ranks call MPI_Init and are one MPI_COMM_WORLD
  std::vector<Death> may_die{};           // deaths that are no failures
  std::vector<SkipCondition> skip{};      // the first that is true skips the test
  Product parameters{};                   // one test per element
  // Labels for --filter 'tag:slow', at most 64, of at most 200 printable characters without spaces.
  std::vector<std::string> tags{};
  // Names of resources that one test at a time may use, such as "port 8000", also in other runs of this user on this
  // machine; at most 64, of at most 200 printable characters.
  std::vector<std::string> locks{};
};

}  // namespace distrun
