// Answers to calls. A short one is decoded on the thread that has read it, any other on a handler thread. The value
// must be decoded by the call's deadline, since the decoders of classes may take any time.
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/calls/profiled_call.hpp>
#include <distrun/runtime/rpc/calls/served_profile.hpp>
#include <distrun/runtime/rpc/calls/task.hpp>
#include <distrun/runtime/rpc/calls/traced_call.hpp>
#include <distrun/runtime/rpc/devices/message_step.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kShortAnswer = 64 * 1024;  // bytes; decoded within the precision of deadlines

bool is_read_by_handler(const Message& answer) {
  return answer.kind == MessageKind::Reply &&
         (!is_plain(answer) || has_packed_tensors(answer) || brings_many_events(answer));
}

bool may_be_read_late(const PendingCall& call, const Message& answer) {
  if (answer.kind != MessageKind::Reply || call.deadline == core::kForever) return false;
  return answer.payload.size() > kShortAnswer || is_read_by_handler(answer);
}

}  // namespace

// Drops an answer that arrives after the call's deadline, even if the timeout thread has had no CPU since.
std::optional<PendingCall> Calls::take_answered(const Message& answer, WorkerKey from) {
  std::optional<PendingCall> call = pending_.take(answer.id, from);
  if (!call || call->deadline == core::kForever || base::system_clock().now() < call->deadline) return call;
  expire(std::move(*call));
  return std::nullopt;
}

// Lives from before a call stops being pending until its waiters have the answer, so that some count includes it.
class Calls::Ending {
 public:
  explicit Ending(Calls& calls) noexcept : calls_(&calls) { calls.ending_.fetch_add(1); }
  ~Ending() {
    if (calls_ != nullptr) calls_->ending_.fetch_sub(1);
  }
  Ending(Ending&& other) noexcept : calls_(std::exchange(other.calls_, nullptr)) {}
  Ending& operator=(Ending&&) = delete;

 private:
  Calls* calls_;
};

std::unique_ptr<future::HandlerTask> Calls::end_call(const WorkerInfo& from, Message&& message) noexcept {
  Ending ending(*this);
  std::optional<PendingCall> call = take_answered(message, from.key());
  try {
    return end_taken(from, call, std::move(message), std::move(ending));
  } catch (...) {
    if (call && call->future != nullptr) end_unread(*call, message);
    return nullptr;
  }
}

// There is no memory, or no thread, to read the answer.
void Calls::end_unread(const PendingCall& call, const Message& message) noexcept {
  const WorkerKey peer = call.peer;
  base::if_memory([&] {
    const WorkerInfo from(workers_.name_of(peer), peer);
    drop_references(references_.get(), from, message);
    devices_->discard(message, from);
  });
  pending_.drop(call.id);
  const auto why = [] {
    return Error(ErrorKind::Overloaded, "MemoryError", "there is no memory, or no thread, to read its answer");
  };
  fail_pending(call, base::if_memory(why, [] { return base::out_of_memory(ErrorKind::Overloaded); }));
}

// The task of a handler that reads an answer.
struct Calls::Complete {
  Complete(std::shared_ptr<Calls> self_, Ending ending_, PendingCall&& call_, Message&& message_) noexcept
      : self(std::move(self_)), ending(std::move(ending_)), call(std::move(call_)), message(std::move(message_)) {}
  Complete(Complete&&) noexcept = default;
  Complete& operator=(Complete&&) = delete;
  ~Complete() {
    if (self != nullptr && call.future != nullptr && !was_run) self->end_unread(call, message);
  }
  void operator()() {
    was_run = true;
    self->complete(call, std::move(message));
  }

  std::shared_ptr<Calls> self;  // outlives `ending`
  Ending ending;
  PendingCall call;
  Message message;
  bool was_run = false;
};

std::unique_ptr<future::HandlerTask> Calls::end_taken(const WorkerInfo& from, std::optional<PendingCall>& call,
                                                      Message&& message, Ending ending) {
  if (!message.unreadable.empty()) return end_unreadable(call, from, message), nullptr;
  if (is_read_by_handler(message)) {
    if (!call) {  // the call has ended
      drop_references(references_.get(), from, message);
      devices_->discard(message, from);
      return nullptr;
    }
    if (call->deadline != core::kForever) begin_reading(*call);
    return task_of(Complete(shared_from_this(), std::move(ending), std::move(*call), std::move(message)));
  }
  if (call) complete(*call, std::move(message));
  return nullptr;
}

// Until complete() has the value, the call can expire like an unanswered one.
void Calls::begin_reading(PendingCall call) {
  const base::TimePoint deadline = call.deadline;
  call.waits = PendingCall::Waits::ForDecoder;
  call.bytes = 0;
  if (pending_.add(std::move(call))) pending_.watch_timeouts(deadline);
}

void Calls::end_unreadable(const std::optional<PendingCall>& call, const WorkerInfo& from, const Message& message) {
  drop_references(references_.get(), from, message);
  devices_->discard(message, from);
  if (!call) return;
  fail_pending(*call, Error(ErrorKind::Overloaded, "MemoryError",
                            "the answer of " + from.name() + " could not be taken: " + message.unreadable));
}

Value Calls::read_reply_of(const PendingCall& call, const Message& message) {
  const bool has_forks = has_references(message);
  if (!has_forks && find_section(message, SectionTag::Autograd) == nullptr) return read_reply(message);
  const WorkerInfo from(workers_.name_of(call.peer), call.peer);
  std::optional<Unpacking> unpacking;
  if (has_forks) unpacking.emplace(references_.get(), from, message);
  const std::unique_ptr<Arrival> arrival = arrival_of(autograd_.get(), from, message, device_map_for(from));
  const Arriving arriving(arrival.get());
  return read_reply(message);
}

// A value on GPUs arrives on separate streams. The streams of a waiting thread wait for them, and they wait until the
// callee has read the arguments, so that a caller that has waited may modify these.
void Calls::complete(const PendingCall& call, Message message) noexcept {
  const TracedReply traced(call);
  const bool may_be_late = may_be_read_late(call, message);
  std::optional<core::ThreadStateGuard> guard;
  std::shared_ptr<StreamLease> streams;
  std::exception_ptr error;
  Value value;
  try {
    if (devices_->is_read_by(message, call.peer)) {
      guard.emplace(own_state());
      streams = devices_->lease_for(message);
      const WorkerInfo peer(workers_.name_of(call.peer), call.peer);
      const MessageStep step("the answer of", call.name, "by", peer.name(), call.future->info().made_at);
      devices_->unpack(message, peer);
      devices_->follow_reads(call.peer);
    }
    if (message.kind == MessageKind::Reply) {
      value = read_reply_of(call, message);
    } else {
      wire::ByteReader bytes(wire::view_of(message.payload));
      error = read_error(bytes);
    }
  } catch (...) {
    error = std::current_exception();
  }
  if (may_be_late) pending_.drop(call.id);
  if (error != nullptr && call.again != nullptr && send_again(call, error)) return;
  if (call.profiled != nullptr) call.profiled->end(&message);
  if (may_be_late && base::system_clock().now() >= call.deadline) return fail_expired(call, kUnread);
  if (!call.future->try_begin()) return;
  if (error != nullptr) return call.future->end(std::move(error));
  if (streams != nullptr) call.future->comes_after(devices_->devices());
  call.type->store(*call.future, std::move(value));
}

}  // namespace distrun::rpc
