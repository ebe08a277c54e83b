#pragma once
// Continuations of futures of values.
#include <memory>
#include <utility>

#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/rpc/calls/result_type.hpp>

namespace distrun::rref {

// Converts the value as `type` says, when it is ready.
class StoreLater final : public future::Continuation {
 public:
  StoreLater(const rpc::ResultType& type, std::shared_ptr<future::FutureState> child)
      : type_(type), child_(std::move(child)) {}
  void run(const std::shared_ptr<future::FutureState>& done) noexcept override {
    if (!child_->try_begin()) return;
    if (std::exception_ptr error = done->error()) return child_->end(std::move(error));
    try {
      done->follow();
      type_.store(*child_, rpc::Value(future::Future<rpc::Value>::of(done).value()));
    } catch (...) {
      child_->end(std::current_exception());
    }
  }
  void abandon(future::FutureState&, const std::exception_ptr& why) noexcept override {
    if (child_->try_begin()) child_->end(why);
  }

 private:
  const rpc::ResultType& type_;
  const std::shared_ptr<future::FutureState> child_;
};

// Keeps `kept` alive until the future is complete.
inline void keep_until(future::FutureState& state, std::shared_ptr<const void> kept) {
  class Keep final : public future::Continuation {
   public:
    explicit Keep(std::shared_ptr<const void> kept_) : kept(std::move(kept_)) {}
    void run(const std::shared_ptr<future::FutureState>&) noexcept override { kept.reset(); }
    void abandon(future::FutureState&, const std::exception_ptr&) noexcept override { kept.reset(); }
    bool is_quick() const noexcept override { return true; }
    std::shared_ptr<const void> kept;
  };
  state.attach(std::make_unique<Keep>(std::move(kept)));
}

}  // namespace distrun::rref
