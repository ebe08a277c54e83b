#pragma once
// A loop driven by a test, on the test's own thread.
#include <boost/asio/co_spawn.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>

#include <distrun/common/io/loop.hpp>
#include <distrun/common/io/task.hpp>

namespace distrun::testing {

// Ends a test that hangs; no test waits for it.
inline constexpr std::chrono::seconds kLong{30};

// Runs handlers until `done` holds; false if it does not within `limit`.
template <class Done>
bool run_until(io::Loop& loop, Done done, std::chrono::milliseconds limit = kLong) {
  const auto end = std::chrono::steady_clock::now() + limit;
  loop.context().restart();
  while (!done()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    loop.context().restart();
    loop.context().run_one_for(std::chrono::milliseconds(10));
  }
  return true;
}

// Runs what is ready and nothing that would have to be waited for.
inline void run_ready(io::Loop& loop) {
  loop.context().restart();
  loop.context().poll();
}

// Runs the loop for a while, to see that something does not happen meanwhile.
inline void run_for(io::Loop& loop, std::chrono::milliseconds length) {
  run_until(
      loop, [] { return false; }, length);
}

// The task's result, or what it threw.
template <class T>
T run_task(io::Loop& loop, io::Task<T> task) {
  std::exception_ptr failure;
  bool done = false;
  if constexpr (std::is_void_v<T>) {
    boost::asio::co_spawn(loop.context(), std::move(task), [&](std::exception_ptr error) {
      failure = error;
      done = true;
    });
    if (!run_until(loop, [&] { return done; })) throw std::runtime_error("the task does not end");
    if (failure) std::rethrow_exception(failure);
  } else {
    std::optional<T> result;
    boost::asio::co_spawn(loop.context(), std::move(task), [&](std::exception_ptr error, T value) {
      failure = error;
      if (!error) result.emplace(std::move(value));
      done = true;
    });
    if (!run_until(loop, [&] { return done; })) throw std::runtime_error("the task does not end");
    if (failure) std::rethrow_exception(failure);
    return std::move(*result);
  }
}

}  // namespace distrun::testing
