// A process that does nothing but serve a store, as a coordinator forks one.
#include <catch2/catch.hpp>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/store_server/store_server.hpp>
#include <distrun/common/store_server/tcp_address.hpp>
#include <distrun/runtime/store/tcp_store.hpp>

#include "support/error_of.hpp"

namespace distrun::stores {
namespace {

using namespace std::chrono_literals;
using testing::error_of;

constexpr char kSecret[] = "open sesame";

// A child that serves a store at a socket until its parent closes a pipe.
class ServingChild {
 public:
  explicit ServingChild(const std::string& host = "127.0.0.1") {
    base::Fd listening = listen_for_store(host, 0);
    port_ = port_of(listening.get());
    base::FdPair pipe = base::make_pipe();
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      pipe.second.reset();
      try {
        serve_store(std::move(listening), kSecret, std::move(pipe.first));
        ::_exit(0);
      } catch (const std::exception&) {
        ::_exit(1);
      }
    }
    keeps_ = std::move(pipe.second);
  }
  ServingChild(const ServingChild&) = delete;
  ServingChild& operator=(const ServingChild&) = delete;
  ~ServingChild() {
    if (keeps_) end();
  }

  std::uint16_t port() const noexcept { return port_; }
  TcpStoreOptions client() const { return {.port = port_, .timeout = 30s, .secret = kSecret}; }
  void write(std::string_view bytes) const { REQUIRE(::write(keeps_.get(), bytes.data(), bytes.size()) > 0); }
  // Closes the pipe, and returns the child's exit status once it has ended.
  int end() {
    keeps_.reset();
    int status = -1;
    ::waitpid(pid_, &status, 0);
    return status;
  }

 private:
  std::uint16_t port_ = 0;
  base::Fd keeps_;
  pid_t pid_ = 0;
};

TEST_CASE("a process serves a store at a socket that already listens, until a pipe is at its end") {
  ServingChild child;
  TcpStore first("127.0.0.1", child.client());
  TcpStore second("127.0.0.1", child.client());
  first.set("key", "value");
  CHECK(second.get("key") == "value");
  child.write("bytes that mean nothing");
  CHECK(second.add("sum", 2) == 2);
  CHECK(child.end() == 0);
  const Error error = error_of([&] { first.get("key"); });
  CHECK(error.kind() == ErrorKind::Disconnected);
  CHECK_THAT(error.text(), Catch::Contains("the store at 127.0.0.1:" + std::to_string(child.port())));
}

TEST_CASE("a process that serves a store tells those without its secret nothing, and ends with its clients connected") {
  ServingChild child;
  TcpStoreOptions thief = child.client();
  thief.secret = "open barley";
  CHECK(error_of([&] { TcpStore("127.0.0.1", thief); }).kind() == ErrorKind::Disconnected);
  TcpStore client("127.0.0.1", child.client());
  CHECK(client.num_keys() == 0);
  CHECK(child.end() == 0);
}

TEST_CASE("a store that a process serves reports a missing key as each store does") {
  const ServingChild child;
  TcpStore client("127.0.0.1", child.client());
  client.set("step", "1");
  const Error error = error_of([&] { client.wait({"stepp"}, 10ms); });
  CHECK(error.type() == "DistStoreError");
  CHECK_THAT(error.text(), Catch::StartsWith("wait timeout after 10.0 ms, keys: stepp (did you mean step?)"));
}

TEST_CASE("an address that is not this machine's cannot be listened at, and the error names it") {
  const Error error = error_of([] { listen_for_store("192.0.2.1", 0); });  // an address of documentation
  CHECK(error.kind() == ErrorKind::Failed);
  CHECK_THAT(error.text(), Catch::Contains("192.0.2.1:0"));
}

}  // namespace
}  // namespace distrun::stores
