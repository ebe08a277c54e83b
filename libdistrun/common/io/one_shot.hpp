#pragma once
// A value that one coroutine waits for and that is set once. Loop only.
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <optional>
#include <utility>

#include <distrun/common/base/check.hpp>
#include <distrun/common/io/loop.hpp>
#include <distrun/common/io/task.hpp>

namespace distrun::io {

template <class T>
class OneShot {
 public:
  explicit OneShot(Loop& loop) : timer_(loop.context(), base::TimePoint::max()) {}

  void set(T value) {
    DISTRUN_ASSERT(!value_.has_value());
    value_ = std::move(value);
    timer_.cancel();
  }
  bool is_set() const noexcept { return value_.has_value(); }

  // The object must live until this completes.
  Task<T> wait() {
    while (!value_) {
      boost::system::error_code ignored;  // cancelling the timer ends the wait
      co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    co_return std::move(*value_);
  }

 private:
  boost::asio::steady_timer timer_;
  std::optional<T> value_;
};

}  // namespace distrun::io
