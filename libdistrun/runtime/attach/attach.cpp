// The runtime's side of plugin/sdk/detail/runtime.h: while a test runs, devices use its rank's settings, board and
// reports.
//
//   first attach of the process   the GPU driver is chosen, but not created: that happens on first use
//   each attach                   waits are shown on the rank's board, and end when a peer fails; violations of stream
//                                 order are reported as its errors; its random numbers restart
//   bind                          a thread started by the test works for the rank like the rank's main thread
//   keep                          the rank's open objects belong to its suite, and stay open at detach until release
//   detach                        RPC ends and groups are left, so that no peer waits for the rank; unseen errors of
//                                 futures are reported, and fail the test if they are failures; reports go to standard
//                                 error again; waits still shown stay; the debug level is restored; handlers of the
//                                 test that still run are named, and the process gets no other test, since its
//                                 shutdown would wait for them
//
// Ranks that are threads are attached side by side: a wait, a report or a random number belongs to the rank of its
// thread or task (runtime/core/thread_state.hpp); a wait or report of an unbound thread, to the rank that was attached
// first.
#include <distrun/plugin/sdk/detail/runtime.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/attach/operator_trace.hpp>
#include <distrun/runtime/attach/rank_line.hpp>
#include <distrun/runtime/collectives/debug_level.hpp>
#include <distrun/runtime/collectives/groups.hpp>
#include <distrun/runtime/core/backends.hpp>
#include <distrun/runtime/core/hosts.hpp>
#include <distrun/runtime/core/inline_function.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/core/tracing.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/order_report.hpp>
#include <distrun/runtime/future/handler_pool.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/tensor/operators/random.hpp>

namespace distrun::runtime {
namespace {

// The ranks of the process. Never destroyed: threads may report until the process ends.
class Ranks {
 public:
  void attach(const distrun_rank& rank);
  void detach(const distrun_rank& rank);
  void keep_open(const distrun_rank& rank);
  void release(const distrun_rank& rank);
  core::RankState& find_state_of(const distrun_rank& rank);  // without the lock

 private:
  struct Attached {
    const distrun_rank* rank;
    core::RankState* state;
  };

  core::RankState& state_of(const distrun_rank& rank);
  core::RankLine* line_of(const distrun_rank& rank);
  void report(const device::OrderReport& found);

  std::mutex mutex_;
  // Guarded by mutex_.
  bool chosen_ = false;
  std::vector<Attached> attached_;
  int debug_level_ = 0;  // of groups, as of the first of these attachments, or of its suite's set-up
  std::map<void*, std::unique_ptr<core::RankLine>> lines_;  // by the rank's wait context; kept
  std::map<int, std::unique_ptr<core::RankState>> states_;  // of ranks that are threads; kept
};

Ranks& ranks() {
  static auto* const only = new Ranks;
  return *only;
}

// Each rank has different delays, repeated in each run with the same seed.
device::GpuSettings settings_of(const distrun_rank& rank) {
  device::GpuSettings settings;
  settings.driver = std::string(rank.gpu_driver.data, rank.gpu_driver.size);
  settings.seed = base::derive_seed(rank.seed, "devices of rank " + std::to_string(rank.rank));
  settings.check_order = true;
  if (settings.driver == "virtual") settings.devices = rank.gpus;
  if (settings.driver == "virtual" && rank.gpus == 0) settings.driver = "none";
  return settings;
}

std::size_t explain(const void* address, char* text, std::size_t size) {
  return device::describe_address(address, text, size);
}

// Reports an error that does not end the rank's body. If it follows from another rank's failure, `because_of` is that
// rank (otherwise -1), and this rank's outcome follows from it, too.
void tell_error(const distrun_rank& rank, std::string_view type, std::string_view text, base::Location where,
                int because_of = -1) {
  distrun_error error{};
  error.size = sizeof error;
  error.abi = DISTRUN_ABI;
  error.type = lend(type);
  error.text = lend(text);
  error.file = lend(where.file);
  error.line = where.line;
  error.because_of = because_of;
  error.ends_body = because_of >= 0 ? 1 : 0;
  rank.error(rank.self, &error);
}

// Code of the plugin that runs before the first rank exists may have used devices already.
void choose_driver(const distrun_rank& rank) {
  try {
    device::choose_gpu_driver(settings_of(rank));
  } catch (const base::Error& error) {
    tell_error(rank, "PluginError", std::string("the plugin used devices before its test: ") + error.what(), {});
  }
}

core::RankLine* Ranks::line_of(const distrun_rank& rank) {
  if (!has_waits(rank)) return nullptr;
  std::unique_ptr<core::RankLine>& line = lines_[rank.waits];
  if (line == nullptr) line = make_rank_line(rank);
  return line.get();
}

core::RankState& Ranks::state_of(const distrun_rank& rank) {
  if (rank.shares_process == 0) return core::process_rank_state();
  std::unique_ptr<core::RankState>& state = states_[rank.rank];
  if (state == nullptr) state = std::make_unique<core::RankState>();
  return *state;
}

core::RankState& Ranks::find_state_of(const distrun_rank& rank) {
  const std::lock_guard lock(mutex_);
  return state_of(rank);
}

void hear_of_failure(void* state, std::int32_t because_of, distrun_string why) {
  const auto failure = [&] { return core::PeerFailure{because_of, keep(why)}; };
  const auto brief = [&] { return core::PeerFailure{because_of, "a rank failed"}; };  // takes no memory
  static_cast<core::RankState*>(state)->fail_peer(base::if_memory(failure, brief));
}

void hear_of_death(void* state, std::int32_t rank) { static_cast<core::RankState*>(state)->lose_peer(rank); }

// An unbound thread shows its waits as those of the process's first rank.
void Ranks::attach(const distrun_rank& rank) {
  const std::lock_guard lock(mutex_);
  if (!chosen_) choose_driver(rank);
  core::set_rank_of_process(rank.rank);
  chosen_ = true;
  core::RankState& state = state_of(rank);
  state.set_number(rank.rank);
  attached_.push_back({&rank, &state});
  core::thread_state().rank = &state;
  state.use(line_of(rank));
  core::trace_rank(state, rank.rank);
  if (core::is_traced()) trace_operators();
  state.forget_failure();
  future::unseen_errors_of(state).take();  // of work that continued after its last test
  future::unseen_errors_of(state).take_failures();
  tensor::generator_of(state).set_seed(base::derive_seed(rank.seed, keep(rank.worker_name)));
  if (has_peers(rank)) rank.on_peer_failed(rank.self, hear_of_failure, &state);
  if (has_deaths(rank)) rank.on_peer_died(rank.self, hear_of_death, &state);
  if (attached_.size() > 1) return;
  debug_level_ = collectives::debug_level_number();
  core::process_rank_state().use(state.line());
  device::tell_order_reports_to([this](const device::OrderReport& found) { report(found); });
  if (has_waits(rank)) rank.explain_faults(rank.self, explain);
}

void tell_failure(const distrun_rank& rank, const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const base::Error& error) {
    tell_error(rank, error.type(), error.what(), error.where(), error.because_of());
  } catch (...) {
    tell_error(rank, "RuntimeError", future::describe_error(failure), {});
  }
}

// These often explain why something never arrived.
void tell_unseen_errors(const distrun_rank& rank, core::RankState& state) {
  for (const std::string& text : future::unseen_errors_of(state).take()) {
    rank.note(rank.self, lend("unseen error"), lend(text));
  }
  for (const std::exception_ptr& failure : future::unseen_errors_of(state).take_failures()) {
    tell_failure(rank, failure);
  }
}

constexpr base::Nanoseconds kEnding = std::chrono::milliseconds(50);  // for handlers that are about to end
constexpr std::size_t kToldMax = 10;

// Returns whether some still run after those that were about to end.
bool run_on(const future::HandlerPool& handlers) {
  board::WaitInfo info;
  info.name = "the end of its handlers";
  try {
    return !core::poll_until(info, base::deadline_after(kEnding), std::chrono::milliseconds(1),
                             [&] { return handlers.statistics().open == 0; });
  } catch (const base::PeerFailed&) {
    return false;  // the test has failed: no other one runs in this process
  }
}

// Reports handlers of a test that still run after its session is closed.
void tell_what_runs_on(const distrun_rank& rank, core::RankState& state) {
  const future::HandlerPool& handlers = future::handler_pool_of(state);
  if (!has_runs_on(rank) || !run_on(handlers)) return;
  const std::vector<future::HandlerPool::Begun> begun = handlers.begun();
  for (std::size_t i = 0; i < std::min(begun.size(), kToldMax); ++i) {
    const std::string what = describe(begun[i].task) + ", which has run for " +
                             base::human(base::system_clock().now() - begun[i].since) + " and is still running";
    rank.runs_on(rank.self, lend(what));
  }
  if (begun.size() <= kToldMax) return;
  const std::string more = std::to_string(begun.size() - kToldMax) + " more handlers";
  rank.runs_on(rank.self, lend(more));
}

// The lock is taken only after these: closing the session may report from other threads of the rank, which needs the
// lock, and leaving groups may wait for other ranks of the process, which are detached meanwhile.
void Ranks::detach(const distrun_rank& rank) {
  core::RankState& state = find_state_of(rank);
  const bool is_closed = rpc::end_session(state);
  collectives::leave_groups(state);
  if (is_closed) tell_what_runs_on(rank, state);
  const std::lock_guard lock(mutex_);
  if (has_peers(rank)) rank.on_peer_failed(rank.self, nullptr, nullptr);
  if (has_deaths(rank)) rank.on_peer_died(rank.self, nullptr, nullptr);
  tell_unseen_errors(rank, state);
  std::erase_if(attached_, [&](const Attached& each) { return each.rank == &rank; });
  if (!attached_.empty()) return;
  collectives::restore_debug_level(debug_level_);
  device::tell_order_reports_to({});
}

void Ranks::keep_open(const distrun_rank& rank) {
  core::RankState& state = find_state_of(rank);
  rpc::keep_session(state);
  collectives::keep_groups(state);
  const std::lock_guard lock(mutex_);
  debug_level_ = collectives::debug_level_number();
}

void Ranks::release(const distrun_rank& rank) {
  core::RankState& state = find_state_of(rank);
  rpc::release_session(state);
  collectives::release_groups(state);
}

// The violation does not stop the test: later results show its effect.
void Ranks::report(const device::OrderReport& found) {
  const std::lock_guard lock(mutex_);
  if (attached_.empty()) return;
  const auto is_here = [here = &core::rank_state()](const Attached& each) { return each.state == here; };
  const auto here = std::find_if(attached_.begin(), attached_.end(), is_here);
  const distrun_rank& rank = here != attached_.end() ? *here->rank : *attached_.front().rank;
  tell_error(rank, "StreamOrderError", found.text, found.second);
}

}  // namespace
}  // namespace distrun::runtime

void distrun_runtime_backends(void* context,
                              void (*add)(void*, distrun_string, std::int32_t, std::int32_t, std::int32_t)) {
  for (const distrun::core::Backend& each : distrun::core::backends()) {
    add(context, distrun::runtime::lend(each.name), each.version[0], each.version[1], each.version[2]);
  }
}

void distrun_runtime_attach(const distrun_rank* rank) { distrun::runtime::ranks().attach(*rank); }
void distrun_runtime_detach(const distrun_rank* rank) { distrun::runtime::ranks().detach(*rank); }
void distrun_runtime_keep(const distrun_rank* rank) { distrun::runtime::ranks().keep_open(*rank); }
void distrun_runtime_release(const distrun_rank* rank) { distrun::runtime::ranks().release(*rank); }

std::int32_t distrun_runtime_read_debug_level(std::int32_t* before) {
  *before = distrun::collectives::debug_level_number();
  try {
    distrun::collectives::set_debug_level_from_environment();
    return DISTRUN_OK;
  } catch (const distrun::base::Error&) {
    return DISTRUN_INVALID;
  }
}
std::int32_t distrun_runtime_may_wait(distrun_string doing, distrun_sink why, void* context) {
  const auto refusal = distrun::core::inline_refusal(std::string_view(doing.data, doing.size));
  if (!refusal) return DISTRUN_OK;
  why(context, refusal->data(), refusal->size());
  return DISTRUN_INVALID;
}

void distrun_runtime_restore_debug_level(std::int32_t before) { distrun::collectives::restore_debug_level(before); }

void* distrun_runtime_bind(const distrun_rank* rank) {
  return std::exchange(distrun::core::thread_state().rank, &distrun::runtime::ranks().find_state_of(*rank));
}
void distrun_runtime_unbind(void* before) {
  distrun::core::thread_state().rank = static_cast<distrun::core::RankState*>(before);
}
