#include <distrun/common/io/fd_watch.hpp>

#include <boost/asio/posix/stream_descriptor.hpp>

#include <utility>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/error.hpp>

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

void FdWatch::arm(const std::shared_ptr<State>& state) {
  state->descriptor.async_wait(Descriptor::wait_read, [weak = std::weak_ptr(state)](const auto& error) {
    const auto alive = weak.lock();
    if (error || !alive || !alive->descriptor.is_open()) return;
    alive->on_readable();
    if (alive->descriptor.is_open()) arm(alive);
  });
}

void FdWatch::when_writable(std::function<void()> on_writable) {
  state_->descriptor.async_wait(Descriptor::wait_write,
                                [weak = std::weak_ptr(state_), call = std::move(on_writable)](const auto& error) {
                                  const auto alive = weak.lock();
                                  if (!error && alive && alive->descriptor.is_open()) call();
                                });
}

}  // namespace distrun::io
