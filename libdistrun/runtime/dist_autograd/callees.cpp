// The functions that workers call on each other: protocol.hpp.
#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/dist_autograd/backward.hpp>
#include <distrun/runtime/dist_autograd/pass.hpp>
#include <distrun/runtime/dist_autograd/quick_graph.hpp>
#include <distrun/runtime/rpc/calls/call_context.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rref/rref.hpp>

namespace distrun::dist_autograd {
namespace {

using rpc::Value;
using rpc::ValueList;

// Notifying a worker of a release is retried, with pauses that double each time.
constexpr double kReleaseSeconds = 0.5;  // per try
constexpr base::Nanoseconds kFirstRest = std::chrono::milliseconds(10), kLongestRest = std::chrono::seconds(5);
constexpr int kDoublings = 9;      // until the longest
constexpr int kHoldingTries = 10;  // that a shutdown waits for

// The first arguments of all these calls.
struct Head {
  ContextId context = -1;
  PassId pass = -1;
  PassSettings settings;
};
Head head_of(const ValueList& arguments) {
  return {rpc::from_value<ContextId>(arguments[0]),
          rpc::from_value<PassId>(arguments[1]),
          {rpc::from_value<bool>(arguments[2]), rpc::from_value<bool>(arguments[3]) ? Mode::Fast : Mode::Smart}};
}

std::shared_ptr<Pass> pass_of(const Head& head) {
  const auto contexts = current_contexts({});
  const auto context = contexts->find(head.context);
  if (context == nullptr) {
    throw Error(ErrorKind::Failed, "RuntimeError",
                "Autograd context no longer valid! Context " + std::to_string(head.context) +
                    " was released during a backward pass over it");
  }
  return std::static_pointer_cast<Pass>(
      contexts->find_or_add_pass(head.pass, [&] { return Pass::make(contexts, context, head.pass, head.settings); }));
}

rpc::Result mark(const ValueList& arguments) {
  const auto pass = pass_of(head_of(arguments));
  try {
    return pass->mark(pass->expect(rpc::from_value<std::vector<MessageId>>(arguments[4])));
  } catch (const Error& error) {
    pass->fail(error);
    throw;
  }
}

bool is_quick_mark(const ValueList& arguments) {
  const auto context = current_contexts({})->find(head_of(arguments).context);
  const auto messages = rpc::from_value<std::vector<MessageId>>(arguments[4]);
  return context != nullptr && is_quick_graph(context->sent(messages));
}

std::vector<Tensor> gradients_in(const Value& list) {
  std::vector<Tensor> gradients;
  for (const Value& each : rpc::from_value<rpc::List>(list).items) {
    gradients.push_back(each.is_none() ? Tensor() : rpc::from_value<Tensor>(each));
  }
  return gradients;
}

rpc::Result feed(const ValueList& arguments) {
  const auto pass = pass_of(head_of(arguments));
  try {
    if (pass->settings().mode == Mode::Fast) {
      pass->expect_all();
    } else if (!arguments[5].is_none()) {
      pass->expect(rpc::from_value<std::vector<MessageId>>(arguments[5]));
    }
    const bool is_first = pass->is_first();
    pass->feed(rpc::from_value<MessageId>(arguments[4]), gradients_in(arguments[6]));
    if (is_first) return pass->done();
    return Value();
  } catch (const Error& error) {
    pass->fail(error);
    throw;
  }
}

// Checks at most the beginning of what feed() would expect: the thread has other messages to read.
bool is_quick_feed(const ValueList& arguments) {
  const auto pass = pass_of(head_of(arguments));
  return pass->is_quick(arguments[5].is_none() ? std::vector<MessageId>()
                                               : rpc::from_value<std::vector<MessageId>>(arguments[5]));
}

rpc::Result abort_pass(const ValueList& arguments) {
  const Head head = head_of(arguments);
  const auto contexts = current_contexts({});
  const int kind = rpc::from_value<int>(arguments[4]);
  if (kind < 0 || kind > static_cast<int>(ErrorKind::Unimplemented)) {
    throw Error(ErrorKind::InvalidArgument, "an error of the unknown kind " + std::to_string(kind));
  }
  Error error(static_cast<ErrorKind>(kind), rpc::from_value<std::string>(arguments[5]),
              rpc::from_value<std::string>(arguments[6]));
  error.with_cause(rpc::from_value<int>(arguments[7]));
  if (const auto pass = contexts->find_pass(head.pass)) {
    pass->fail(error);
  } else {
    contexts->end_pass(head.pass, error);  // refuses its late messages
  }
  return Value();
}

rpc::Result release(const ValueList& arguments) {
  const auto call = rpc::current_call();
  const auto contexts = current_contexts({});
  contexts->release(rpc::from_value<ContextId>(arguments[0]), call == nullptr ? contexts->self() : call->caller.id());
  return Value();
}

// Releasing a graph destroys objects that users have put into it.
bool is_quick_release(const ValueList& arguments) {
  const auto context = current_contexts({})->find(rpc::from_value<ContextId>(arguments[0]));
  return context == nullptr || is_quick_graph(context->sent());
}

void begin(ContextId context, const RRef<Tensor>& root, bool retain_graph, bool is_fast, double timeout) {
  backward(context, root, {retain_graph, is_fast ? Mode::Fast : Mode::Smart, timeout});
}

std::vector<rpc::Parameter> parameters(std::vector<rpc::Parameter> more) {
  std::vector<rpc::Parameter> all{{"context", "int"}, {"pass", "int"}, {"retain_graph", "bool"}, {"is_fast", "bool"}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

[[maybe_unused]] const bool are_callees_registered =
    rpc::register_dynamic(
        {{kMark, parameters({{"messages", "list"}})}, rpc::Execution::Plain, &mark, &is_quick_mark}) &&
    rpc::register_dynamic({{kFeed, parameters({{"message", "int"}, {"live", "list"}, {"gradients", "list"}})},
                           rpc::Execution::Plain,
                           &feed,
                           &is_quick_feed}) &&
    rpc::register_dynamic(
        {{kAbort, parameters({{"kind", "int"}, {"type", "str"}, {"text", "str"}, {"because_of", "int"}})},
         rpc::Execution::Plain,
         &abort_pass}) &&
    rpc::register_dynamic({{kRelease, {{"context", "int"}}}, rpc::Execution::Plain, &release, &is_quick_release}) &&
    rpc::register_function<rpc::Execution::Plain>(kBegin, {"context", "root", "retain_graph", "is_fast", "timeout"},
                                                  &begin);

// Notifies a worker that a context was released, until it has answered: the continuation of a try, or of the pause
// after it.
//
// Messages of references (rref/protocol/numbered.hpp) are resent in another way: they must take effect once, so they
// are numbered, and kept by a protocol that must not lose one when memory is missing. A release may take effect twice.
// Each try is a call with a timeout, an answer that says what went wrong, and a shutdown that waits for the first ones.
class TryAgain final : public future::Continuation {
 public:
  enum class After : std::uint8_t { Try, Rest };
  TryAgain(std::weak_ptr<rpc::Calls> calls, WorkerId to, ContextId context, int tries, After after)
      : calls_(std::move(calls)), to_(to), context_(context), tries_(tries), after_(after) {}
  void run(const std::shared_ptr<future::FutureState>& done) noexcept override {
    done->mark_seen();
    go_on(done->error());
  }
  void abandon(future::FutureState&, const std::exception_ptr& why) noexcept override { go_on(why); }
  bool is_quick() const noexcept override { return true; }

  // `tries`: the number of failed ones.
  static void send(rpc::Calls& calls, WorkerId to, ContextId context, int tries) noexcept {
    try {
      rpc::CallRequest request{rpc::Destination(int{to}, {}).within(kReleaseSeconds), rpc::target_of(kRelease), {}};
      request.arguments.positional = {rpc::to_value(context)};
      request.sections.push_back({rpc::SectionTag::Repeated, {}});
      request.holds_shutdown = holds_shutdown(tries);
      const auto answer = calls.sender().call(std::move(request));
      answer.state()->attach(std::make_unique<TryAgain>(calls.weak_from_this(), to, context, tries, After::Try));
    } catch (...) {
      rest(calls, to, context, tries, std::current_exception());
    }
  }

 private:
  static bool holds_shutdown(int tries) noexcept { return tries < kHoldingTries; }

  // Does nothing if the worker has left.
  static void rest(rpc::Calls& calls, WorkerId to, ContextId context, int tries,
                   const std::exception_ptr& why) noexcept {
    try {
      const ErrorKind kind = rpc::error_of(why).kind();
      const auto worker = calls.workers().find(to);
      if (kind == ErrorKind::Disconnected || kind == ErrorKind::InvalidArgument || !worker) return;
      const base::Nanoseconds time = std::min(kFirstRest * (1 << std::min(tries, kDoublings)), kLongestRest);
      const auto rest = calls.sender().rest(worker->key(), time, holds_shutdown(tries));
      rest.state()->attach(std::make_unique<TryAgain>(calls.weak_from_this(), to, context, tries + 1, After::Rest));
    } catch (...) {
      return;  // no memory, or no thread: the worker keeps the context until the session ends
    }
  }

  void go_on(const std::exception_ptr& error) noexcept {
    const auto calls = calls_.lock();
    if (calls == nullptr) return;
    core::ThreadState state;
    state.rank = &calls->rank();
    const core::ThreadStateGuard guard(std::move(state));
    if (after_ == After::Try) {
      if (error != nullptr) rest(*calls, to_, context_, tries_, error);
    } else if (error == nullptr) {
      send(*calls, to_, context_, tries_);
    }
  }

  const std::weak_ptr<rpc::Calls> calls_;
  const WorkerId to_;
  const ContextId context_;
  const int tries_;
  const After after_;
};

}  // namespace

void tell_released(rpc::Calls& calls, WorkerId to, ContextId context) noexcept {
  core::ThreadState state = core::thread_state();
  state.autograd_context = rpc::kNoContext;
  const core::ThreadStateGuard guard(std::move(state));
  TryAgain::send(calls, to, context, 0);
}

}  // namespace distrun::dist_autograd
