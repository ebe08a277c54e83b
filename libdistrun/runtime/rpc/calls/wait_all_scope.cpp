#include <distrun/runtime/rpc/calls/wait_all_scope.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/future/collect.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>

namespace distrun::rpc {
namespace {

constinit thread_local WaitAllScope* of_thread = nullptr;
constinit thread_local std::vector<future::AnyFuture>* futures_of_thread = nullptr;

}  // namespace

WaitAllScope::WaitAllScope(base::Location site) : site_(site) {
  if (of_thread != nullptr) throw Error(ErrorKind::Failed, "the thread is in a wait-all scope already", site);
  of_thread = this;
  futures_of_thread = &futures_;
}

WaitAllScope::~WaitAllScope() {
  if (is_over_) return;
  try {
    end(site_);
  } catch (const std::exception&) {
    future::unseen_errors_of(core::rank_state())
        .add("a wait-all scope was left by an error, and: " + future::describe_error(std::current_exception()));
  }
}

void WaitAllScope::end(base::Location site) {
  if (std::exchange(is_over_, true)) throw Error(ErrorKind::Failed, "the wait-all scope is over already", site);
  of_thread = nullptr;
  futures_of_thread = nullptr;
  std::vector<std::shared_ptr<future::FutureState>> states;
  for (const future::AnyFuture& each : futures_) states.push_back(each.state());
  future::wait_for_all(states, {}, site);
  for (const auto& each : states) each->follow();
}

const std::vector<future::AnyFuture>* WaitAllScope::futures() noexcept { return futures_of_thread; }

void WaitAllScope::add(const std::shared_ptr<future::FutureState>& state) {
  if (futures_of_thread != nullptr) futures_of_thread->push_back(future::AnyFuture(state));
}

}  // namespace distrun::rpc
