#pragma once
// A process that does nothing but serve a store, as a coordinator forks one.
#include <catch2/catch.hpp>

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/store_server/store_server.hpp>
#include <distrun/common/store_server/tcp_address.hpp>
#include <distrun/runtime/store/tcp_store.hpp>

#include "support/scratch.hpp"

namespace distrun::stores {

using namespace std::chrono_literals;

inline constexpr char kSecret[] = "open sesame";

// A child that serves a store at a socket until its parent closes a pipe.
class ServingChild {
 public:
  explicit ServingChild(const ServerLimits& limits = {}) {
    base::Fd listening = listen_for_store("127.0.0.1", 0);
    port_ = port_of(listening.get());
    base::FdPair pipe = base::make_pipe();
    ::malloc_trim(0);  // memory that is free here would be the child's to use
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      pipe.second.reset();
      try {
        serve_store(std::move(listening), kSecret, std::move(pipe.first), limits);
        ::_exit(0);
      } catch (const std::exception&) {
        ::_exit(1);
      }
    }
    keeps_ = std::move(pipe.second);
    first_bytes_ = bytes_of("VmRSS:");
  }
  ServingChild(const ServingChild&) = delete;
  ServingChild& operator=(const ServingChild&) = delete;
  ~ServingChild() {
    if (!keeps_) return;
    go_on();
    end();
  }

  std::uint16_t port() const noexcept { return port_; }
  TcpStoreOptions client() const { return {.port = port_, .timeout = 30s, .secret = kSecret}; }
  void write(std::string_view bytes) const { REQUIRE(::write(keeps_.get(), bytes.data(), bytes.size()) > 0); }
  // Returns the most memory that the child has had so far, without what it had at first.
  std::size_t peak_bytes() const { return bytes_of("VmHWM:") - first_bytes_; }
  void stop() const { REQUIRE(::kill(pid_, SIGSTOP) == 0); }
  void go_on() const { REQUIRE(::kill(pid_, SIGCONT) == 0); }
  // Closes the pipe, and returns the child's exit status once it has ended.
  int end() {
    keeps_.reset();
    int status = -1;
    ::waitpid(pid_, &status, 0);
    return status;
  }

 private:
  std::size_t bytes_of(const std::string& field) const {
    const std::string status = testing::read_file("/proc/" + std::to_string(pid_) + "/status");
    const std::size_t at = status.find(field);
    REQUIRE(at != std::string::npos);
    return std::strtoul(status.c_str() + at + field.size(), nullptr, 10) << 10;
  }

  std::uint16_t port_ = 0;
  base::Fd keeps_;
  pid_t pid_ = 0;
  std::size_t first_bytes_ = 0;
};

}  // namespace distrun::stores
