#include <distrun/runtime/rpc/calls/recorded.hpp>

#include <utility>

namespace distrun::rpc {
namespace {

const char* name_of(CallMode mode) noexcept {
  switch (mode) {
    case CallMode::Sync: return "rpc_sync";
    case CallMode::Async: return "rpc_async";
    case CallMode::Remote: return "rpc_remote";
  }
  return "";
}

class EndSpan final : public future::Continuation {
 public:
  EndSpan(profiler::Span span, const ResultType& type, std::shared_ptr<future::FutureState> child)
      : span_(std::move(span)), type_(type), child_(std::move(child)) {}
  void run(const std::shared_ptr<future::FutureState>& done) noexcept override {
    span_.end();
    if (!child_->try_begin()) return;
    if (const std::exception_ptr error = done->error()) return child_->end(error);
    type_.store(*child_, Value(future::Future<Value>::of(done).value()));
  }
  void abandon(future::FutureState&, const std::exception_ptr& why) noexcept override {
    span_.end();
    if (child_->try_begin()) child_->end(why);
  }
  bool is_quick() const noexcept override { return true; }

 private:
  profiler::Span span_;
  const ResultType& type_;
  std::shared_ptr<future::FutureState> child_;
};

}  // namespace

std::string event_name(CallMode mode, std::string_view callee, std::string_view from, std::string_view to) {
  std::string name = name_of(mode);
  name += '#';
  name += callee;
  name += '(';
  name += from;
  name += " -> ";
  name += to;
  name += ')';
  return name;
}

std::shared_ptr<future::FutureState> recorded(const future::Future<Value>& of_value, const ResultType& type,
                                              profiler::Span span, base::Location site) {
  auto child = type.make(future::info_of_child(*of_value.state(), site));
  of_value.state()->attach(std::make_unique<EndSpan>(std::move(span), type, child));
  return child;
}

}  // namespace distrun::rpc
