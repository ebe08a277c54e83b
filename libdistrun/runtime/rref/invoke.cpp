#include <distrun/runtime/rref/invoke.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/calls/names.hpp>
#include <distrun/runtime/rref/later.hpp>
#include <distrun/runtime/rref/methods.hpp>
#include <distrun/runtime/rref/references.hpp>

namespace distrun::rref {
namespace {

// `type`: the type of the value, as reported by its owner.
rpc::CallRequest request_of(Invocation& invocation, const std::string& type) {
  const char* const shown = rpc::lasting_name(type + "." + invocation.method);
  rpc::CallRequest request = invocation.handle->request(kInvoke, shown, invocation.timeout, invocation.site);
  rpc::Map named;
  for (auto& [name, value] : invocation.arguments.named) {
    named.items.emplace_back(Value(std::move(name)), std::move(value));
  }
  rpc::ValueList& passed = request.arguments.positional;
  passed.push_back(Value(invocation.method));
  passed.push_back(Value(rpc::Tuple{std::move(invocation.arguments.positional)}));
  passed.push_back(Value(std::move(named)));
  return request;
}

// Returns the type of the value, and checks that it has the method.
std::string checked_type(const Invocation& invocation) {
  const auto asked = invocation.handle->type(invocation.timeout, invocation.site);
  std::string type = asked.wait({}, invocation.site);
  check_method(type, invocation.method);
  return type;
}

std::shared_ptr<rpc::Calls> calls_for(const Invocation& invocation) { return invocation.handle->keeper()->calls(); }

References& references_for(const Invocation& invocation) {
  return static_cast<References&>(*invocation.handle->keeper());
}
std::shared_ptr<const void> lend(const Invocation& invocation) {
  return references_for(invocation).lend(invocation.handle);
}

// Continues when the type is known.
class InvokeLater final : public future::Continuation {
 public:
  InvokeLater(Invocation invocation, const rpc::ResultType& type, std::shared_ptr<future::FutureState> child)
      : invocation_(std::move(invocation)), type_(type), child_(std::move(child)) {}

  void run(const std::shared_ptr<future::FutureState>& done) noexcept override {
    try {
      done->throw_if_failed();
      const std::string type = future::Future<std::string>::of(done).value();
      check_method(type, invocation_.method);
      const auto calls = calls_for(invocation_);
      auto lent = lend(invocation_);
      const auto called =
          future::Future<Value>::of(calls->sender().call_or_fail(request_of(invocation_, type), rpc::kResultOf<Value>));
      keep_until(*called.state(), std::move(lent));
      called.state()->attach(std::make_unique<StoreLater>(type_, child_));
    } catch (...) {
      fail(std::current_exception());
    }
  }
  void abandon(future::FutureState&, const std::exception_ptr& why) noexcept override { fail(why); }

 private:
  void fail(const std::exception_ptr& why) noexcept {
    if (child_->try_begin()) child_->end(why);
  }

  Invocation invocation_;
  const rpc::ResultType& type_;
  const std::shared_ptr<future::FutureState> child_;
};

}  // namespace

Value invoke(Invocation invocation) {
  const std::string type = checked_type(invocation);
  const auto calls = calls_for(invocation);
  const auto lent = lend(invocation);
  return calls->sender().call_and_wait(request_of(invocation, type));
}

std::shared_ptr<future::FutureState> invoke_async(Invocation invocation, const rpc::ResultType& type) {
  const auto asked = invocation.handle->type(invocation.timeout, invocation.site);
  if (asked.done() && !asked.failed() && has_method(asked.value(), invocation.method)) {
    const auto calls = calls_for(invocation);
    auto lent = lend(invocation);
    auto called = calls->sender().call_or_fail(request_of(invocation, asked.value()), type);
    keep_until(*called, std::move(lent));
    return called;
  }
  auto child = type.make(future::info_of_child(*asked.state(), invocation.site));
  asked.state()->attach(std::make_unique<InvokeLater>(std::move(invocation), type, child));
  return child;
}

HandlePtr invoke_remote(Invocation invocation) {
  const std::string type = checked_type(invocation);
  auto lent = lend(invocation);
  HandlePtr made = references_for(invocation).create(request_of(invocation, type));
  keep_until(*made->creation().state(), std::move(lent));
  return made;
}

}  // namespace distrun::rref
