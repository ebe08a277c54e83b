#include <distrun/runtime/collectives/call_engine.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/collectives/checks.hpp>
#include <distrun/runtime/collectives/debug_level.hpp>
#include <distrun/runtime/collectives/explain.hpp>
#include <distrun/runtime/collectives/profiled_call.hpp>
#include <distrun/runtime/core/inline_function.hpp>
#include <distrun/runtime/core/tracing.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::collectives {
namespace {

constexpr base::Nanoseconds kSettleMost = std::chrono::seconds(10);

// Describes a call in a trace.
trace::SliceInfo slice_of(const Call& call) noexcept {
  trace::SliceInfo info;
  info.kind = trace::Kind::Collective;
  info.name = name_of(call.kind);
  info.id = call.number;
  info.place = call.site.file;
  info.line = call.site.line;
  return info;
}

// Includes the results: a call that only reads its tensor still returns it as its result.
std::vector<device::Device> gpus_of(const Job& job) {
  std::vector<device::Device> all = job.bytes.gpus();
  for (const Tensor& result : job.results) {
    const device::Device at = result.device();
    if (!at.is_cpu() && std::find(all.begin(), all.end(), at) == all.end()) all.push_back(at);
  }
  return all;
}

// Makes pool streams current on all of these GPUs for a scope.
class PoolStreams {
 public:
  explicit PoolStreams(const std::vector<device::Device>& gpus) {
    for (const device::Device gpu : gpus) {
      guards_.push_back(std::make_unique<device::StreamGuard>(device::stream_from_pool(gpu)));
    }
  }

 private:
  std::vector<std::unique_ptr<device::StreamGuard>> guards_;
};

// Finishes a transfer on a handler.
class TransferTask final : public future::HandlerTask {
 public:
  TransferTask(std::function<void()> work, Future<TensorList> future)
      : work_(std::move(work)), future_(std::move(future)) {}
  void run() noexcept override {
    try {
      const PoolStreams streams(future_.state()->info().devices);
      work_();
    } catch (...) {
      future_.set_error(std::current_exception());
    }
  }
  future::TaskInfo info() const noexcept override { return {.is_users = false}; }

 private:
  std::function<void()> work_;
  Future<TensorList> future_;
};

// Returns null for a backend of the other kind.
template <class Kind>
Kind* backend_of(const AnyBackend& made) noexcept {
  const auto* const own = std::get_if<std::unique_ptr<Kind>>(&made);
  return own == nullptr ? nullptr : own->get();
}

}  // namespace

CallEngine::CallEngine(GroupInfo info, std::string backend, base::Nanoseconds timeout, Store& store,
                       const BackendOptions& options)
    : info_(std::move(info)),
      timeout_(timeout),
      name_(std::move(backend)),
      backend_(make_backend(name_, info_, store, base::deadline_after(timeout), options)),
      host_(backend_of<HostBackend>(backend_)),
      gpus_(backend_of<DeviceBackend>(backend_)),
      queue_(std::make_shared<CallQueue>(future::handler_pool())),
      rank_(core::rank_state()) {}

Backend& CallEngine::backend() const noexcept { return host_ != nullptr ? static_cast<Backend&>(*host_) : *gpus_; }

std::uint64_t CallEngine::calls() const {
  if (gpus_ == nullptr) return queue_->numbers_given();
  const std::lock_guard lock(putting_);
  return put_;
}

void CallEngine::stay_out(base::Nanoseconds timeout) {
  if (gpus_ != nullptr) gpus_->stay_out(base::deadline_after(timeout));
}

std::optional<device::Device> CallEngine::gpu() const noexcept {
  return gpus_ == nullptr ? std::nullopt : std::optional(gpus_->gpu());
}

device::Device CallEngine::one_gpu(CallKind kind, const TensorList& tensors, Location site) const {
  const Checks check(info_, kind, site);
  for (const Tensor& each : tensors) {
    if (each.device().is_cpu()) {
      check.refuse("backend " + name_ + " needs tensors on GPUs, but a tensor is on the cpu; move it to " +
                   to_string(gpus_->gpu()) + ", or use backend " + host_backends_of_processes());
    }
    if (each.device() != tensors.front().device()) {
      check.refuse("tensors are on " + to_string(tensors.front().device()) + " and " + to_string(each.device()) +
                   "; all tensors of a call must be on one GPU");
    }
  }
  return tensors.empty() ? gpus_->gpu() : tensors.front().device();
}

base::Nanoseconds CallEngine::timeout(const CallOptions& options) const { return options.timeout.value_or(timeout_); }

// The text "no memory" is short enough to need no allocation.
void CallEngine::end(Leaving how, std::string_view why, int because_of) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (over_.empty()) over_because_of_ = because_of;
    if (over_.empty()) base::if_memory([&] { over_ = why.empty() ? "it ended" : why; }, [&] { over_ = "no memory"; });
  }
  backend().leave(how, over_);  // over_ no longer changes
}

void CallEngine::wait_for_calls(std::string_view why) const {
  board::WaitInfo info;
  info.kind = board::WaitKind::Collective;
  info.name = why;
  queue_->wait_for_posted(info, base::deadline_after(kSettleMost));
}

void CallEngine::leave() {
  wait_for_calls("the end of its calls, to leave the group");
  end(Leaving::Done, "this rank has left it");
}

void CallEngine::settle() {
  wait_for_calls("the end of its calls, to end the test");
  if (gpus_ != nullptr) gpus_->settle(base::deadline_after(kSettleMost));
}

std::string CallEngine::why_over() const {
  std::string over = gpus_ == nullptr ? "" : gpus_->why_over();
  const std::lock_guard lock(mutex_);
  return over_.empty() ? over : over_;
}

void CallEngine::refuse_if_inherited(Location site) const {
  if (!mark_.is_inherited()) return;
  mark_.refuse("process group \"" + info_.name + "\"",
               "use it in the parent process, fork before the group is created, or exec() a program", site);
}

// Marks the error that ended the group as seen, since the caller gets it now.
void CallEngine::refuse_if_over(Location site) const {
  refuse_if_inherited(site);
  const std::string why = why_over();
  if (why.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (ended_by_ != nullptr) ended_by_->mark_seen();
  }
  throw over(why, site);
}

Error CallEngine::over(const std::string& why, Location site) const {
  Error error(ErrorKind::Cancelled, "DistBackendError",
              "group " + info_.name + " can no longer be used: " + why + "; create a new one", site);
  const std::lock_guard lock(mutex_);
  return error.with_cause(over_because_of_);
}

void CallEngine::note_end(const std::shared_ptr<future::FutureState>& state, const std::exception_ptr& error) {
  const std::lock_guard lock(mutex_);
  if (ended_by_ == nullptr && is_mismatch(error)) ended_by_ = state;
}

std::shared_ptr<Job> CallEngine::job(CallKind kind, const Tensor& like, const CallOptions& options,
                                     Location site) const {
  core::refuse_in_inline_function("calls a collective", site);
  refuse_if_over(site);
  auto made = std::make_shared<Job>();
  if (gpus_ != nullptr) made->bytes = CallBytes(CallBytes::Where::Gpu);
  Call& call = made->call;
  call.kind = kind;
  call.timeout = timeout(options);
  call.deadline = base::deadline_after(call.timeout);
  call.site = site;
  call.is_strict = debug_level() == DebugLevel::Detail;
  if (!like.defined()) return made;
  call.dtype = like.dtype();
  call.sizes = ShownSizes(like.sizes());
  return made;
}

// Writes to the board: "all_reduce of world: float32 [2, 3]".
void CallEngine::note(const Job& job) const {
  core::RankLine* const line = rank_.line();
  if (line == nullptr) return;
  std::array<char, board::kNameSize> text;
  const int size =
      std::snprintf(text.data(), text.size(), "%s of %s: %s %s", name_of(job.call.kind), info_.name.c_str(),
                    std::string(name_of(job.call.dtype)).c_str(), to_string(job.call.sizes).c_str());
  line->note(board::WaitKind::Collective,
             {text.data(), std::min(text.size() - 1, static_cast<std::size_t>(std::max(size, 0)))}, -1,
             job.call.number);
}

void CallEngine::run(Job& job) {
  const core::TraceSlice traced(core::tracer(), [&] { return slice_of(job.call); });
  try {
    if (const std::string why = why_over(); !why.empty()) throw over(why, job.call.site);
    note(job);
    host_->run(job.call);
  } catch (const std::exception& error) {
    end(Leaving::GaveUp, error.what(), cause_of(error));
    throw;
  }
  if (job.unpack) job.unpack();
  job.bytes.put_back();
}

Work CallEngine::start(const std::shared_ptr<Job>& job, const CallOptions& options) {
  const profiler::Span span = profiled(job->call, info_);
  if (job->results.empty()) job->results = job->bytes.written();
  if (gpus_ != nullptr) return put_on_stream(job, options);
  if (!options.async) {
    if (const std::uint64_t number = queue_->try_begin()) {
      const std::unique_ptr<CallQueue, void (*)(CallQueue*)> turn(queue_.get(), [](CallQueue* queue) { queue->end(); });
      job->call.number = number;
      run(*job);
      return {job->call.kind, number, std::move(job->results)};
    }
  }
  const Work work = start_later(job);
  if (!options.async) work.wait({}, job->call.site);
  return work;
}

Work CallEngine::start_later(const std::shared_ptr<Job>& job) {
  future::FutureInfo info(job->call.site);
  info.kind = board::WaitKind::Collective;
  info.name = name_of(job->call.kind);
  info.devices = gpus_of(*job);
  info.is_failure = is_mismatch;
  for (const int rank : info_.ranks) {
    if (rank != info_.ranks[static_cast<std::size_t>(info_.rank)]) info.peers.add(rank);
  }
  std::optional<Work> work;
  queue_->post([&](std::uint64_t number) {
    job->call.number = info.id = number;
    const auto future = Future<TensorList>::of(std::move(info));
    work.emplace(job->call.kind, number, future, nullptr);
    return [self = shared_from_this(), job, future] {
      try {
        const PoolStreams streams(future.state()->info().devices);
        self->run(*job);
        future.set_result(job->results);
      } catch (...) {
        self->note_end(future.state(), std::current_exception());
        future.set_error(std::current_exception());
      }
    };
  });
  return *work;
}

// Point-to-point messages have no number among the collectives.
Work CallEngine::put_on_stream(const std::shared_ptr<Job>& job, const CallOptions& options) {
  const Call& call = job->call;
  const core::TraceSlice traced(core::tracer(), [&] { return slice_of(call); });
  const TensorList touched = job->bytes.touched();
  const device::Device gpu = one_gpu(call.kind, touched, call.site);
  if (const std::string why = gpus_->why_not(call); !why.empty()) Checks(info_, call.kind, call.site).refuse(why);
  const auto behind = [job] {
    if (job->unpack) job->unpack();
    job->bytes.put_back();
  };
  std::shared_ptr<StreamWork> put;
  try {
    std::unique_lock lock(putting_, std::defer_lock);
    if (!is_point_to_point(call.kind)) {
      lock.lock();
      job->call.number = ++put_;
      note(*job);
    }
    put = gpus_->put({call, gpu, touched, behind, options.async});
  } catch (const std::exception& error) {
    end(Leaving::GaveUp, error.what(), cause_of(error));
    throw;
  }
  const Work work(call.kind, call.number, job->results, std::move(put), call.root);
  if (!options.async) work.wait({}, call.site);
  return work;
}

// Each async transfer waits on a separate handler thread, so that others cannot block it.
Work CallEngine::finish(CallKind kind, std::shared_ptr<Transfer> transfer, std::shared_ptr<CallBytes> bytes,
                        const CallOptions& options, Location site) {
  const auto source = std::make_shared<int>(-1);
  const base::TimePoint until = base::deadline_after(timeout(options));
  future::FutureInfo info(site);
  info.kind = kind == CallKind::Send ? board::WaitKind::Send : board::WaitKind::Receive;
  info.name = name_of(kind);
  info.devices = bytes->gpus();
  const auto future = Future<TensorList>::of(std::move(info));
  auto work = [transfer = std::move(transfer), bytes = std::move(bytes), source, until, future] {
    *source = transfer->finish(until);
    bytes->put_back();
    future.set_result(bytes->written());
  };
  if (!options.async) {
    work();
  } else {
    future::handler_pool().post(std::make_unique<TransferTask>(std::move(work), future));
  }
  return {kind, 0, future, source};
}

}  // namespace distrun::collectives
