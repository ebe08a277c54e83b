#include <distrun/runtime/rpc/calls/call.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/calls/builtin.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/calls/wait_all_scope.hpp>
#include <distrun/runtime/rpc/functions/operators.hpp>
#include <distrun/runtime/rpc/graph/graph.hpp>

namespace distrun::rpc {

Target target_of(std::string name) { return {std::move(name), {}}; }
Target target_of(const char* name) { return {std::string(name), {}}; }
Target target_of(FunctionName name) { return {std::move(name.name), {}}; }
Target target_of(std::shared_ptr<const GraphFunction> graph) {
  if (graph == nullptr) throw Error(ErrorKind::InvalidArgument, "TypeError", "there is no graph function to be called");
  return {std::move(graph), {}};
}

// Passes the object as the method's first argument.
Target target_of(BoundMethod method) {
  const Instance* const instance = method.object.get_if<Instance>();
  if (instance == nullptr) {
    throw Error(ErrorKind::InvalidArgument, "TypeError",
                describe(method.object) + " has no methods that can be called");
  }
  Target target{instance->type->name + "." + method.method, {}};
  target.before.push_back(std::move(method.object));
  return target;
}

std::shared_ptr<future::FutureState> call_async(CallRequest request, const ResultType& type) {
  auto state = current_calls()->sender().call_or_fail(std::move(request), type);
  WaitAllScope::add(state);
  return state;
}

Value call_sync(CallRequest request) { return current_calls()->sender().call_and_wait(std::move(request)); }

namespace {

// Passes the future as the first argument.
Value call_here(const std::string& name, const future::AnyFuture& future, const ValueList& more) {
  Arguments arguments;
  arguments.positional.push_back(Value(future));
  arguments.positional.insert(arguments.positional.end(), more.begin(), more.end());
  if (find_function(name) == nullptr && is_operator(name)) return run_builtin(name, arguments);
  const std::shared_ptr<const Function> function = get_function(name);
  Result result = function->run(bind_arguments(function->signature, std::move(arguments)));
  if (auto* const later = std::get_if<future::Future<Value>>(&result)) return later->wait();
  return std::get<Value>(std::move(result));
}

class CallHere final : public future::Continuation {
 public:
  CallHere(std::string name, ValueList more, future::Future<Value> child)
      : name_(std::move(name)), more_(std::move(more)), child_(std::move(child)) {}
  void run(const std::shared_ptr<future::FutureState>& done) noexcept override {
    try {
      child_.set_result(call_here(name_, Held(done), more_));
    } catch (...) {
      end(std::current_exception());
    }
  }
  void abandon(future::FutureState&, const std::exception_ptr& why) noexcept override { end(why); }

 private:
  // A handle of a future of any type.
  struct Held : future::AnyFuture {
    explicit Held(std::shared_ptr<future::FutureState> state) : AnyFuture(std::move(state)) {}
  };
  void end(const std::exception_ptr& error) noexcept {
    if (child_.state()->try_begin()) child_.state()->end(error);
  }

  std::string name_;
  ValueList more_;
  future::Future<Value> child_;
};

}  // namespace

future::Future<Value> then_call(const future::AnyFuture& future, const std::string& name, ValueList more) {
  const auto child = future::Future<Value>::of(future::info_of_child(*future.state(), base::Location()));
  future.state()->attach(std::make_unique<CallHere>(name, std::move(more), child));
  return child;
}

}  // namespace distrun::rpc
