// Strikes ranks before a group exists, in a monitored barrier, and in the middle of a point-to-point message that they
// receive. As in chaos_test.cpp, ranks are processes without a runner; the victim strikes itself at the point, or is
// struck when the effect of its last action is seen.
#include <catch2/catch.hpp>

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/runtime/collectives/monitored_barrier.hpp>
#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/store/file_store.hpp>

#include "group_of.hpp"
#include "support/sandbox.hpp"
#include "support/scratch.hpp"

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;

constexpr base::Nanoseconds kBound = 300ms;

base::TimePoint in(base::Nanoseconds time) { return base::system_clock().now() + time; }

// A process that reports the exception of its body.
class Member {
 public:
  explicit Member(const std::function<void()>& body) {
    base::FdPair ends = base::make_pipe();
    pid_ = ::fork();
    if (pid_ == 0) run(body, ends.second.get());
    told_ = std::move(ends.first);
  }
  ~Member() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  pid_t pid() const { return pid_; }
  // Waits until it has been killed or stopped.
  bool is_struck() const {
    siginfo_t how{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &how, WEXITED | WSTOPPED | WNOWAIT) == 0 &&
           (how.si_code == CLD_KILLED || how.si_code == CLD_STOPPED);
  }
  // Returns the error and the time it took; "done" without an error; empty: no report within the time limit.
  std::string told() {
    std::string text;
    pollfd ready{told_.get(), POLLIN, 0};
    char some[512];
    while (::poll(&ready, 1, 30'000) == 1) {
      const ssize_t got = ::read(told_.get(), some, sizeof some);
      if (got <= 0) return text;
      text.append(some, static_cast<std::size_t>(got));
    }
    return "";
  }

 private:
  [[noreturn]] static void run(const std::function<void()>& body, int told) {
    std::string text = "done";
    try {
      body();
    } catch (const base::PeerFailed& error) {
      text = "PeerFailed of " + std::to_string(error.rank()) + ": " + error.what();
    } catch (const Error& error) {
      text = std::string(base::name_of(error.kind())) + ": " + error.what();
    }
    std::_Exit(::write(told, text.data(), text.size()) < 0 ? 1 : 0);
  }

  pid_t pid_ = 0;
  base::Fd told_;
};

// Throws Error if the body takes more than a second longer than the bound.
void within(base::Nanoseconds bound, const std::function<void()>& body) {
  const base::TimePoint until = in(bound + testing::scaled(1000ms));
  const auto check = [&] {
    if (base::system_clock().now() > until) throw Error(ErrorKind::Failed, "too late");
  };
  try {
    body();
  } catch (const Error&) {
    check();
    throw;
  }
  check();
}

void join_world(const std::string& store, int rank, int ranks, base::Nanoseconds bound) {
  FileStore own(store);
  make_backend("shm", group_of(rank, ranks), own, in(bound));
}

// ---- a message that is received

std::byte* page_that_strikes = nullptr;
std::size_t page_size() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
int signal_of_page = SIGKILL;

// Strikes once, as in chaos_test.cpp.
void on_touch(int, siginfo_t* what, void*) {
  static std::atomic<bool> has_struck{false};
  const auto* const at = static_cast<std::byte*>(what->si_addr);
  if (at < page_that_strikes || at >= page_that_strikes + page_size()) std::abort();
  if (::mprotect(page_that_strikes, page_size(), PROT_READ | PROT_WRITE) != 0) std::abort();
  if (!has_struck.exchange(true)) ::raise(signal_of_page);
}

constexpr std::size_t kLarge = 900'001;

// A thread that writes into the middle strikes its process.
Bytes bytes_that_strike(int signal) {
  void* const all = ::mmap(nullptr, kLarge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) std::abort();
  signal_of_page = signal;
  page_that_strikes = static_cast<std::byte*>(all) + kLarge / 2 / page_size() * page_size();
  struct sigaction action {};
  action.sa_sigaction = on_touch;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &action, nullptr);
  ::mprotect(page_that_strikes, page_size(), PROT_NONE);
  return {static_cast<std::byte*>(all), kLarge};
}

struct MessagesUnderChaos {
  std::string store;
  base::Nanoseconds bound;
  int signal;

  std::unique_ptr<HostBackend> join(int rank, Store& at) const {
    ::setenv("DISTRUN_SHM_SINGLE_COPY", "0", 1);  // direct reads by the kernel would not touch the page
    return make_host_backend("shm", group_of(rank, 2), at, in(60s));
  }
  void send() const {
    FileStore at(store);
    const auto backend = join(0, at);
    const std::vector<std::byte> bytes(kLarge, std::byte{7});
    within(bound, [&] { backend->begin_send({1, 5, DType::U8, {}}, bytes)->finish(in(bound)); });
  }
  void receive() const {
    FileStore at(store);
    const auto backend = join(1, at);
    const Bytes bytes = bytes_that_strike(signal);
    backend->begin_receive({0, 5, DType::U8, {}}, bytes)->finish(in(60s));
    if (bytes[kLarge / 2] != std::byte{7}) throw Error(ErrorKind::Failed, "bytes are wrong");
  }
};

}  // namespace

TEST_CASE("a first rank that never joins is named by the others, and they can continue without it") {
  const testing::Scratch folder;
  const auto body = [&](int rank) {
    std::optional<Error> missed;
    try {
      within(kBound, [&] { join_world(folder.path() + "/store", rank, 3, kBound); });
    } catch (const Error& error) {
      missed = error;
    }
    join_world(folder.path() + "/next", rank - 1, 2, 60s);
    if (missed) throw Error(*missed);
  };
  Member one([&] { body(1); }), two([&] { body(2); });
  for (Member* each : {&one, &two}) {
    CHECK_THAT(each->told(), Catch::StartsWith("timeout: ") && Catch::Contains("the start of group world") &&
                                 Catch::Contains("waits for rank 0"));
  }
}

TEST_CASE("a first rank that dies before the others have joined is named by them at once") {
  const testing::Scratch folder;
  const std::string path = folder.path() + "/store";
  {
    const Member first([&] { join_world(path, 0, 2, 60s); });
    FileStore(path).wait({"area"}, 60s);
  }  // the first rank is killed here
  Member other([&] { within(0s, [&] { join_world(path, 1, 2, 60s); }); });
  CHECK_THAT(other.told(), Catch::StartsWith("PeerFailed of 0: ") && Catch::Contains("rank 0 is gone: its process"));
}

TEST_CASE(
    "a rank that is stopped while it reads a message does not block the sender, and is notified when it continues") {
  const testing::Scratch folder;
  const MessagesUnderChaos messages{folder.path() + "/store", kBound, SIGSTOP};
  Member sender([&] { messages.send(); }), receiver([&] { messages.receive(); });
  CHECK(receiver.is_struck());
  CHECK_THAT(sender.told(), Catch::StartsWith("timeout: ") && Catch::Contains("a send to rank 1"));
  ::kill(receiver.pid(), SIGCONT);
  CHECK_THAT(receiver.told(), Catch::StartsWith("timeout: ") && Catch::Contains("the sender withdrew it"));
}

TEST_CASE("a rank that dies while it reads a message is named by the sender at once") {
  const testing::Scratch folder;
  const MessagesUnderChaos messages{folder.path() + "/store", 20s, SIGKILL};
  Member sender([&] { messages.send(); }), receiver([&] { messages.receive(); });
  CHECK(receiver.is_struck());
  const base::TimePoint dead = base::system_clock().now();
  CHECK_THAT(sender.told(), Catch::StartsWith("PeerFailed of 1: ") && Catch::Contains("rank 1 is gone"));
  CHECK(base::system_clock().now() - dead < testing::scaled(1000ms));
}

TEST_CASE("a rank that is slow while it reads a message still reads it") {
  const testing::Scratch folder;
  const MessagesUnderChaos messages{folder.path() + "/store", 20s, SIGSTOP};
  Member sender([&] { messages.send(); }), receiver([&] { messages.receive(); });
  CHECK(receiver.is_struck());
  ::kill(receiver.pid(), SIGCONT);
  CHECK(receiver.told() == "done");
  CHECK(sender.told() == "done");
}

TEST_CASE("a monitored barrier names a rank that is killed or stopped before it arrives") {
  const int signal = GENERATE(SIGKILL, SIGSTOP);
  const testing::Scratch folder;
  const auto body = [&](int rank) {
    ProcessGroup group(group_of(rank, 3), std::make_shared<FileStore>(folder.path() + "/store"), {.timeout = 60s});
    if (rank == 1) ::raise(signal);
    const base::Nanoseconds bound = rank == 0 ? kBound : 60s;
    within(bound, [&] { monitored_barrier(group, bound, false, base::Location::here()); });
  };
  Member first([&] { body(0); }), victim([&] { body(1); }), other([&] { body(2); });
  CHECK(victim.is_struck());
  const std::string told = first.told();
  if (signal == SIGKILL) {
    CHECK_THAT(told, Catch::StartsWith("PeerFailed of 1: "));
  } else {
    CHECK_THAT(told, Catch::StartsWith("timeout: Rank 1 failed to pass monitoredBarrier"));
  }
  CHECK_THAT(other.told(), Catch::Contains("rank 0"));
}

}  // namespace distrun::collectives
