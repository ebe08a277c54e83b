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

// Limit for a test that hangs; a passing test never waits this long.
inline constexpr std::chrono::seconds kLong{30};

// Runs handlers until `done` holds; returns false if it does not within `limit`.
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

// Runs ready handlers without waiting.
inline void run_ready(io::Loop& loop) {
  loop.context().restart();
  loop.context().poll();
}

// Runs the loop for a while, to check that something does not happen.
inline void run_for(io::Loop& loop, std::chrono::milliseconds length) {
  run_until(
      loop, [] { return false; }, length);
}

// Returns the task's result, or throws its exception.
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
