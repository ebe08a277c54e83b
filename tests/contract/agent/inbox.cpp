#include "inbox.hpp"

#include "support/sandbox.hpp"

namespace distrun::rpc::testing {

using namespace std::chrono_literals;

void Inbox::hold() {
  const std::lock_guard lock(mutex_);
  is_held_ = true;
}

void Inbox::let_go() {
  const std::lock_guard lock(mutex_);
  is_held_ = false;
  changed_.notify_all();
}

template <class Ready>
bool Inbox::wait(Ready ready) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, distrun::testing::scaled(30s), ready);
}

bool Inbox::wait_messages(std::size_t count) {
  return wait([&] { return count_ >= count; });
}
bool Inbox::wait_losses(std::size_t count) {
  return wait([&] { return losses_.size() >= count; });
}
bool Inbox::wait_held() {
  return wait([&] { return is_holding_; });
}

std::size_t Inbox::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::vector<Got> Inbox::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(got_, {});
}

std::vector<std::string> Inbox::losses() const {
  const std::lock_guard lock(mutex_);
  return losses_;
}

void Inbox::is_closed() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
}

void Inbox::forget(WorkerId id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(lost_, [&](WorkerKey each) { return each.id == id; });
}

std::string Inbox::complaints() const {
  const std::lock_guard lock(mutex_);
  return complaints_;
}

void Inbox::begin(const WorkerInfo& from, const char* what) {
  if (is_closed_) complaints_ += std::string(what) + " after close(). ";
  if (!active_.insert(from.key()).second) complaints_ += "two calls at a time for " + from.name() + ". ";
  if (lost_.count(from.key()) > 0) complaints_ += std::string(what) + " of " + from.name() + ", which is lost. ";
}

std::unique_ptr<future::HandlerTask> Inbox::receive(const WorkerInfo& from, Message message) noexcept {
  {
    const std::lock_guard lock(mutex_);
    begin(from, "a message");
    if (!answer_) got_.push_back({from.id(), std::move(message)});
  }
  std::unique_ptr<future::HandlerTask> task;
  if (answer_) task = answer_(from, message);
  std::unique_lock lock(mutex_);
  ++count_;
  is_holding_ = is_held_;
  changed_.notify_all();
  changed_.wait_for(lock, 60s, [this] { return !is_held_; });
  active_.erase(from.key());
  return task;
}

void Inbox::lose(const WorkerInfo& peer, const base::Error& why) noexcept {
  const std::lock_guard lock(mutex_);
  begin(peer, "a loss");
  lost_.insert(peer.key());
  losses_.push_back(peer.name() + ": " + why.what());
  active_.erase(peer.key());
  changed_.notify_all();
}

}  // namespace distrun::rpc::testing
