#include <distrun/common/io/fd_watch.hpp>

#include <boost/asio/posix/stream_descriptor.hpp>

#include <utility>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/io/handler_memory.hpp>

namespace distrun::io {

using Descriptor = boost::asio::posix::stream_descriptor;

struct FdWatch::State {
  State(Loop& of, base::Fd fd, std::function<void()> handler)
      : loop(of), descriptor(of.context()), on_readable(std::move(handler)) {
    DISTRUN_ASSERT(loop.in_loop());
    boost::system::error_code failure;
    descriptor.assign(fd.get(), failure);
    if (failure) base::throw_errno("cannot watch a descriptor", failure.value());
    (void)fd.release();
  }
  Loop& loop;
  Descriptor descriptor;
  std::function<void()> on_readable;
  bool is_paused = false;
  bool is_armed = false;
  const std::shared_ptr<HandlerMemory> reads = std::make_shared<HandlerMemory>();
  const std::shared_ptr<HandlerMemory> writes = std::make_shared<HandlerMemory>();
};

// Waits again when a call of the handler has ended, also if that has thrown: nothing else would ask again.
class FdWatch::ArmsAgain {
 public:
  explicit ArmsAgain(const std::shared_ptr<State>& state) noexcept : state_(state) {}
  ~ArmsAgain() {
    if (state_->descriptor.is_open()) arm(state_);
  }
  ArmsAgain(const ArmsAgain&) = delete;
  ArmsAgain& operator=(const ArmsAgain&) = delete;

 private:
  const std::shared_ptr<State>& state_;
};

FdWatch::FdWatch(Loop& loop, base::Fd fd, std::function<void()> on_readable)
    : state_(std::make_shared<State>(loop, std::move(fd), std::move(on_readable))) {
  arm(state_);
}

FdWatch::~FdWatch() {
  DISTRUN_ASSERT(state_->loop.in_loop());
  boost::system::error_code ignored;
  state_->descriptor.close(ignored);
}

int FdWatch::fd() const noexcept { return state_->descriptor.native_handle(); }

void FdWatch::pause() noexcept { state_->is_paused = true; }

void FdWatch::resume() {
  DISTRUN_ASSERT(state_->loop.in_loop());
  state_->is_paused = false;
  arm(state_);
}

// A wait that ends while the watch is paused is begun again by resume().
void FdWatch::arm(const std::shared_ptr<State>& state) {
  if (state->is_paused || state->is_armed) return;
  const auto on_ready = [weak = std::weak_ptr(state)](const auto& error) {
    const auto alive = weak.lock();
    if (error || !alive || !alive->descriptor.is_open()) return;
    alive->is_armed = false;
    const ArmsAgain arms_again(alive);
    if (!alive->is_paused) alive->on_readable();
  };
  state->descriptor.async_wait(Descriptor::wait_read, in_memory(state->reads, on_ready));
  state->is_armed = true;
}

void FdWatch::when_writable(std::function<void()> on_writable) {
  auto on_ready = [weak = std::weak_ptr(state_), call = std::move(on_writable)](const auto& error) {
    const auto alive = weak.lock();
    if (!error && alive && alive->descriptor.is_open()) call();
  };
  state_->descriptor.async_wait(Descriptor::wait_write, in_memory(state_->writes, std::move(on_ready)));
}

}  // namespace distrun::io
