#pragma once
// Calls a handler when a descriptor is readable (or hung up). Lives on: its loop. The handler may destroy the watch. It
// may be called with nothing to read: an event queued for a descriptor can reach the next one with the same number.
#include <functional>
#include <memory>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/io/loop.hpp>

namespace distrun::io {

class FdWatch {
 public:
  // Owns `fd`. `on_readable` is called as long as there is something to read: it reads, or closes. It is called again,
  // too, if it has thrown, which leaves Loop::run().
  FdWatch(Loop& loop, base::Fd fd, std::function<void()> on_readable);
  ~FdWatch();
  FdWatch(const FdWatch&) = delete;
  FdWatch& operator=(const FdWatch&) = delete;

  int fd() const noexcept;
  // `on_readable` is not called until resume(), also not at the end of the connection. Both are idempotent.
  void pause() noexcept;
  void resume();
  // Calls `on_writable` once.
  void when_writable(std::function<void()> on_writable);

 private:
  struct State;
  class ArmsAgain;
  static void arm(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
};

}  // namespace distrun::io
