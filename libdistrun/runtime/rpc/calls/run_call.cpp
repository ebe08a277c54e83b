#include <distrun/runtime/rpc/calls/run_call.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/throw_stack.hpp>
#include <distrun/runtime/core/inline_function.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/calls/builtin.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/calls/traced_call.hpp>
#include <distrun/runtime/rpc/devices/message_step.hpp>
#include <distrun/runtime/rpc/graph/run.hpp>
#include <distrun/runtime/rpc/profile/served_profile.hpp>
#include <distrun/runtime/symbols/stack_text.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kQuickPayload = 64 * 1024;  // decoding more takes too long

[[noreturn]] void refuse_plain(const Value& value) {
  throw Error(ErrorKind::Failed,
              "Functions decorated with @rpc.async_function must return a torch.futures.Future object, but this one "
              "returned " +
                  describe(value));
}

// Returns the future that an async function has returned. Throws Error{InvalidArgument} for any other result.
Result async_result(Result result) {
  const Value* const value = std::get_if<Value>(&result);
  if (value == nullptr) return result;
  const auto* const later = value->get_if<future::AnyFuture>();
  if (later == nullptr || dynamic_cast<future::TypedState<Value>*>(later->state().get()) == nullptr) {
    refuse_plain(*value);
  }
  return future::Future<Value>::of(later->state());
}

// `stack` gets the stack of the function's exception.
Result run_watched(const Function& function, const ValueList& arguments, base::ThrowStack& stack) {
  Result result;
  auto run = [&] { result = run_registered(function, arguments); };
  stack.watch(run);
  return result;
}

// Converts the exception being handled, and puts the place of the function's throw before more distant places.
Error error_with(const base::ThrowStack& stack) noexcept {
  Error error = error_of(std::current_exception());
  base::if_memory([&] {
    std::string places = symbols::stack_text(stack.pcs());
    if (places.empty()) return;
    if (error.remote_trace()) places += "\n" + *error.remote_trace();
    error.with_remote_trace(std::move(places));
  });
  return error;
}

// Answers when the future that a function has returned completes.
class AnswerLater final : public future::Continuation {
 public:
  AnswerLater(std::shared_ptr<Answers> answers, std::shared_ptr<CallContext> call, bool is_quick)
      : answers_(std::move(answers)), call_(std::move(call)), is_quick_(is_quick) {
    answers_->begin_async();
  }
  ~AnswerLater() override { end(); }
  void run(const std::shared_ptr<future::FutureState>& done) noexcept override {
    end();
    try {
      const std::exception_ptr error = done->error();
      if (error != nullptr) std::rethrow_exception(error);
      done->follow();
    } catch (...) {
      return answers_->fail(*call_, error_of(std::current_exception()), true);
    }
    answers_->reply(*call_, future::Future<Value>::of(done).value());
  }
  void abandon(future::FutureState&, const std::exception_ptr& why) noexcept override {
    end();
    answers_->fail(*call_, error_of(why), true);
  }
  bool is_quick() const noexcept override { return is_quick_; }

 private:
  void end() noexcept {
    if (!std::exchange(is_over_, true)) answers_->end_async();
  }

  std::shared_ptr<Answers> answers_;
  std::shared_ptr<CallContext> call_;
  const bool is_quick_;
  bool is_over_ = false;
};

// Shows on the rank's board, while it exists, that a thread runs a call. It is no wait of the thread.
class ShownHandler {
 public:
  explicit ShownHandler(const CallContext& call) noexcept : line_(core::rank_state().line()) {
    if (line_ == nullptr) return;
    board::WaitInfo info;
    info.kind = board::WaitKind::Handler;
    info.name = call.name;
    info.id = call.id;
    info.peers.add(call.caller.id());
    number_ = line_->begin_wait(info, call.deadline);
  }
  ~ShownHandler() {
    if (line_ != nullptr) line_->end_wait(number_);
  }
  ShownHandler(const ShownHandler&) = delete;
  ShownHandler& operator=(const ShownHandler&) = delete;

 private:
  core::RankLine* line_;
  int number_ = -1;
};

class CallTask final : public future::HandlerTask {
 public:
  CallTask(std::shared_ptr<Answers> answers, std::shared_ptr<CallContext> call, Message&& message) noexcept
      : answers_(std::move(answers)),
        call_(std::move(call)),
        message_(std::move(message)),
        queued_(answers_->handler_wait()) {}
  // Answers with an error if no thread was available to run the task.
  ~CallTask() override {
    if (!was_unpacked_) drop_references(answers_->reference_service(), call_->caller, message_);
    if (was_run_) return;
    answers_->devices().discard(message_, call_->caller);
    const auto why = [] { return Error(ErrorKind::Overloaded, "there is no thread, or no memory, for the call"); };
    answers_->fail(*call_, base::if_memory(why, [] { return base::out_of_memory(ErrorKind::Overloaded); }), false);
  }

  void run() noexcept override {
    was_run_ = true;
    queued_.runs();
    bool is_own = false;
    base::ThrowStack stack;
    try {
      const core::ThreadStateGuard guard(state_of_call());
      const ShownHandler shown(*call_);
      run_it(is_own, stack);
    } catch (...) {
      answers_->fail(*call_, error_with(stack), is_own);
    }
  }

  future::TaskInfo info() const noexcept override { return {call_->name, call_->caller.id()}; }

  // Errors are reported when the call runs.
  bool look_if_quick() noexcept {
    try {
      if (message_.payload.size() > kQuickPayload || is_packed(message_) || has_references(message_)) return false;
      CallReader reader(message_, Instances::Refused);
      const CallHead head = reader.read_head();
      if (head.kind != CalleeKind::Function || head.is_custom) return false;
      const std::shared_ptr<const Function> function = find_function(head.name);
      if (function == nullptr || function->is_quick == nullptr) return false;
      const core::ThreadStateGuard guard(state_of_call());
      is_quick_ = function->is_quick(bind_arguments(function->signature, reader.read_arguments(head)));
      return is_quick_;
    } catch (const std::exception&) {
      return false;
    }
  }

 private:
  core::ThreadState state_of_call() const {
    core::ThreadState state = core::thread_state();
    state.call = call_;
    state.autograd_context = call_->autograd;
    if (call_->profile != nullptr) state.profiler = call_->profile->recorder();
    return state;
  }

  // The call gets separate streams, which are ordered after the work that produces its tensors.
  void unpack() {
    DeviceCarrier& devices = answers_->devices();
    call_->streams = devices.lease_for(message_);
    devices.follow_reads(call_->caller.key());
    if (!is_packed(message_)) return;
    const MessageStep step("the arguments of", call_->name, "of", call_->caller.name());
    call_->back = devices.unpack(message_, call_->caller);
    for (const Tensor& each : message_.tensors) {
      if (!each.device().is_cpu()) call_->arrived.push_back(each);
    }
  }

  void run_it(bool& is_own, base::ThrowStack& stack) {
    unpack();
    CallReader reader(message_);
    const CallHead head = reader.read_head();
    if (!head.runs_late && is_over()) return refuse_late();
    switch (head.kind) {
      case CalleeKind::Operator: {
        const Arguments arguments = read_arguments(head, reader);
        is_own = true;
        return answers_->reply(*call_, run_builtin(head.name, arguments));
      }
      case CalleeKind::Graph: return run_graph_of(head, reader, is_own);
      case CalleeKind::Function: return run_function(head, reader, is_own, stack);
    }
  }

  // Returns when the owners of all references among the arguments know of them.
  Arguments read_arguments(const CallHead& head, CallReader& reader) {
    const auto arrival = arrival_of(answers_->autograd_service(), call_->caller, message_, call_->back);
    const Arriving arriving(arrival.get());
    if (!has_references(message_)) return reader.read_arguments(head);
    const Unpacking unpacking(answers_->reference_service(), call_->caller, message_);
    was_unpacked_ = true;
    Arguments arguments = reader.read_arguments(head);
    unpacking.wait_confirmed(call_->deadline);
    return arguments;
  }

  void run_function(const CallHead& head, CallReader& reader, bool& is_own, base::ThrowStack& stack) {
    const std::shared_ptr<const Function> function = get_function(head.name);
    const ValueList arguments = bind_arguments(function->signature, read_arguments(head, reader));
    is_own = true;
    Result result = run_watched(*function, arguments, stack);
    if (auto* const later = std::get_if<future::Future<Value>>(&result)) return answer_later(*later);
    answers_->reply(*call_, std::get<Value>(result));
  }

  void run_graph_of(const CallHead& head, CallReader& reader, bool& is_own) {
    std::shared_ptr<const GraphFunction> graph = head.graph;
    if (graph != nullptr) {
      answers_->graphs().add(graph);
    } else {
      graph = answers_->graphs().find(head.graph_hash);
    }
    if (graph == nullptr) {
      throw Error(ErrorKind::Failed, kUnknownGraph, "graph function " + head.name + " is not kept here");
    }
    const ValueList arguments = bind_arguments({graph->name(), graph->parameters()}, read_arguments(head, reader));
    is_own = true;
    answers_->reply(*call_, run_graph(*graph, arguments, {.poll = [this] {
      if (is_unwanted()) refuse_cancelled();
    }}));
  }

  [[noreturn]] static void refuse_cancelled() {
    throw Error(ErrorKind::Cancelled, "its caller no longer waits for it");
  }

  void answer_later(const future::AnyFuture& later) {
    later.state()->attach(std::make_unique<AnswerLater>(answers_, call_, is_quick_));
  }

  // A result that stays here may have other holders than its caller, which may be gone.
  bool is_unwanted() const noexcept { return call_->result == nullptr && call_->is_cancelled(); }
  bool is_over() const noexcept {
    return is_unwanted() || (call_->deadline != core::kForever && base::system_clock().now() >= call_->deadline);
  }
  // The caller detects the timeout by itself, if not a little earlier.
  void refuse_late() {
    answers_->fail(*call_,
                   Error(ErrorKind::Timeout, "RuntimeError",
                         "RPCErr:1:RPC ran for more than set timeout: its time was over before it could begin"),
                   false);
  }

  std::shared_ptr<Answers> answers_;
  std::shared_ptr<CallContext> call_;
  Message message_;
  const QueuedCall queued_;
  bool was_run_ = false;
  bool is_quick_ = false;
  bool was_unpacked_ = false;  // its references were taken out
};

// Returns nullopt if a handler has to decode them, and to report errors. Decoders of classes may be slow.
std::optional<Arguments> try_read(CallReader& reader, const CallHead& head) {
  try {
    return reader.read_arguments(head);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Returns nullopt if the call is not quick.
std::optional<Value> try_quick(Answers& answers, const CallContext& call, const Message& message,
                               base::ThrowStack& stack, std::shared_ptr<StreamLease>& streams) {
  if (message.payload.empty() || message.payload.size() > kQuickPayload || is_packed(message)) return std::nullopt;
  const auto kind = static_cast<CalleeKind>(message.payload.front());
  if (kind != CalleeKind::Operator && kind != CalleeKind::Function) return std::nullopt;
  CallReader reader(message, Instances::Refused);
  const CallHead head = reader.read_head();
  if (head.is_custom) return std::nullopt;
  const auto arrival = arrival_of(answers.autograd_service(), call.caller, message, {});
  const Arriving arriving(arrival.get());
  if (kind == CalleeKind::Operator) {
    const std::optional<Arguments> arguments = try_read(reader, head);
    if (!arguments || !is_small(arguments->positional)) return std::nullopt;
    return run_builtin(head.name, *arguments);
  }
  const std::shared_ptr<const Function> function = find_function(head.name);
  if (function == nullptr || function->execution != Execution::Inline) return std::nullopt;
  std::optional<Arguments> read = try_read(reader, head);
  if (!read) return std::nullopt;
  const ValueList arguments = bind_arguments(function->signature, std::move(*read));
  if (answers.devices().has_devices()) {
    streams = answers.devices().lease(answers.devices().devices());
    answers.devices().follow_reads(call.caller.key());
  }
  Result result = run_watched(*function, arguments, stack);
  if (const auto* const later = std::get_if<future::Future<Value>>(&result)) {
    return later->done() ? std::optional<Value>(later->wait()) : std::nullopt;  // else awaited elsewhere
  }
  return std::move(std::get<Value>(result));
}

}  // namespace

Result run_registered(const Function& function, const ValueList& arguments) {
  const bool is_inline = function.execution == Execution::Inline;
  const core::InlineFunctionScope scope(is_inline ? &function.signature.name : nullptr);
  Result result = function.run(arguments);
  return function.execution == Execution::Async ? async_result(std::move(result)) : std::move(result);
}

namespace {

// The log names the function.
void fail_quick(Answers& answers, const CallContext& call, const Message& message, const Error& error) noexcept {
  try {
    CallContext named(call.caller, call.id, callee_name(message), call.deadline);
    named.result = call.result;
    answers.fail(named, error, true);
  } catch (const std::exception&) {
    answers.fail(call, error, true);
  }
}

}  // namespace

bool run_if_quick(Answers& answers, const CallContext& call, const Message& message) noexcept {
  base::ThrowStack stack;
  const std::int64_t began = core::trace_now();
  try {
    core::thread_state().autograd_context = call.autograd;  // until the agent returns from the calls
    std::shared_ptr<StreamLease> streams;                   // until it is answered
    const std::optional<Value> value = try_quick(answers, call, message, stack, streams);
    if (!value) return false;
    answers.reply(call, *value);
  } catch (...) {
    fail_quick(answers, call, message, error_with(stack));
  }
  if (began != 0) trace_quick_call(call, callee_name(message), began);
  return true;
}

std::unique_ptr<future::HandlerTask> make_call_task(std::shared_ptr<Answers> answers, std::shared_ptr<CallContext> call,
                                                    Message&& message, bool may_run_here) {
  auto task = std::make_unique<CallTask>(std::move(answers), std::move(call), std::move(message));
  if (!may_run_here || !task->look_if_quick()) return task;
  task->run();
  return nullptr;
}

}  // namespace distrun::rpc
