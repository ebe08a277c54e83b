#include "points.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include <agents/pipe/transports/byte_ring.hpp>

namespace distrun::rpc::testing {
namespace {

using agents::pipe::kRingBytes;

constexpr std::size_t kHeadBytes = 4096;
constexpr std::size_t kPage = 4096;
constexpr int kFdsMax = 256;
constexpr int kRoomMs = 2000;
constexpr std::size_t kLargeRead = 64 * 1024;  // smaller reads probe whether memory is readable

std::atomic<Point> armed{Point::None};
std::atomic<std::size_t> bytes_left{0};
std::function<void()>& action() {
  static auto* const action = new std::function<void()>;
  return *action;
}
// Atomic, since what orders the threads here is a message between processes.
std::atomic<std::byte*> rings{nullptr};
std::atomic<std::byte*> struck_page{nullptr};

// Returns true once, if this point is armed.
bool take(Point point) noexcept {
  Point expected = point;
  return armed.compare_exchange_strong(expected, Point::None);
}
void reach_after(Point point, ssize_t count) {
  if (count <= 0 || armed.load() != point) return;
  const std::size_t moved = static_cast<std::size_t>(count);
  if (bytes_left.load() > moved) {
    bytes_left.fetch_sub(moved);
  } else {
    reach(point);
  }
}

void protect(std::byte* page, int how) noexcept {
  ::mprotect(page, kPage, how);
  ::mprotect(page + kRingBytes, kPage, how);  // the same memory is mapped twice
}
void on_touch(int, siginfo_t* what, void*) {
  const auto* const at = static_cast<std::byte*>(what->si_addr);
  std::byte* const page = struck_page.load();
  const bool is_it = page != nullptr &&
                     ((at >= page && at < page + kPage) || (at >= page + kRingBytes && at < page + kRingBytes + kPage));
  if (!is_it) std::abort();
  protect(page, PROT_READ | PROT_WRITE);
  reach(Point::TouchesRing);
}

template <class Visit>
void visit_sockets(Visit visit) noexcept {
  for (int fd = 3; fd < kFdsMax; ++fd) {
    sockaddr_storage peer;
    socklen_t size = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0) visit(fd);
  }
}

}  // namespace

void reach(Point point) {
  if (take(point)) action()();
}

void arm(Point point, std::function<void()> strike, std::size_t bytes) {
  action() = std::move(strike);
  bytes_left.store(bytes);
  armed.store(point);
}

bool find_rings() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("distrun-rpc-rings") == std::string::npos) continue;
    // NOLINTNEXTLINE: an address as the kernel tells it
    rings.store(reinterpret_cast<std::byte*>(std::strtoull(line.c_str(), nullptr, 16)));
    return true;
  }
  return false;
}

void arm_ring(Ring ring, std::function<void()> strike) {
  if (!find_rings()) std::abort();
  struct sigaction on {};
  on.sa_sigaction = on_touch;
  on.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &on, nullptr);
  std::byte* const page = rings.load() + kHeadBytes + (ring == Ring::Writes ? 2 * kRingBytes : 0) + kRingBytes / 2;
  struck_page.store(page);
  arm(Point::TouchesRing, std::move(strike));
  protect(page, PROT_NONE);
}

void cut_sockets() noexcept {
  visit_sockets([](int fd) { ::shutdown(fd, SHUT_RDWR); });
}
void write_junk_to_sockets() noexcept {
  char junk[100];
  std::memset(junk, 0xa5, sizeof junk);
  visit_sockets([&](int fd) {
    pollfd room{fd, POLLOUT, 0};  // writable: the other side reads
    while (::send(fd, junk, sizeof junk, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EAGAIN) {
      if (::poll(&room, 1, kRoomMs) != 1) return;
    }
  });
}
void write_junk_over_rings() noexcept {
  // Both ends read and write these words at the same time.
  auto* const words = reinterpret_cast<std::uint64_t*>(rings.load());
  for (std::size_t i = 0; i < 2 * sizeof(agents::pipe::RingHead) / sizeof(std::uint64_t); ++i) {
    std::atomic_ref(words[i]).store(0xa5a5'a5a5'a5a5'a5a5, std::memory_order_relaxed);
  }
}

}  // namespace distrun::rpc::testing

namespace points = distrun::rpc::testing;

// Replacements for the C library's functions, for everything in this binary.
extern "C" {

int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  const int got = static_cast<int>(::syscall(SYS_accept4, fd, address, size, flags));
  if (got >= 0) points::reach(points::Point::Accepts);
  return got;
}

ssize_t recvmsg(int fd, msghdr* message, int flags) {
  points::reach(points::Point::ReadsGreeting);
  return ::syscall(SYS_recvmsg, fd, message, flags);
}

ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  const ssize_t count = ::syscall(SYS_sendmsg, fd, message, flags);
  points::reach_after(points::Point::HasGreeted, count);
  points::reach_after(points::Point::HasSent, count);
  return count;
}

ssize_t recv(int fd, void* to, size_t bytes, int flags) {
  const ssize_t count = ::syscall(SYS_recvfrom, fd, to, bytes, flags, nullptr, nullptr);
  points::reach_after(points::Point::HasReceived, (flags & MSG_PEEK) != 0 ? 0 : count);
  return count;
}

ssize_t process_vm_readv(pid_t pid, const iovec* local, unsigned long locals, const iovec* remote,
                         unsigned long remotes, unsigned long flags) {
  if (local->iov_len < points::kLargeRead || !points::take(points::Point::ReadsMemory)) {
    return ::syscall(SYS_process_vm_readv, pid, local, locals, remote, remotes, flags);
  }
  const iovec half{local->iov_base, local->iov_len / 2}, half_there{remote->iov_base, remote->iov_len / 2};
  const ssize_t count = ::syscall(SYS_process_vm_readv, pid, &half, 1UL, &half_there, 1UL, flags);
  points::action()();
  return count;
}
}
