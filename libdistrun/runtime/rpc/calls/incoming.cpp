// The incoming half of Calls: running calls of others, and answering them.
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/calls/log.hpp>
#include <distrun/runtime/rpc/calls/served_profile.hpp>
#include <distrun/runtime/rpc/calls/task.hpp>
#include <distrun/runtime/rpc/devices/message_step.hpp>

namespace distrun::rpc {
namespace {

void log_failure(const WorkerInfo& self, const CallContext& call, const Error& error) noexcept {
  base::if_memory([&] {
    log(base::printable(describe_on(self, error)) + "\n  in " +
        (call.name[0] == '\0' ? "a quick function" : "\"" + std::string(call.name) + "\"") + ", called by " +
        call.caller.name() + ", call " + call.trace() + "\n");
  });
}

constexpr std::size_t kTraceMax = 512;  // some fifty nested calls; a longer trace restarts

std::string parent_of(const Message& message) {
  const Section* const section = find_section(message, SectionTag::TraceParent);
  if (section == nullptr || section->bytes.size() > kTraceMax) return "";
  return base::printable({reinterpret_cast<const char*>(section->bytes.data()), section->bytes.size()});
}

}  // namespace

void CallContext::end_work(const std::vector<device::Device>& devices) const noexcept {
  std::vector<std::shared_ptr<WorkedOn>> objects;
  {
    const std::lock_guard lock(mutex_);
    objects.swap(objects_);
  }
  for (const auto& each : objects) each->end_work(devices);
}

std::unique_ptr<future::HandlerTask> Calls::receive(const WorkerInfo& from, Message message) noexcept {
  const core::ThreadStateGuard guard(own_state());
  try {
    switch (message.kind) {
      case MessageKind::Call: return receive_call(from, std::move(message));
      case MessageKind::Reply:
      case MessageKind::Failure: return end_call(from, std::move(message));
      case MessageKind::Devices: return devices_->receive(from, message.payload), nullptr;
      case MessageKind::Cancel: return running_.cancel(from.key(), message.id), nullptr;
      case MessageKind::Control:
      case MessageKind::Reference: return receive_bytes(from, std::move(message));
    }
  } catch (...) {
    miss(from, message.kind, message.id, error_of(std::current_exception()));
  }
  return nullptr;
}

// A reference's message is sent again until it is answered. Without any of the others, a worker may wait in vain.
void Calls::miss(const WorkerInfo& from, MessageKind kind, std::uint64_t id, const Error& why) noexcept {
  future::unseen_errors_of(rank_).add_made(
      [&] { return "RPC: a " + std::string(name_of(kind)) + " of " + from.name() + " can't be read: " + why.what(); });
  if (!is_shortage(why) || kind == MessageKind::Reference) return;
  if (const auto call = pending_.take_late(id, from.key())) fail_pending(*call, why);
  if (kind == MessageKind::Control || kind == MessageKind::Devices) give_up(from.key(), "a message of", why);
}

// Both workers lose each other.
void Calls::give_up(WorkerKey peer, const char* what, const Error& why) noexcept {
  const auto text = [&] {
    return Error(ErrorKind::Disconnected, self().name() + " has ended the connection, because " + what + " " +
                                              workers_.name_of(peer) + " can't be taken or answered: " + why.what());
  };
  agent_->give_up(peer, base::if_memory(text, [] { return base::out_of_memory(ErrorKind::Disconnected); }));
}

void Calls::refuse(const WorkerInfo& from, const Message& message, const std::shared_ptr<ResultSink>& result,
                   const Error& why, bool is_own) noexcept {
  drop_references(references_.get(), from, message);
  devices_->discard(message, from);
  try {
    CallContext call(from, message.id, "", core::kForever);
    call.result = result;
    fail(call, why, is_own);
  } catch (const std::exception&) {
    leave_unanswered(from.key(), message.id, why);
  }
}

void Calls::refuse_unreadable(const WorkerInfo& from, const Message& message,
                              const std::shared_ptr<ResultSink>& result) {
  if (message.is_late) {
    const std::string text = "RPCErr:1:RPC ran for more than set timeout: " + message.unreadable;
    return refuse(from, message, result, Error(ErrorKind::Timeout, "RuntimeError", text), false);
  }
  const std::string text = "the call could not be taken by " + self().name() + ": " + message.unreadable;
  refuse(from, message, result, Error(ErrorKind::Overloaded, "MemoryError", text), true);
}

// Counts the call as received only once it is listed as running or has run, so that it is never in neither count.
std::unique_ptr<future::HandlerTask> Calls::receive_call(const WorkerInfo& from, Message&& message) {
  struct Received {
    ~Received() {
      if (tally != nullptr) tally->add(from);
    }
    CallTally* const tally;
    const WorkerId from;
  };
  const Received received{is_repeated(message) ? nullptr : &received_, from.id()};
  return begin_call(from, std::move(message));
}

std::unique_ptr<future::HandlerTask> Calls::begin_call(const WorkerInfo& from, Message&& message) noexcept {
  std::shared_ptr<ResultSink> result;
  try {
    result = begin_result(from, message);
    if (message.unreadable.empty()) return begin_readable(from, message, result);
    refuse_unreadable(from, message, result);
  } catch (...) {
    refuse(from, message, result, error_of(std::current_exception()), false);
  }
  return nullptr;
}

std::unique_ptr<future::HandlerTask> Calls::begin_readable(const WorkerInfo& from, Message& message,
                                                           const std::shared_ptr<ResultSink>& result) {
  const base::TimePoint deadline = message.left ? base::deadline_after(*message.left) : core::kForever;
  const auto id = message.id;
  const bool is_profiled = ServedProfile::is_wanted(message);
  if (!has_references(message) && !is_profiled) {
    CallContext quick(from, id, "", deadline);
    quick.result = result;
    quick.autograd = context_of(message);
    if (run_if_quick(*this, quick, message)) return nullptr;
  }
  auto call = std::make_shared<CallContext>(from, id, callee_name(message), deadline);
  call->result = result;
  call->parent = parent_of(message);
  call->calls = weak_from_this();
  call->autograd = context_of(message);
  if (is_profiled) call->profile = ServedProfile::of(message, rank_, self().id());
  // Local calls never run here: their caller may be in the middle of other work, and nested calls would grow the stack.
  const bool is_own = from.id() == self().id();
  return queue_call(call, std::move(message), !is_own && !is_profiled);
}

std::unique_ptr<future::HandlerTask> Calls::queue_call(const std::shared_ptr<CallContext>& call, Message&& message,
                                                       bool may_run_here) {
  try {
    running_.add(call, bytes_of(message));
    return make_call_task(shared_from_this(), call, std::move(message), may_run_here);
  } catch (...) {
    drop_references(references_.get(), call->caller, message);
    devices_->discard(message, call->caller);
    fail(*call, error_of(std::current_exception()), false);
    return nullptr;
  }
}

// Returns null if the caller gets the result.
std::shared_ptr<ResultSink> Calls::begin_result(const WorkerInfo& from, const Message& message) {
  const Section* const owned = find_section(message, SectionTag::Owned);
  if (owned == nullptr) return nullptr;
  if (references_ == nullptr) throw Error(ErrorKind::InvalidArgument, "a call makes a reference, and none are kept");
  return references_->begin_result(from, owned->bytes);
}

std::unique_ptr<future::HandlerTask> Calls::receive_bytes(const WorkerInfo& from, Message&& message) {
  if (message.kind == MessageKind::Reference) {
    if (references_ != nullptr) references_->receive_message(from, message.payload);
    return nullptr;
  }
  if (!control_) return nullptr;
  auto hear = [self = shared_from_this(), from, bytes = std::move(message.payload)] {
    try {
      self->control_(from, bytes);
    } catch (...) {
      const Error why = error_of(std::current_exception());
      base::if_memory(
          [&] { log("RPC: a control message of " + from.name() + ": " + base::printable(why.what()) + "\n"); });
      if (is_shortage(why)) self->give_up(from.key(), "a message of", why);
    }
  };
  future::handler_pool_of(rank_).post_control(task_of(std::move(hear)));
  return nullptr;
}

void Calls::send_bytes(WorkerKey to, MessageKind kind, wire::Bytes bytes, Urgency urgency) {
  refuse_forked(mark_, base::Location::here());
  Message message;
  message.kind = kind;
  message.payload = std::move(bytes);
  if (to.id == self().id()) return void(receive_bytes(self(), std::move(message)));
  agent_->send(to, std::move(message), urgency);
}

void Calls::reply(const CallContext& call, const Value& value) noexcept {
  if (call.result == nullptr) return end_result(call, value);
  call.result->set(value);
  end_result(call, Value());
}

void Calls::end_result(const CallContext& call, const Value& value) noexcept {
  Kept kept;
  try {
    Message message;
    message.kind = MessageKind::Reply;
    const Departing departing;
    Packing packing(references_.get(), call.caller.key());
    write_reply(message, value);
    Forks forks = packing.take();
    if (!forks.is_empty()) message.sections.push_back(forks.section());
    const Departure departure{call.autograd, departing.tensors(), message.tensors, call.caller.key(), true, call.name};
    kept = depart(departure, false, message);
    const MessageStep step("the answer of", call.name, "of", call.caller.name());
    DeviceCarrier::Kept memory = devices_->pack(message, call.back, call.caller);
    end_work(call);
    if (send_answer(call, std::move(message), std::move(forks), std::move(memory)) != AnswerSent::Yes) withdraw(kept);
  } catch (...) {
    withdraw(kept);
    const Error error = error_of(std::current_exception());
    log_failure(self(), call, error);
    fail_answer(call, error);
  }
}

// Releases the arguments in order of the current streams, after all work on them so far.
void Calls::end_work(const CallContext& call) {
  if (call.streams == nullptr && call.arrived.empty()) return;
  call.end_work(devices_->devices());
  for (const Tensor& each : std::exchange(call.arrived, {})) each.record_stream(device::current_stream(each.device()));
  call.streams = nullptr;
}

void Calls::fail(const CallContext& call, const Error& thrown, bool is_own) noexcept {
  const Error error =
      base::if_memory([&] { return with_bounded_texts(thrown); }, [&] { return base::out_of_memory(thrown.kind()); });
  if (is_own) log_failure(self(), call, error);
  if (call.result == nullptr || error.type() == kUnknownGraph) return fail_answer(call, error);
  call.result->fail(error);
  end_result(call, Value());
}

// An answer for which there is no memory is replaced by a short one.
void Calls::fail_answer(const CallContext& call, const Error& error) noexcept {
  const Error brief = base::out_of_memory(error.kind());
  for (const Error* const each : {&error, &brief}) {
    try {
      end_work(call);
      if (send_failure(call, *each) != AnswerSent::No) return;
    } catch (...) {
      continue;
    }
  }
  running_.remove(call);
  leave_unanswered(call.caller.key(), call.id, error);
}

Calls::AnswerSent Calls::send_failure(const CallContext& call, const Error& error) {
  Message message;
  message.kind = MessageKind::Failure;
  wire::ByteWriter bytes;
  write_error(bytes, error, self());
  message.payload = bytes.take();
  return send_answer(call, std::move(message));
}

void Calls::leave_unanswered(WorkerKey caller, std::uint64_t id, const Error& why) noexcept {
  if (caller.id != self().id()) return give_up(caller, "a call of", why);
  if (const auto call = pending_.take_late(id, caller)) fail_pending(*call, why);
}

// Does not answer a caller that is gone. If too much data is in flight to the caller, answers with that error.
Calls::AnswerSent Calls::send_answer(const CallContext& call, Message message, Forks forks,
                                     DeviceCarrier::Kept kept) noexcept {
  if (is_inherited()) return AnswerSent::Instead;
  message.id = call.id;
  if (call.profile != nullptr) call.profile->end(message);
  const bool is_failure = message.kind == MessageKind::Failure;
  try {
    if (call.caller.id() == self().id()) copy_tensors(message);
    if (is_by_hand(call.caller.id())) {
      forks.sent();
      if (auto task = end_call(self(), std::move(message))) future::handler_pool_of(rank_).post(std::move(task));
    } else {
      agent_->send(call.caller.key(), std::move(message), Urgency::Later);
      forks.sent();
      kept.sent();
    }
  } catch (...) {
    const Error error = error_of(std::current_exception());
    const bool is_gone = error.kind() == ErrorKind::Disconnected || workers_.has_left(call.caller);
    if (is_failure && !is_gone) return AnswerSent::No;
    if (is_gone) {
      running_.remove(call);
    } else {
      log_failure(self(), call, error);
      fail_answer(call, error);
    }
    return AnswerSent::Instead;
  }
  running_.remove(call);
  return AnswerSent::Yes;
}

}  // namespace distrun::rpc
