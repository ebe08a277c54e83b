#include <distrun/runtime/rpc/calls/call_server.hpp>

#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/calls/log.hpp>
#include <distrun/runtime/rpc/devices/message_step.hpp>
#include <distrun/runtime/rpc/profile/served_profile.hpp>

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

void CallServer::refuse(const WorkerInfo& from, const Message& message, const std::shared_ptr<ResultSink>& result,
                        const Error& why, bool is_own) noexcept {
  drop_references(shared_.references.get(), from, message);
  shared_.devices->discard(message, from);
  try {
    CallContext call(from, message.id, "", core::kForever);
    call.result = result;
    fail(call, why, is_own);
  } catch (const std::exception&) {
    leave_unanswered(from.key(), message.id, why);
  }
}

void CallServer::refuse_unreadable(const WorkerInfo& from, const Message& message,
                                   const std::shared_ptr<ResultSink>& result) {
  if (message.is_late) {
    const std::string text = "RPCErr:1:RPC ran for more than set timeout: " + message.unreadable;
    return refuse(from, message, result, Error(ErrorKind::Timeout, "RuntimeError", text), false);
  }
  const std::string text = "the call could not be taken by " + shared_.self().name() + ": " + message.unreadable;
  refuse(from, message, result, Error(ErrorKind::Overloaded, "MemoryError", text), true);
}

// Counts the call as received only once it is listed as running or has run, so that it is never in neither count.
std::unique_ptr<future::HandlerTask> CallServer::receive(const WorkerInfo& from, Message&& message) {
  struct Received {
    ~Received() {
      if (tally != nullptr) tally->add(from);
    }
    CallTally* const tally;
    const WorkerId from;
  };
  const Received received{is_repeated(message) ? nullptr : &received_, from.id()};
  return begin(from, std::move(message));
}

std::unique_ptr<future::HandlerTask> CallServer::begin(const WorkerInfo& from, Message&& message) noexcept {
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

std::unique_ptr<future::HandlerTask> CallServer::begin_readable(const WorkerInfo& from, Message& message,
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
  call->calls = shared_.owner.share();
  call->autograd = context_of(message);
  if (is_profiled) call->profile = ServedProfile::of(message, shared_.rank, shared_.self().id());
  // Local calls never run here: their caller may be in the middle of other work, and nested calls would grow the stack.
  const bool is_own = from.id() == shared_.self().id();
  return queue(call, std::move(message), !is_own && !is_profiled);
}

std::unique_ptr<future::HandlerTask> CallServer::queue(const std::shared_ptr<CallContext>& call, Message&& message,
                                                       bool may_run_here) {
  try {
    running_.add(call, bytes_of(message));
    return make_call_task(std::shared_ptr<Answers>(shared_.owner.share(), this), call, std::move(message),
                          may_run_here);
  } catch (...) {
    drop_references(shared_.references.get(), call->caller, message);
    shared_.devices->discard(message, call->caller);
    fail(*call, error_of(std::current_exception()), false);
    return nullptr;
  }
}

// Returns null if the caller gets the result.
std::shared_ptr<ResultSink> CallServer::begin_result(const WorkerInfo& from, const Message& message) {
  const Section* const owned = find_section(message, SectionTag::Owned);
  if (owned == nullptr) return nullptr;
  if (shared_.references == nullptr)
    throw Error(ErrorKind::InvalidArgument, "a call makes a reference, and none are kept");
  return shared_.references->begin_result(from, owned->bytes);
}

void CallServer::reply(const CallContext& call, const Value& value) noexcept {
  if (call.result == nullptr) return end_result(call, value);
  call.result->set(value);
  end_result(call, Value());
}

void CallServer::end_result(const CallContext& call, const Value& value) noexcept {
  Kept kept;
  try {
    Message message;
    message.kind = MessageKind::Reply;
    const Departing departing;
    Packing packing(shared_.references.get(), call.caller.key());
    write_reply(message, value);
    Forks forks = packing.take();
    if (!forks.is_empty()) message.sections.push_back(forks.section());
    const Departure departure{call.autograd, departing.tensors(), message.tensors, call.caller.key(), true, call.name};
    kept = shared_.depart(departure, false, message);
    const MessageStep step("the answer of", call.name, "of", call.caller.name());
    DeviceCarrier::Kept memory = shared_.devices->pack(message, call.back, call.caller);
    end_work(call);
    if (send_answer(call, std::move(message), std::move(forks), std::move(memory)) != Sent::Yes) shared_.withdraw(kept);
  } catch (...) {
    shared_.withdraw(kept);
    const Error error = error_of(std::current_exception());
    log_failure(shared_.self(), call, error);
    fail_answer(call, error);
  }
}

// Releases the arguments in order of the current streams, after all work on them so far.
void CallServer::end_work(const CallContext& call) {
  if (call.streams == nullptr && call.arrived.empty()) return;
  call.end_work(shared_.devices->devices());
  for (const Tensor& each : std::exchange(call.arrived, {})) each.record_stream(device::current_stream(each.device()));
  call.streams = nullptr;
}

void CallServer::fail(const CallContext& call, const Error& thrown, bool is_own) noexcept {
  const Error error =
      base::if_memory([&] { return with_bounded_texts(thrown); }, [&] { return base::out_of_memory(thrown.kind()); });
  if (is_own) log_failure(shared_.self(), call, error);
  if (call.result == nullptr || error.type() == kUnknownGraph) return fail_answer(call, error);
  call.result->fail(error);
  end_result(call, Value());
}

// An answer for which there is no memory is replaced by a short one.
void CallServer::fail_answer(const CallContext& call, const Error& error) noexcept {
  const Error brief = base::out_of_memory(error.kind());
  for (const Error* const each : {&error, &brief}) {
    try {
      end_work(call);
      if (send_failure(call, *each) != Sent::No) return;
    } catch (...) {
      continue;
    }
  }
  running_.remove(call);
  leave_unanswered(call.caller.key(), call.id, error);
}

CallServer::Sent CallServer::send_failure(const CallContext& call, const Error& error) {
  Message message;
  message.kind = MessageKind::Failure;
  wire::ByteWriter bytes;
  write_error(bytes, error, shared_.self());
  message.payload = bytes.take();
  return send_answer(call, std::move(message));
}

void CallServer::leave_unanswered(WorkerKey caller, std::uint64_t id, const Error& why) noexcept {
  if (caller.id != shared_.self().id()) return shared_.give_up(caller, "a call of", why);
  shared_.owner.fail_own(id, why);
}

// Does not answer a caller that is gone. If too much data is in flight to the caller, answers with that error.
CallServer::Sent CallServer::send_answer(const CallContext& call, Message message, Forks forks,
                                         DeviceCarrier::Kept kept) noexcept {
  if (shared_.mark.is_inherited()) return Sent::Instead;
  message.id = call.id;
  if (call.profile != nullptr) call.profile->end(message);
  const bool is_failure = message.kind == MessageKind::Failure;
  try {
    if (call.caller.id() == shared_.self().id()) copy_tensors(message);
    if (shared_.is_by_hand(call.caller.id())) {
      forks.sent();
      shared_.owner.pass_to_self(std::move(message));
    } else {
      shared_.agent->send(call.caller.key(), std::move(message), Urgency::Later);
      forks.sent();
      kept.sent();
    }
  } catch (...) {
    const Error error = error_of(std::current_exception());
    const bool is_gone = error.kind() == ErrorKind::Disconnected || shared_.workers.has_left(call.caller);
    if (is_failure && !is_gone) return Sent::No;
    if (is_gone) {
      running_.remove(call);
    } else {
      log_failure(shared_.self(), call, error);
      fail_answer(call, error);
    }
    return Sent::Instead;
  }
  running_.remove(call);
  return Sent::Yes;
}

}  // namespace distrun::rpc
