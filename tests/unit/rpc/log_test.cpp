// Messages on a callee's stderr about calls that failed.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <deque>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/calls/log.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>

#include "session_ranks.hpp"
#include "support/process.hpp"

namespace distrun::rpc {
namespace {

void log_fail() { throw Error(ErrorKind::Failed, std::string(200, 'x')); }
DISTRUN_RPC(log_fail)

class NoText : public std::exception {
 public:
  const char* what() const noexcept override { return nullptr; }
};
void log_fail_without_text() { throw NoText(); }
DISTRUN_RPC(log_fail_without_text)

// Redirects stderr into a pipe during its lifetime.
class Piped {
 public:
  Piped() : before_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    read_ = base::Fd(ends[0]);
    const base::Fd write(ends[1]);
    ::fcntl(ends[1], F_SETFL, 0);  // writes block when the pipe is full, as usual
    ::dup2(write.get(), STDERR_FILENO);
  }
  ~Piped() { ::dup2(before_.get(), STDERR_FILENO); }
  Piped(const Piped&) = delete;
  Piped& operator=(const Piped&) = delete;

  std::string read() const {
    std::string text;
    std::array<char, 65536> bytes{};
    for (ssize_t count = 0; (count = ::read(read_.get(), bytes.data(), bytes.size())) > 0;) {
      text.append(bytes.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  base::Fd before_, read_;
};

}  // namespace

TEST_CASE("a worker with a blocked stderr still answers failing calls, and counts the dropped log texts") {
  const Ranks ranks(2);
  REQUIRE(ranks.run([&](int rank) { init_rpc(ranks.options(rank)); }) == no_errors(2));
  std::string text;
  {
    const Piped piped;
    const auto fail = [&] {
      const std::string error = ranks.error_as(0, [] { rpc_sync<void>("worker1", "log_fail"); });
      CHECK_THAT(error, Catch::Contains("xxxx"));
    };
    for (int call = 0; call < 1000; ++call) fail();
    (void)piped.read();
    fail();
    text = piped.read();
  }
  CHECK_THAT(text, Catch::Contains("(RPC has left out ") && Catch::Contains(" texts: stderr was full)\n") &&
                       Catch::Contains("log_fail"));
}

TEST_CASE("threads that log at the same time to a pipe with room for one of their texts do not block") {
  constexpr int kThreads = 4, kRounds = 500;
  const std::string piece(PIPE_BUF, 'x');
  const Piped piped;
  REQUIRE(::fcntl(STDERR_FILENO, F_SETPIPE_SZ, PIPE_BUF) >= PIPE_BUF);
  std::atomic<int> round{0}, logged{0};
  std::deque<base::Thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back("logs", [&] {
      for (int seen = 0; seen < kRounds; ++seen) {
        round.wait(seen);
        log(piece);
        ++logged;
      }
    });
  }
  bool has_blocked = false;
  for (int i = 1; i <= kRounds; ++i) {
    (void)piped.read();
    round = i;
    round.notify_all();
    const auto have_all = [&] { return logged >= i * kThreads; };
    has_blocked = has_blocked || !distrun::testing::eventually(std::chrono::seconds(5), have_all);
    while (!have_all()) (void)piped.read();
  }
  CHECK_FALSE(has_blocked);
}

TEST_CASE("an exception with a null what() is an error like others") {
  const Ranks ranks(2);
  REQUIRE(ranks.run([&](int rank) { init_rpc(ranks.options(rank)); }) == no_errors(2));
  const std::string error = ranks.error_as(0, [] { rpc_sync<void>("worker1", "log_fail_without_text"); });
  CHECK_THAT(error, Catch::Contains("its what() is null"));
}

}  // namespace distrun::rpc
