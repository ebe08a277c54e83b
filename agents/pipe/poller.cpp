#include <agents/pipe/poller.hpp>

#include <cerrno>

#include <distrun/common/base/error.hpp>

namespace distrun::agents::pipe {
namespace {

constexpr int kNumberBits = 56;

epoll_event entry_of(std::uint32_t events, Token token) noexcept {
  epoll_event entry{};
  entry.events = events;
  entry.data.u64 = static_cast<std::uint64_t>(token.kind) << kNumberBits | token.number;
  return entry;
}

Token token_of(const epoll_event& entry) noexcept {
  const std::uint64_t bits = entry.data.u64;
  return {static_cast<PollKind>(bits >> kNumberBits), bits & ((std::uint64_t{1} << kNumberBits) - 1)};
}

}  // namespace

Poller::Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) base::throw_errno("cannot create an epoll", errno);
}

void Poller::add(int fd, std::uint32_t events, Token token) {
  epoll_event entry = entry_of(events, token);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &entry) != 0) base::throw_errno("cannot watch a descriptor", errno);
}

void Poller::change(int fd, std::uint32_t events, Token token) noexcept {
  epoll_event entry = entry_of(events, token);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &entry);
}

void Poller::remove(int fd) noexcept { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

std::span<const Polled> Poller::wait(bool sleeps) noexcept {
  std::array<epoll_event, kBatch> entries;
  const int count = ::epoll_wait(epoll_.get(), entries.data(), static_cast<int>(kBatch), sleeps ? -1 : 0);
  std::size_t filled = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& entry = entries[static_cast<std::size_t>(i)];
    ready_[filled++] = {token_of(entry), entry.events};
  }
  return {ready_.data(), filled};
}

}  // namespace distrun::agents::pipe
