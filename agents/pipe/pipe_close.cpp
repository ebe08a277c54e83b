// How a PipeAgent closes. Takes no memory that it could not do without.
#include <algorithm>
#include <utility>

#include <agents/pipe/pipe_agent.hpp>
#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::agents::pipe {
namespace {

constexpr std::size_t kEndMax = 1024;

}  // namespace

// Blocks until everything is written, and read where the peer reads directly; or until the deadline.
void PipeAgent::flush_all(base::TimePoint deadline) noexcept {
  struct Written final : future::Progress::Awaited {
    explicit Written(const PipeAgent& agent_) noexcept : agent(agent_) {}
    bool is_there() const noexcept override { return agent.has_written_all(); }
    const PipeAgent& agent;
  };
  const Written written(*this);
  board::WaitInfo info;
  info.kind = board::WaitKind::Send;
  info.name = "queued messages to be sent";
  std::optional<core::PollingWait> wait;
  while (!written.is_there() && base::system_clock().now() < deadline) {
    reactor_->help(written, deadline);
    if (written.is_there()) return;
    if (!wait) base::if_memory([&] { wait.emplace(info, deadline); });
    if (wait && wait->rest(std::chrono::milliseconds(1)) != core::WaitEnd::Ready) return;
  }
}

bool PipeAgent::has_written_all() const noexcept {
  const std::shared_lock lock(mutex_);
  return std::ranges::none_of(links_, [](const auto& each) {
    const Link& link = *each.second;
    return (link.has_queue() || link.has_kept()) && !link.is_over();
  });
}

void PipeAgent::set_end(const std::string& why, int because_of) noexcept {
  const std::unique_lock lock(mutex_);
  base::if_memory([&] { end_ = why.substr(0, kEndMax); });
  end_because_of_ = because_of;
}

void PipeAgent::close(base::Nanoseconds limit) noexcept {
  if (mark_.is_inherited() || is_closed_.exchange(true)) return;
  const bool was_started = receiver_.load() != nullptr;
  const base::TimePoint deadline = base::deadline_after(limit);
  if (was_started && limit.count() > 0) flush_all(deadline);
  std::string end;
  int because_of = -1;
  {
    const std::shared_lock lock(mutex_);
    base::if_memory([&] { end = end_; });
    because_of = end_because_of_;
  }
  WorkerId id = -1;
  while (const LinkPtr each = next(id)) {
    try {
      if (each->state() == Link::State::Up) each->send_leave(end, because_of), each->ring();
    } catch (const std::exception&) {  // the peer has left before, or learns of the end without this
    }
  }
  if (was_started && limit.count() > 0) flush_all(deadline);
  reactor_->close();
  if (was_started) pool_.leave(*reactor_);
  io_thread_->close();
  std::map<WorkerId, LinkPtr> gone;
  {
    const std::unique_lock lock(mutex_);
    gone.swap(links_);
  }
  for (const auto& [peer, link] : gone) link->close();
  reactor_->forget_links();
  receiver_.store(nullptr);
}

}  // namespace distrun::agents::pipe
