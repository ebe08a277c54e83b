#include <distrun/runner/daemon/run_queue.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>

namespace distrun::daemon {

int RunQueue::places_taken() const {
  return static_cast<int>(std::count_if(runs_.begin(), runs_.end(), [](const auto& entry) {
    return entry.second.running && !entry.second.stopped && !entry.second.over;
  }));
}

void RunQueue::add(const std::string& run_id) {
  // Runs that are about to start are in the queue too.
  const int waiting = places_taken() + static_cast<int>(queued_.size()) - limits_.parallel;
  if (waiting >= limits_.queued) {
    throw Error(ErrorKind::Overloaded, std::to_string(waiting) + (waiting == 1 ? " run is" : " runs are") +
                                           " queued, which is the limit; try again later, leave --daemon out, "
                                           "or start distrund with a larger --queue");
  }
  runs_[run_id] = {};
  queued_.push_back(run_id);
}

std::optional<std::string> RunQueue::next() {
  if (places_taken() >= limits_.parallel) return std::nullopt;
  const auto first =
      std::find_if(queued_.begin(), queued_.end(), [this](const std::string& id) { return !runs_.at(id).stopped; });
  if (first == queued_.end()) return std::nullopt;
  std::string run_id = *first;
  queued_.erase(first);
  runs_.at(run_id).running = true;
  return run_id;
}

void RunQueue::remove(const std::string& run_id) {
  runs_.erase(run_id);
  std::erase(queued_, run_id);
}

void RunQueue::set_stopped(const std::string& run_id, bool stopped) {
  if (const auto found = runs_.find(run_id); found != runs_.end()) found->second.stopped = stopped;
}

void RunQueue::set_over(const std::string& run_id) {
  if (const auto found = runs_.find(run_id); found != runs_.end()) found->second.over = true;
}

int RunQueue::ahead(const std::string& run_id) const {
  const auto place = std::find(queued_.begin(), queued_.end(), run_id);
  if (place == queued_.end()) return 0;
  return places_taken() + static_cast<int>(place - queued_.begin());
}

bool RunQueue::is_stopped(const std::string& run_id) const {
  const auto found = runs_.find(run_id);
  return found != runs_.end() && found->second.stopped;
}

bool RunQueue::is_over(const std::string& run_id) const {
  const auto found = runs_.find(run_id);
  return found != runs_.end() && found->second.over;
}

}  // namespace distrun::daemon
