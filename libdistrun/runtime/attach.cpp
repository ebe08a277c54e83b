// The runtime's side of plugin/sdk/detail/runtime.h: while a test runs, its rank's settings, board and reports are
// those of devices.
//
//   first attach of the process   the GPU driver is chosen, not made: that happens on first use
//   each attach                   waits are shown on the rank's board; what breaks stream order is its error;
//                                 its random numbers begin anew
//   detach                        reports go to standard error again; waits that are still shown stay so
//
// Ranks that are threads are attached side by side: a wait, a report or a random number belongs to the rank whose
// thread, or whose task (runtime/device/thread_state.hpp), it is made on; a wait or report of a thread that nobody's
// is, to the rank that was attached first.
#include <distrun/plugin/sdk/detail/runtime.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/device/blocking.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/order_report.hpp>
#include <distrun/runtime/device/thread_state.hpp>
#include <distrun/runtime/tensor/operators/random.hpp>

namespace distrun::runtime {
namespace {

// Whether a field is there, in a distrun that may be older.
bool has_waits(const distrun_rank& rank) noexcept {
  return rank.size >= offsetof(distrun_rank, explain_faults) + sizeof rank.explain_faults;
}

distrun_string lend(std::string_view text) noexcept { return {text.data(), text.size()}; }

// A rank's board. Lives on: a thread may wait longer than its test runs.
class Board final : public device::WaitBoard {
 public:
  explicit Board(const distrun_rank& rank) noexcept
      : waits_(rank.waits), begin_(rank.wait_begin), end_(rank.wait_end) {}

  int begin_wait(const board::WaitInfo& info) noexcept override {
    return begin_(waits_, static_cast<std::int32_t>(info.kind), lend(info.name), info.site.file, info.site.line);
  }
  void end_wait(int number) noexcept override { end_(waits_, number); }

 private:
  void* waits_;
  decltype(distrun_rank::wait_begin) begin_;
  decltype(distrun_rank::wait_end) end_;
};

// What the process knows of its ranks. Never destroyed: threads may report until the process ends.
class Ranks {
 public:
  void attach(const distrun_rank& rank);
  void detach(const distrun_rank& rank);

 private:
  struct Attached {
    const distrun_rank* rank;
    device::WaitBoard* board;
  };

  device::WaitBoard* board_of(const distrun_rank& rank);
  void seed_random(const distrun_rank& rank);
  void report(const device::OrderReport& found);

  std::mutex mutex_;
  // Guarded by mutex_.
  bool chosen_ = false;
  std::vector<Attached> attached_;
  std::map<void*, std::unique_ptr<Board>> boards_;  // by what the rank calls them; kept
  std::map<int, tensor::Generator> generators_;     // by rank, where they are threads; kept
};

Ranks& ranks() {
  static auto* const only = new Ranks;
  return *only;
}

// Each rank's delays are its own, and the same in each run with the seed.
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

// An error that does not end the rank's body.
void tell_error(const distrun_rank& rank, std::string_view type, std::string_view text, base::Location where) {
  distrun_error error{};
  error.size = sizeof error;
  error.abi = DISTRUN_ABI;
  error.type = lend(type);
  error.text = lend(text);
  error.file = lend(where.file);
  error.line = where.line;
  error.because_of = -1;
  rank.error(rank.self, &error);
}

// Code of the plugin that runs before any rank is there may have used devices already.
void choose_driver(const distrun_rank& rank) {
  try {
    device::choose_gpu_driver(settings_of(rank));
  } catch (const base::Error& error) {
    tell_error(rank, "PluginError", std::string("the plugin has used devices before its test: ") + error.what(), {});
  }
}

device::WaitBoard* Ranks::board_of(const distrun_rank& rank) {
  if (!has_waits(rank)) return nullptr;
  std::unique_ptr<Board>& board = boards_[rank.waits];
  if (board == nullptr) board = std::make_unique<Board>(rank);
  return board.get();
}

void Ranks::seed_random(const distrun_rank& rank) {
  const std::uint64_t seed = base::derive_seed(rank.seed, {rank.worker_name.data, rank.worker_name.size});
  if (rank.shares_process == 0) return tensor::process_generator().set_seed(seed);
  tensor::Generator& generator = generators_.try_emplace(rank.rank, seed).first->second;
  generator.set_seed(seed);
  device::thread_state().generator = &generator;
}

void Ranks::attach(const distrun_rank& rank) {
  const std::lock_guard lock(mutex_);
  if (!chosen_) choose_driver(rank);
  chosen_ = true;
  device::WaitBoard* const board = board_of(rank);
  attached_.push_back({&rank, board});
  device::thread_state().board = board;
  seed_random(rank);
  if (attached_.size() > 1) return;
  device::show_waits_on(board);
  device::tell_order_reports_to([this](const device::OrderReport& found) { report(found); });
  if (has_waits(rank)) rank.explain_faults(rank.self, explain);
}

void Ranks::detach(const distrun_rank& rank) {
  const std::lock_guard lock(mutex_);
  std::erase_if(attached_, [&](const Attached& each) { return each.rank == &rank; });
  if (attached_.empty()) device::tell_order_reports_to({});
}

// What comes after it shows what comes of it.
void Ranks::report(const device::OrderReport& found) {
  const std::lock_guard lock(mutex_);
  if (attached_.empty()) return;
  const auto is_here = [board = device::thread_state().board](const Attached& each) { return each.board == board; };
  const auto here = std::find_if(attached_.begin(), attached_.end(), is_here);
  const distrun_rank& rank = here != attached_.end() ? *here->rank : *attached_.front().rank;
  tell_error(rank, "StreamOrderError", found.text, found.second);
}

}  // namespace
}  // namespace distrun::runtime

void distrun_runtime_attach(const distrun_rank* rank) { distrun::runtime::ranks().attach(*rank); }
void distrun_runtime_detach(const distrun_rank* rank) { distrun::runtime::ranks().detach(*rank); }
