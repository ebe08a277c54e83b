#pragma once
// Completes futures with the help of the threads that wait for them.
#include <functional>
#include <utility>

#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/future/progress.hpp>

namespace distrun::testing {

class FakeProgress final : public future::Progress {
 public:
  explicit FakeProgress(std::function<void()> work) : work_(std::move(work)) {}

  void help(const Awaited& awaited, base::TimePoint deadline_) noexcept override {
    ++calls;
    was_there = awaited.is_there();
    deadline = deadline_;
    work_();
    is_there = awaited.is_there();
  }

  int calls = 0;
  bool was_there = true, is_there = false;
  base::TimePoint deadline{};

 private:
  std::function<void()> work_;
};

template <class T>
Future<T> future_with(std::shared_ptr<future::Progress> progress) {
  future::FutureInfo info(base::Location::here());
  info.progress = std::move(progress);
  return Future<T>::of(std::move(info));
}

}  // namespace distrun::testing
