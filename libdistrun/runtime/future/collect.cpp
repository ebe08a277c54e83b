#include <distrun/runtime/future/collect.hpp>

#include <atomic>
#include <optional>

namespace distrun::future {
namespace {

class Telling final : public Continuation {
 public:
  // NOLINTNEXTLINE(bugprone-throw-keyword-missing): a pointer to a function is no exception
  Telling(std::size_t number, std::shared_ptr<Told> told) : number_(number), told_(std::move(told)) {}

  void run(const std::shared_ptr<FutureState>& done) noexcept override { (*told_)(number_, done, nullptr); }
  void abandon(FutureState&, const std::exception_ptr& why) noexcept override { (*told_)(number_, nullptr, why); }
  bool is_quick() const noexcept override { return true; }

 private:
  std::size_t number_;
  std::shared_ptr<Told> told_;
};

}  // namespace

void tell_each_done(const std::vector<std::shared_ptr<FutureState>>& states, Told told) {
  const auto shared = std::make_shared<Told>(std::move(told));
  for (std::size_t i = 0; i < states.size(); ++i) states[i]->attach(std::make_unique<Telling>(i, shared));
}

FutureInfo info_of_all(const std::vector<std::shared_ptr<FutureState>>& states, const char* name, base::Location site) {
  FutureInfo info(site);
  info.name = name;
  for (const auto& state : states) {
    if (state->is_done()) continue;
    info.peers.add(state->info().peers);
    info.follows_runtime = info.follows_runtime || !state->info().is_by_hand();
    if (info.progress == nullptr) info.progress = state->info().progress;
  }
  return info;
}

void wait_for_all(const std::vector<std::shared_ptr<FutureState>>& states, std::optional<base::Nanoseconds> timeout,
                  base::Location site) {
  if (states.empty()) return;
  struct Waited {
    explicit Waited(FutureInfo info) : end(Future<void>::of(std::move(info))) {}
    Future<void> end;  // done when all are, or with the first error
    std::atomic<std::size_t> left{0};
  };
  const auto waited = std::make_shared<Waited>(info_of_all(states, "wait_all", site));
  waited->left = states.size();
  tell_each_done(states, [waited](std::size_t, const auto& done, const std::exception_ptr& gone) {
    const std::exception_ptr error = done != nullptr ? done->error() : gone;
    const bool is_last = --waited->left == 0;
    if ((error != nullptr || is_last) && waited->end.state()->try_begin()) waited->end.state()->end(error);
  });
  for (const auto& state : states) state->mark_seen();
  waited->end.wait(timeout, site);
}

}  // namespace distrun::future
