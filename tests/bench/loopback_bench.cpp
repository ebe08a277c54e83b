// The speed of TCP itself on this machine, to compare with RPC between hosts (rpc_bench.cpp): bytes through one
// connection over the loopback, into memory that is already mapped, and a byte back.
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <memory>

#include <distrun/common/base/fd.hpp>

#include "rpc_report.hpp"

namespace {

using namespace distrun;
using bench::batch_of;
using bench::now_us;

struct Ends {
  base::Fd sender, receiver;
};

Ends connected() {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  auto* const address = reinterpret_cast<sockaddr*>(&place);
  const base::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Ends ends{base::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), {}};
  const bool is_connected = ::bind(listener.get(), address, size) == 0 && ::listen(listener.get(), 1) == 0 &&
                            ::getsockname(listener.get(), address, &size) == 0 &&
                            ::connect(ends.sender.get(), address, size) == 0;
  if (is_connected) ends.receiver.reset(::accept(listener.get(), nullptr, nullptr));
  const int yes = 1;
  for (const base::Fd* each : {&ends.sender, &ends.receiver}) {
    ::setsockopt(each->get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  return ends;
}

bool send_all(int socket, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t sent = ::send(socket, bytes, count, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}

// Receives messages and acknowledges each, until the sender is gone.
void receive_all(int socket, std::size_t bytes) {
  const std::unique_ptr<char[]> memory(new char[bytes]());
  for (;;) {
    const ssize_t got = ::recv(socket, memory.get(), bytes, MSG_WAITALL);
    if (got != static_cast<ssize_t>(bytes) || !send_all(socket, "y", 1)) return;
  }
}

void bytes_there(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    Ends ends = connected();
    const pid_t child = ::fork();
    if (child == 0) {
      ends.sender.reset();
      receive_all(ends.receiver.get(), bytes);
      ::_exit(0);
    }
    ends.receiver.reset();
    const std::unique_ptr<char[]> memory(new char[bytes]());
    bench::Figures figures;
    char answer = 0;
    for (int i = 0; i < batch_of(bytes < (1 << 23) ? 600 : 21); ++i) {
      const double begin = now_us();
      const bool is_there =
          send_all(ends.sender.get(), memory.get(), bytes) && ::recv(ends.sender.get(), &answer, 1, MSG_WAITALL) == 1;
      if (!is_there) figures.error = "the connection broke";
      figures.samples.push_back(now_us() - begin);
    }
    ends.sender.reset();
    ::waitpid(child, nullptr, 0);
    if (!bench::report(state, figures)) return;
    state.counters["GB_per_s"] = static_cast<double>(bytes) / bench::median_of(figures.samples) / 1e3;
  }
}

const bool loopback_is_registered = [] {
  bench::once(benchmark::RegisterBenchmark("bytes_there/loopback", bytes_there))
      ->Arg(4 << 10)
      ->Arg(1 << 20)
      ->Arg(64 << 20);
  return true;
}();

}  // namespace
