#include <distrun/common/io/loop.hpp>

#include <boost/asio/post.hpp>

#include <memory>
#include <utility>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/deadline.hpp>
#include <distrun/common/io/handler_memory.hpp>

namespace distrun::io {

Loop::Loop(const base::Clock& clock) : clock_(clock), thread_(std::this_thread::get_id()) {}

void Loop::run() {
  thread_ = std::this_thread::get_id();
  context_.restart();
  context_.run();
}

void Loop::post(std::function<void()> work) { boost::asio::post(context_, std::move(work)); }

// Shared with the pending wait, which may still be queued after the alarm is destroyed.
struct Alarm::State {
  State(Loop& of, std::function<void()> on_time) : loop(of), timer(of.context()), handler(std::move(on_time)) {}
  Loop& loop;
  boost::asio::steady_timer timer;
  std::function<void()> handler;
  unsigned generation = 0;
  const std::shared_ptr<HandlerMemory> memory = std::make_shared<HandlerMemory>();
};

Alarm::Alarm(Loop& loop, std::function<void()> handler) : state_(std::make_shared<State>(loop, std::move(handler))) {}

Alarm::~Alarm() { cancel(); }

void Alarm::set(base::TimePoint when) {
  DISTRUN_ASSERT(state_->loop.in_loop());
  const unsigned generation = ++state_->generation;
  state_->timer.expires_at(when);
  const auto on_time = [weak = std::weak_ptr(state_), generation](const auto& error) {
    const auto state = weak.lock();
    // A wait that was moved or cancelled may already have been queued as done.
    if (!error && state && state->generation == generation) state->handler();
  };
  state_->timer.async_wait(in_memory(state_->memory, on_time));
}

void Alarm::set_after(base::Nanoseconds time) { set(base::deadline_after(time, state_->loop.clock().now())); }

void Alarm::cancel() {
  DISTRUN_ASSERT(state_->loop.in_loop());
  ++state_->generation;
  state_->timer.cancel();
}

}  // namespace distrun::io
