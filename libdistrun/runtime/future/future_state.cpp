#include <distrun/runtime/future/future_state.hpp>

#include <algorithm>
#include <typeinfo>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/leave_to_parent.hpp>
#include <distrun/runtime/core/inline_function.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/future/handler_pool.hpp>
#include <distrun/runtime/future/progress.hpp>

namespace distrun::future {
namespace {

std::string describe(const FutureInfo& info) {
  std::string text = *info.name == '\0' ? "a future" : "future \"" + std::string(info.name) + "\"";
  if (info.id != 0) text += " #" + std::to_string(info.id);
  if (info.made_at.line == 0) return text;
  return text + " made at " + info.made_at.file + ":" + std::to_string(info.made_at.line);
}

board::WaitInfo wait_for(const FutureInfo& info, base::Location site) {
  board::WaitInfo shown;
  shown.kind = info.kind;
  shown.name = info.name;
  shown.id = info.id;
  shown.site = site;
  shown.peers = info.peers;
  if (!info.peers.empty()) shown.rule = board::PeerRule::All;
  return shown;
}

// Returns the error of futures that depend on one that can no longer be completed.
std::exception_ptr abandoned(const FutureInfo& info) noexcept {
  return base::error_if_memory([&] {
    return Error(ErrorKind::Cancelled,
                 describe(info) + " was destroyed before it was complete, so it can no longer be completed");
  });
}

std::exception_ptr no_thread_for(const FutureInfo& info) noexcept {
  return base::error_if_memory(
      [&] { return Error(ErrorKind::Overloaded, "no thread can be started for the callbacks of " + describe(info)); });
}

// Throws a copy of the error: each thread that waits for a future may add to the error that it catches.
[[noreturn]] void throw_own(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const PeerFailed& caught) {
    if (typeid(caught) != typeid(PeerFailed)) throw;
    throw PeerFailed(caught);  // NOLINT(cert-err60-cpp): copies its texts
  } catch (const Error& caught) {
    if (typeid(caught) != typeid(Error)) throw;
    throw Error(caught);  // NOLINT(cert-err60-cpp)
  }
}

class Counted {
 public:
  explicit Counted(std::atomic<int>& number) : number_(number) { ++number_; }
  ~Counted() { --number_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<int>& number_;
};

struct QuickRun {
  std::shared_ptr<FutureState> done;
  std::unique_ptr<Continuation> continuation;
};
using QuickRuns = std::vector<QuickRun>;
constinit thread_local QuickRuns* quick_runs = nullptr;  // the list of the runs in progress on this thread

// Runs one after the other: a run may complete futures with runs, and recursion would be as deep as the chain is long.
// Recurses only if there is no memory for the list.
void run_quickly(QuickRun run) noexcept {
  const auto run_it = [](QuickRun each) { each.continuation->run(each.done); };
  if (quick_runs != nullptr) {
    return base::if_memory([&] { quick_runs->push_back(std::move(run)); }, [&] { run_it(std::move(run)); });
  }
  QuickRuns more;  // allocates only when a run completes another future with a quick run
  quick_runs = &more;
  run_it(std::move(run));
  while (!more.empty()) {
    for (QuickRun& each : std::exchange(more, {})) run_it(std::move(each));
  }
  quick_runs = nullptr;
}

}  // namespace

// The continuations of one future, in their order. If no thread can be created, it is destroyed without having run.
class FutureTask final : public HandlerTask {
 public:
  FutureTask(std::shared_ptr<FutureState> done, std::vector<FutureState::Attached> attached)
      : done_(std::move(done)), attached_(std::move(attached)) {}
  ~FutureTask() override {
    if (was_run_) return;
    done_->abandon(attached_, no_thread_for(done_->info()));
  }

  void run() noexcept override {
    was_run_ = true;
    for (FutureState::Attached& each : attached_) {
      done_->run(each);
      each.continuation.reset();  // releases its objects before the others run
    }
  }
  TaskInfo info() const noexcept override { return {done_->info().name, -1, done_->info().made_at}; }

 private:
  std::shared_ptr<FutureState> done_;
  std::vector<FutureState::Attached> attached_;
  bool was_run_ = false;
};

FutureInfo::FutureInfo(base::Location made_at_) : kind(board::WaitKind::Future), made_at(made_at_) {}

bool FutureInfo::is_by_hand() const noexcept { return kind == board::WaitKind::Future && !follows_runtime; }

// Creates the rank's unseen errors now, since that may run out of memory.
FutureState::FutureState(FutureInfo info) : info_(std::move(info)), rank_(core::rank_state()) {
  unseen_errors_of(rank_);
}

// A forked process leaves the parent's continuations alone: the futures that they complete, and their reports, are the
// parent's.
FutureState::~FutureState() {
  if (attached_.empty()) return;
  if (mark_.is_inherited()) {
    base::leave_to_parent(std::move(attached_));
    return;
  }
  abandon(attached_, abandoned(info_));
}

std::exception_ptr FutureState::error() const {
  mark_seen();
  return error_;
}

void FutureState::throw_if_failed() const {
  if (error_ == nullptr) return;
  mark_seen();
  throw_own(error_);
}

void FutureState::mark_seen() const { unseen_.see(); }

void FutureState::refuse_if_inherited(base::Location site) const {
  if (info_.is_by_hand() || !mark_.is_inherited()) return;
  mark_.refuse(describe(info_) + ", which was incomplete at the fork,", "wait for it in the parent process", site);
}

void FutureState::wait(base::TimePoint deadline, base::Location site, std::optional<base::Nanoseconds> timeout) const {
  if (is_done()) return;
  refuse_if_inherited(site);
  core::refuse_in_inline_function("waits for an incomplete future", site);
  const base::TimePoint begin = base::system_clock().now();
  if (info_.progress != nullptr) {
    help(deadline);
    if (is_done()) return;
  }
  std::unique_lock lock(mutex_);
  const Counted waits(waiting_);
  const core::WaitEnd end =
      core::wait_for_peers(wait_for(info_, site), lock, changed_, deadline, [this] { return is_done(); });
  if (end == core::WaitEnd::Ready) return;
  lock.unlock();
  if (end == core::WaitEnd::PeerFailed) core::throw_peer_failed("waiting for " + describe(info_), site);
  throw Error(ErrorKind::Timeout, "TimeoutError",
              describe(info_) + " was not done within " + base::human(timeout.value_or(deadline - begin)), site);
}

void FutureState::help(base::TimePoint deadline) const noexcept {
  class Done final : public Progress::Awaited {
   public:
    explicit Done(const FutureState& state) : state_(state) {}
    bool is_there() const noexcept override { return state_.is_done(); }

   private:
    const FutureState& state_;
  };
  info_.progress->help(Done(*this), deadline);
}

bool FutureState::try_begin() noexcept {
  Stage expected = Stage::Pending;
  return stage_.compare_exchange_strong(expected, Stage::Completing);
}

void FutureState::begin(base::Location site) {
  if (try_begin()) return;
  throw Error(ErrorKind::Failed, "Future can only be marked completed once: " + describe(info_) + " is", site);
}

void FutureState::end_with_value() noexcept {
  try {
    TensorList on_gpus;  // tensors on the CPU have no streams
    visit_value([&on_gpus](const Tensor& tensor) {
      if (!tensor.device().is_cpu()) on_gpus.push_back(tensor);
    });
    if (!on_gpus.empty() || !also_.empty()) {
      streams_.record(std::move(on_gpus), info_.any_device ? nullptr : &info_.devices, also_);
    }
  } catch (...) {
    return end(std::current_exception());
  }
  end(nullptr);
}

void FutureState::end(std::exception_ptr error) noexcept {
  std::vector<Attached> attached;
  bool is_awaited = false;
  {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    attached.swap(attached_);
    stage_.store(Stage::Done, std::memory_order_release);
    is_awaited = waiting_ > 0;
  }
  if (is_awaited) changed_.notify_all();
  if (error_ != nullptr) tell_failure();
  if (!attached.empty()) dispatch(std::move(attached));
}

// Adds the failure to the rank's last operations, to explain hangs; and to its report, unless the error is read.
void FutureState::tell_failure() noexcept {
  base::if_memory([this] {
    core::RankLine* const line = rank_.line();
    if (line == nullptr) return;
    const std::string name = *info_.name != '\0' ? info_.name + std::string(": ") : "";
    line->note(info_.kind, "failed: " + name + describe_error(error_), -1, info_.id);
  });
  if (info_.is_failure != nullptr && info_.is_failure(error_)) return unseen_.begin_failure(rank_, error_);
  unseen_.begin(rank_, [this] { return describe(info_) + " failed: " + describe_error(error_); });
}

void FutureState::tell_lost(const char* what, const std::exception_ptr& error) noexcept {
  unseen_errors_of(rank_).add_made([&] { return describe(info_) + ": " + what + ": " + describe_error(error); });
}

void FutureState::dispatch(std::vector<Attached> attached) noexcept {
  const auto users = std::stable_partition(attached.begin(), attached.end(),
                                           [](const Attached& each) { return each.continuation->is_quick(); });
  for (auto each = attached.begin(); each != users; ++each) {
    run_quickly({shared_from_this(), std::move(each->continuation)});
  }
  attached.erase(attached.begin(), users);
  if (attached.empty()) return;
  try {
    handler_pool_of(rank_).post(std::make_unique<FutureTask>(shared_from_this(), std::move(attached)));
  } catch (...) {
    // Unless there was no memory for the task, the task has abandoned them.
    if (!attached.empty()) abandon(attached, std::current_exception());
  }
}

void FutureState::abandon(const std::vector<Attached>& attached, const std::exception_ptr& why) noexcept {
  for (const Attached& each : attached) each.continuation->abandon(*this, why);
}

void FutureState::run(Attached& attached) noexcept {
  const core::ThreadStateGuard guard(std::move(attached.state));
  try {
    use_new_streams();
  } catch (...) {
    return attached.continuation->abandon(*this, std::current_exception());
  }
  attached.continuation->run(shared_from_this());
}

void FutureState::use_new_streams() const {
  for (const device::Device device : info_.devices) device::set_current_stream(device::stream_from_pool(device));
  streams_.follow();
}

void FutureState::attach(std::unique_ptr<Continuation> continuation) {
  if (!is_done()) refuse_if_inherited(info_.made_at);
  if (continuation->is_quick()) {
    std::unique_lock lock(mutex_);
    if (!is_done()) return void(attached_.push_back({std::move(continuation), {}}));
    lock.unlock();
    return run_quickly({shared_from_this(), std::move(continuation)});
  }
  Attached attached{std::move(continuation), core::thread_state()};
  {
    const std::lock_guard lock(mutex_);
    if (!is_done()) return void(attached_.push_back(std::move(attached)));
  }
  run(attached);
}

}  // namespace distrun::future
