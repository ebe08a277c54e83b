#include <distrun/runtime/rpc/calls/call_completions.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/board/describe.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/calls/call_codec.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/calls/task.hpp>
#include <distrun/runtime/rpc/calls/traced_call.hpp>
#include <distrun/runtime/rpc/devices/message_step.hpp>
#include <distrun/runtime/rpc/profile/profiled_call.hpp>
#include <distrun/runtime/rpc/profile/served_profile.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kWaitsTold = 3;  // waits of the other worker in the text of a timeout

// Returns what the worker does for the call, and besides: "; rank 1 runs it, and shows: barrier \"x\" for ranks 0, 2".
std::string shown_by(core::RankState& rank, const WorkerInfo& self, const PendingCall& call) {
  core::RankLine* const line = rank.line();
  std::optional<board::Shown> shown = line != nullptr ? line->look_at(call.peer.id) : std::nullopt;
  if (!shown) return "";
  std::vector<board::ShownWait>& waits = shown->waits;
  const std::size_t runs = std::erase_if(waits, [&](const board::ShownWait& each) {
    return each.kind == board::WaitKind::Handler && each.id == call.id && each.peers == std::vector<int>{self.id()};
  });
  if (call.peer.id == self.id()) {  // the caller's own wait is among them
    std::erase_if(waits, [&](const board::ShownWait& each) {
      return each.kind == board::WaitKind::RpcReply && each.id == call.id;
    });
  }
  std::string text = "; rank " + std::to_string(call.peer.id) + (runs != 0 ? " runs it" : " does not run it");
  for (std::size_t i = 0; i < std::min(waits.size(), kWaitsTold); ++i) {
    text += (i == 0 ? ", and shows: " : ", ") + board::describe(waits[i]);
  }
  return text;
}

std::string milliseconds(base::Nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

constexpr std::size_t kShortAnswer = 64 * 1024;  // bytes; decoded within the precision of deadlines

// Text of a timeout although the answer has arrived in time.
constexpr const char* kUnread = "; its answer came in time, but its value was not decoded by the deadline";

bool is_read_by_handler(const Message& answer) {
  return answer.kind == MessageKind::Reply &&
         (!is_plain(answer) || has_packed_tensors(answer) || brings_many_events(answer));
}

bool may_be_read_late(const PendingCall& call, const Message& answer) {
  if (answer.kind != MessageKind::Reply || call.deadline == core::kForever) return false;
  return answer.payload.size() > kShortAnswer || is_read_by_handler(answer);
}

}  // namespace

CallCompletions::CallCompletions(CallsShared& shared, SendAgain send_again)
    : shared_(shared),
      send_again_(std::move(send_again)),
      pending_([this](PendingCall call) { expire(std::move(call)); }) {}

// Drops an answer that arrives after the call's deadline, even if the timeout thread has had no CPU since.
std::optional<PendingCall> CallCompletions::take_answered(const Message& answer, WorkerKey from) {
  std::optional<PendingCall> call = pending_.take(answer.id, from);
  if (!call || call->deadline == core::kForever || base::system_clock().now() < call->deadline) return call;
  expire(std::move(*call));
  return std::nullopt;
}

// Lives from before a call stops being pending until its waiters have the answer, so that some count includes it.
class CallCompletions::Ending {
 public:
  explicit Ending(CallCompletions& all) noexcept : all_(&all) { all.ending_.fetch_add(1); }
  ~Ending() {
    if (all_ != nullptr) all_->ending_.fetch_sub(1);
  }
  Ending(Ending&& other) noexcept : all_(std::exchange(other.all_, nullptr)) {}
  Ending& operator=(Ending&&) = delete;

 private:
  CallCompletions* all_;
};

std::unique_ptr<future::HandlerTask> CallCompletions::receive(const WorkerInfo& from, Message&& message) noexcept {
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
void CallCompletions::end_unread(const PendingCall& call, const Message& message) noexcept {
  const WorkerKey peer = call.peer;
  base::if_memory([&] {
    const WorkerInfo from(shared_.workers.name_of(peer), peer);
    drop_references(shared_.references.get(), from, message);
    shared_.devices->discard(message, from);
  });
  pending_.drop(call.id);
  const auto why = [] {
    return Error(ErrorKind::Overloaded, "MemoryError", "there is no memory, or no thread, to read its answer");
  };
  fail_taken(call, base::if_memory(why, [] { return base::out_of_memory(ErrorKind::Overloaded); }));
}

// The task of a handler that reads an answer.
struct CallCompletions::Complete {
  Complete(std::shared_ptr<CallCompletions> self_, Ending ending_, PendingCall&& call_, Message&& message_) noexcept
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

  std::shared_ptr<CallCompletions> self;  // outlives `ending`
  Ending ending;
  PendingCall call;
  Message message;
  bool was_run = false;
};

std::unique_ptr<future::HandlerTask> CallCompletions::end_taken(const WorkerInfo& from,
                                                                std::optional<PendingCall>& call, Message&& message,
                                                                Ending ending) {
  if (!message.unreadable.empty()) return end_unreadable(call, from, message), nullptr;
  if (is_read_by_handler(message)) {
    if (!call) {  // the call has ended
      drop_references(shared_.references.get(), from, message);
      shared_.devices->discard(message, from);
      return nullptr;
    }
    if (call->deadline != core::kForever) begin_reading(*call);
    return task_of(Complete(std::shared_ptr<CallCompletions>(shared_.owner.share(), this), std::move(ending),
                            std::move(*call), std::move(message)));
  }
  if (call) complete(*call, std::move(message));
  return nullptr;
}

// Until complete() has the value, the call can expire like an unanswered one.
void CallCompletions::begin_reading(PendingCall call) {
  const base::TimePoint deadline = call.deadline;
  call.waits = PendingCall::Waits::ForDecoder;
  call.bytes = 0;
  if (pending_.add(std::move(call))) pending_.watch_timeouts(deadline);
}

void CallCompletions::end_unreadable(const std::optional<PendingCall>& call, const WorkerInfo& from,
                                     const Message& message) {
  drop_references(shared_.references.get(), from, message);
  shared_.devices->discard(message, from);
  if (!call) return;
  fail_taken(*call, Error(ErrorKind::Overloaded, "MemoryError",
                          "the answer of " + from.name() + " could not be taken: " + message.unreadable));
}

Value CallCompletions::read_reply_of(const PendingCall& call, const Message& message) {
  const bool has_forks = has_references(message);
  if (!has_forks && find_section(message, SectionTag::Autograd) == nullptr) return read_reply(message);
  const WorkerInfo from(shared_.workers.name_of(call.peer), call.peer);
  std::optional<Unpacking> unpacking;
  if (has_forks) unpacking.emplace(shared_.references.get(), from, message);
  const std::unique_ptr<Arrival> arrival =
      arrival_of(shared_.autograd.get(), from, message, shared_.device_map_for(from));
  const Arriving arriving(arrival.get());
  return read_reply(message);
}

// A value on GPUs arrives on separate streams. The streams of a waiting thread wait for them, and they wait until the
// callee has read the arguments, so that a caller that has waited may modify these.
void CallCompletions::complete(const PendingCall& call, Message message) noexcept {
  const TracedReply traced(call);
  const bool may_be_late = may_be_read_late(call, message);
  std::optional<core::ThreadStateGuard> guard;
  std::shared_ptr<StreamLease> streams;
  std::exception_ptr error;
  Value value;
  try {
    if (shared_.devices->is_read_by(message, call.peer)) {
      guard.emplace(shared_.own_state());
      streams = shared_.devices->lease_for(message);
      const WorkerInfo peer(shared_.workers.name_of(call.peer), call.peer);
      const MessageStep step("the answer of", call.name, "by", peer.name(), call.future->info().made_at);
      shared_.devices->unpack(message, peer);
      shared_.devices->follow_reads(call.peer);
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
  if (error != nullptr && call.again != nullptr && send_again_(call, error)) return;
  if (call.profiled != nullptr) call.profiled->end(&message);
  if (may_be_late && base::system_clock().now() >= call.deadline) return fail_expired(call, kUnread);
  if (!call.future->try_begin()) return;
  if (error != nullptr) return call.future->end(std::move(error));
  if (streams != nullptr) call.future->comes_after(shared_.devices->devices());
  call.type->store(*call.future, std::move(value));
}

void CallCompletions::fail_all(const Error& why, std::optional<WorkerKey> peer) noexcept {
  std::size_t place = 0;
  while (const auto call = pending_.take_next(place, peer)) fail_taken(*call, why);
}

void CallCompletions::fail_taken(const PendingCall& call, const Error& why) noexcept {
  if (call.profiled != nullptr) call.profiled->end(nullptr);
  if (!call.future->try_begin()) return;
  call.future->end(base::error_if_memory([&] {
    Error own = why;
    own.while_doing("call \"" + std::string(call.name) + "\" of " + shared_.workers.name_of(call.peer));
    return own;
  }));
}

void CallCompletions::fail(std::uint64_t id, WorkerKey peer, const Error& why) noexcept {
  if (const auto call = pending_.take_late(id, peer)) fail_taken(*call, why);
}

// Cancels at the agent before the timeout is seen: the agent may still be sending the tensors, which the caller may
// modify after that. Begins to complete the future before it cancels, for cancel_if_expired().
void CallCompletions::expire(PendingCall call) noexcept {
  if (call.waits == PendingCall::Waits::ForDecoder) return fail_expired(call, kUnread);
  if (call.waits == PendingCall::Waits::ForTime) return end_rest(call);
  if (call.profiled != nullptr) call.profiled->end(nullptr);
  std::string shown;
  base::if_memory([&] { shown = shown_by(shared_.rank, shared_.self(), call); });
  const bool has_begun = call.future->try_begin();
  cancel(call);
  if (has_begun) end_expired(call, shown);
}

// If the agent's queue was searched for the call before the call was in it, the future's completion had begun before.
void CallCompletions::cancel_if_expired(const PendingCall& call) noexcept {
  if (call.deadline == core::kForever || !call.future->has_begun()) return;
  if (base::system_clock().now() >= call.deadline) cancel(call);
}

void CallCompletions::fail_expired(const PendingCall& call, const std::string& shown) noexcept {
  if (call.future->try_begin()) end_expired(call, shown);
}

void CallCompletions::end_expired(const PendingCall& call, const std::string& shown) noexcept {
  call.future->end(base::error_if_memory([&] {
    std::string text = "RPCErr:1:RPC ran for more than set timeout (" + milliseconds(call.timeout) +
                       " ms) and will now be marked with an error: \"" + call.name + "\" of " +
                       shared_.workers.name_of(call.peer) + ", message " + std::to_string(call.id) + shown;
    return Error(ErrorKind::Timeout, "RuntimeError", std::move(text), call.future->info().made_at);
  }));
}

void CallCompletions::end_rest(const PendingCall& rest) noexcept {
  if (rest.future->try_begin()) rest.type->store(*rest.future, Value());
}

void CallCompletions::cancel(const PendingCall& call) noexcept {
  try {
    Message message;
    message.kind = MessageKind::Cancel;
    message.id = call.id;
    if (shared_.is_by_hand(call.peer.id)) return shared_.owner.pass_to_self(std::move(message));
    shared_.agent->send(call.peer, std::move(message), Urgency::Later);
  } catch (const std::exception&) {  // the worker is gone
  }
}

}  // namespace distrun::rpc
