#include <agents/pipe/watches.hpp>

#include <sys/socket.h>

#include <cerrno>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::agents::pipe {
namespace {

// Ids have 15 bits (worker_info.hpp); the number above them distinguishes successive sockets of a peer.
constexpr int kIdBits = 16;
constexpr std::uint64_t kIdMask = (std::uint64_t{1} << kIdBits) - 1;

constexpr std::uint32_t kEnds = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

// Returns why no more bytes will come from a socket; nullopt: some may, or are there.
std::optional<std::string> end_of(int fd, bool may_have_bytes) {
  char byte = 0;
  const ssize_t count = ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (count == 0) return "the peer closed the connection";
  if (count > 0 && may_have_bytes) return std::nullopt;
  if (count > 0) return "the peer sent data on a socket that only signals its end";
  if (errno == EAGAIN || errno == EINTR) return std::nullopt;
  return "the connection broke: " + base::errno_text(errno);
}

}  // namespace

bool Watches::has(WorkerId peer) const {
  const std::lock_guard lock(mutex_);
  return peers_.contains(peer);
}

bool Watches::admit(WorkerId peer) {
  const std::lock_guard lock(mutex_);
  return peers_.try_emplace(peer).second;
}

void Watches::forget(WorkerId peer) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(peer);
  if (found == peers_.end()) return;
  if (found->second.fd >= 0) poller_.remove(found->second.fd);
  peers_.erase(found);
}

void Watches::clear() noexcept {
  const std::lock_guard lock(mutex_);
  peers_.clear();
}

void Watches::watch(WorkerId peer, int fd, bool readable) {
  const std::lock_guard lock(mutex_);
  Watch& watch = peers_[peer];
  DISTRUN_ASSERT(watch.fd < 0);  // a peer has one socket
  watch.token = {PollKind::Watched, ++last_ << kIdBits | static_cast<std::uint64_t>(peer)};
  watch.readable = readable;
  poller_.add(fd, events_of(watch), watch.token);
  watch.fd = fd;
}

void Watches::want_writable(WorkerId peer) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(peer);
  if (found == peers_.end() || found->second.fd < 0 || found->second.wants_writable) return;
  Watch& watch = found->second;
  watch.wants_writable = true;
  poller_.change(watch.fd, events_of(watch), watch.token);
}

std::optional<Watches::Seen> Watches::see(const Polled& polled) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = find(polled.token);
  if (found == peers_.end()) return std::nullopt;
  Watch& watch = found->second;
  Seen seen{found->first, watch.readable && (polled.events & EPOLLIN) != 0,
            watch.wants_writable && (polled.events & EPOLLOUT) != 0};
  if (seen.writable) {
    watch.wants_writable = false;
    poller_.change(watch.fd, events_of(watch), watch.token);
  }
  return seen;
}

std::optional<std::string> Watches::take_end(const Polled& polled) {
  const std::lock_guard lock(mutex_);
  const auto found = find(polled.token);
  if (found == peers_.end()) return std::nullopt;
  const Watch& watch = found->second;
  if ((polled.events & (watch.readable ? kEnds : kEnds | EPOLLIN)) == 0) return std::nullopt;
  std::optional<std::string> why = end_of(watch.fd, watch.readable);
  if (!why) return std::nullopt;
  poller_.remove(watch.fd);
  peers_.erase(found);
  return why;
}

std::map<WorkerId, Watches::Watch>::iterator Watches::find(Token token) noexcept {
  const auto found = peers_.find(static_cast<WorkerId>(token.number & kIdMask));
  return found != peers_.end() && found->second.token.number == token.number ? found : peers_.end();
}

std::uint32_t Watches::events_of(const Watch& watch) noexcept {
  return EPOLLRDHUP | EPOLLIN | (watch.wants_writable ? EPOLLOUT : 0U);
}

}  // namespace distrun::agents::pipe
