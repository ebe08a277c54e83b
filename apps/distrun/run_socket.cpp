#include "run_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>

#include <distrun/base/error.hpp>
#include <distrun/base/text.hpp>
#include <distrun/wire/frame.hpp>

namespace distrun::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

std::string prefix() { return wire::kInspectPrefix + std::to_string(::getuid()) + "-"; }

struct Address {
  sockaddr_un socket{};
  socklen_t size = 0;
};

Address address_of(const std::string& run_id) {
  const std::string name = prefix() + run_id;
  Address address;
  address.socket.sun_family = AF_UNIX;
  constexpr std::size_t kNameMax = sizeof address.socket.sun_path - 1;
  if (name.size() > kNameMax) {
    throw Error(ErrorKind::InvalidArgument, base::one_line(run_id, 100) + " is no run's id: it is too long");
  }
  name.copy(address.socket.sun_path + 1, kNameMax);  // the zero before it makes it abstract
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

base::Fd connect_to(const std::string& run_id) {
  const Address address = address_of(run_id);
  base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address.socket), address.size) != 0) {
    throw Error(ErrorKind::Failed, "cannot reach run " + base::one_line(run_id, 100) + ": " + base::errno_text(errno));
  }
  if (!is_trusted(socket.get())) {
    throw Error(ErrorKind::Failed, "run " + base::one_line(run_id, 100) + " is another user's");
  }
  return socket;
}

void send_all(int socket, const wire::Bytes& bytes) {
  if (::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    throw Error(ErrorKind::Failed, "the run does not take a question");
  }
}

// Waits for what comes, or throws when the time is over.
std::size_t receive(int socket, std::byte* into, std::size_t size, std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    const auto left = deadline - std::chrono::steady_clock::now();
    const auto left_ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    pollfd entry{socket, POLLIN, 0};
    const int ready = left_ms > 0 ? ::poll(&entry, 1, static_cast<int>(left_ms)) : 0;
    if (ready == 0) throw Error(ErrorKind::Timeout, "the run does not answer");
    const ssize_t got = ready > 0 ? ::recv(socket, into, size, 0) : -1;
    if (got == 0) throw Error(ErrorKind::Failed, "the run has ended");
    if (got > 0) return static_cast<std::size_t>(got);
    if (errno != EINTR && errno != EAGAIN) throw Error(ErrorKind::Failed, "the run does not answer");
  }
}

template <class T>
T ask(const std::string& run_id, const wire::InspectOrder& order, wire::FrameKind answer) {
  const base::Fd socket = connect_to(run_id);
  send_all(socket.get(), wire::pack(wire::FrameKind::Inspect, 0, order));
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  wire::FrameSplitter splitter;
  std::vector<std::byte> buffer(std::size_t{64} << 10);
  for (;;) {
    if (const auto frame = splitter.next(); frame && frame->kind == answer) {
      return wire::decode<T>(wire::view_of(frame->payload));
    }
    const std::size_t got = receive(socket.get(), buffer.data(), buffer.size(), deadline);
    splitter.feed(wire::view_of(buffer.data(), got));
  }
}

}  // namespace

base::Fd listen_for(const std::string& run_id) {
  const Address address = address_of(run_id);
  base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.socket), address.size) != 0 ||
      ::listen(socket.get(), 8) != 0) {
    base::throw_errno("cannot listen for `distrun ps` and `stacks`", errno);
  }
  return socket;
}

bool is_trusted(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == ::getuid() || peer.uid == 0;
}

std::vector<std::string> running_ids() {
  const std::string wanted = "@" + prefix();
  std::set<std::string> ids;  // a listening socket and each of its connections have a line
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const std::size_t at = line.find(wanted);
    if (at != std::string::npos) ids.insert(line.substr(at + wanted.size()));
  }
  return {ids.begin(), ids.end()};
}

wire::RunStatus ask_status(const std::string& run_id) {
  return ask<wire::RunStatus>(run_id, {wire::InspectKind::Status, -1}, wire::FrameKind::RunStatus);
}

wire::ToldStacks ask_stacks(const std::string& run_id, int rank) {
  return ask<wire::ToldStacks>(run_id, {wire::InspectKind::Stacks, rank}, wire::FrameKind::ToldStacks);
}

std::string find_run(const std::string& wanted) {
  std::vector<std::string> matching;
  std::string all;
  for (const std::string& id : running_ids()) {
    all += (all.empty() ? "" : ", ") + id;
    if (id.starts_with(wanted)) matching.push_back(id);
  }
  if (matching.size() == 1) return matching.front();
  if (all.empty()) throw Error(ErrorKind::InvalidArgument, "no distrun of this user runs at the moment");
  throw Error(ErrorKind::InvalidArgument,
              (matching.empty() ? "no run's id starts with " + base::one_line(wanted, 100) + "; there are: "
                                : "which run? There are: ") + all);
}

}  // namespace distrun::cli
