// Kills, stops or slows down a rank at each point of what ranks do together. The others must get an error with its name
// within their bound, or notice nothing if it goes on; and another group must work afterwards.
//
// The ranks are processes without a runner. Rank 1 strikes itself at an exact point: it touches an inaccessible page of
// its memory, and the fault handler strikes. So a point is "while its bytes are copied", not "after some time".
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>

#include <distrun/common/base/fd.hpp>
#include <distrun/runtime/core/shared_memory.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/store/store.hpp>

#include "group_of.hpp"
#include "support/sandbox.hpp"
#include "support/scratch.hpp"
#include "support/skip.hpp"

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;

constexpr int kRanks = 3, kVictim = 1;
constexpr std::size_t kSmall = 1000, kLarge = 900'001;

enum class Fault { Kill, Stop, Slow };
const char* name_of(Fault fault) {
  return fault == Fault::Kill ? "killed" : fault == Fault::Stop ? "stopped" : "slowed";
}

// ---- the page that strikes

std::byte* page_that_strikes = nullptr;
std::size_t page_size() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

Fault fault_of_page = Fault::Kill;
void strike() { ::raise(fault_of_page == Fault::Kill ? SIGKILL : SIGSTOP); }

// Strikes once: the fault may be reported again, to another thread or before the page's new protection takes effect,
// and a victim that stopped a second time would never be continued. Later accesses find a normal page.
void on_touch(int, siginfo_t* what, void*) {
  static std::atomic<bool> has_struck{false};
  const auto* const at = static_cast<std::byte*>(what->si_addr);
  if (at < page_that_strikes || at >= page_that_strikes + page_size()) std::abort();
  if (::mprotect(page_that_strikes, page_size(), PROT_READ | PROT_WRITE) != 0) std::abort();
  if (!has_struck.exchange(true)) strike();
}

// Returns bytes of a rank; never freed.
Bytes bytes_of(std::size_t size, int rank) {
  void* const all = ::mmap(nullptr, size + page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) std::abort();
  const Bytes bytes(static_cast<std::byte*>(all), size);
  std::memset(bytes.data(), rank + 1, size);
  return bytes;
}

void strike_at(Bytes bytes, std::size_t place) {
  page_that_strikes = bytes.data() + place / page_size() * page_size();
  struct sigaction action {};
  action.sa_sigaction = on_touch;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &action, nullptr);
  ::mprotect(page_that_strikes, page_size(), PROT_NONE);
}

// ---- actions of ranks

struct Rank {
  HostBackend& backend;
  const GroupInfo& group;
  base::TimePoint deadline;
  bool is_victim() const { return group.rank == kVictim; }
};

void check_bytes(ConstBytes bytes, int value) {
  for (const std::byte each : bytes) {
    if (each != static_cast<std::byte>(value)) throw std::runtime_error("bytes are wrong");
  }
}

constexpr std::size_t kNowhere = std::size_t(-1);
enum class Where { In, Out };

// The victim is struck while it reads its input or writes its output.
void all_reduce(const Rank& rank, std::size_t size, Where where, std::size_t place, std::uint64_t number = 1) {
  const Bytes in = bytes_of(size, rank.group.rank), out = bytes_of(size, 100);
  if (rank.is_victim() && place != kNowhere) strike_at(where == Where::In ? in : out, place);
  Call call;
  call.kind = CallKind::AllReduce;
  call.number = number;
  call.deadline = rank.deadline;
  call.in = {in};
  call.out = {out};
  rank.backend.run(call);
  check_bytes(out, rank.group.size() * (rank.group.size() + 1) / 2);
}

void broadcast(const Rank& rank, std::size_t size, std::size_t place) {
  const Bytes bytes = bytes_of(size, rank.group.rank);
  if (rank.is_victim()) strike_at(bytes, place);
  Call call;
  call.kind = CallKind::Broadcast;
  call.number = 1;
  call.root = kVictim;
  call.deadline = rank.deadline;
  (rank.is_victim() ? call.in.push_back(bytes) : call.out.push_back(bytes));
  rank.backend.run(call);
  check_bytes(bytes, kVictim + 1);
}

PointToPoint letter_to(int peer) { return {peer, 1, DType::U8, {}}; }

// Messages from the victim to all others; once struck it sends nothing.
void messages(const Rank& rank, std::size_t size, std::size_t place) {
  const Bytes bytes = bytes_of(size, rank.group.rank);
  if (!rank.is_victim()) {
    rank.backend.begin_receive(letter_to(kVictim), bytes)->finish(rank.deadline);
    return check_bytes(bytes, kVictim + 1);
  }
  if (place == kNowhere) strike();
  strike_at(bytes, place);
  for (const int to : {0, 2}) rank.backend.begin_send(letter_to(to), bytes)->finish(rank.deadline);
}

// Messages to the victim, which is struck before it receives them.
void letters_to_it(const Rank& rank, std::size_t size) {
  const Bytes bytes = bytes_of(size, rank.group.rank);
  if (!rank.is_victim()) {
    rank.backend.begin_send(letter_to(kVictim), bytes)->finish(rank.deadline);
    return;
  }
  strike();
  for (const int from : {0, 2}) {
    rank.backend.begin_receive(letter_to(from), bytes)->finish(rank.deadline);
    check_bytes(bytes, from + 1);
  }
}

struct Point {
  const char* name;
  std::function<void(const Rank&)> run;
  bool by_kernel = false;      // with gloo system calls touch the bytes, which does not trigger the handler
  bool has_given_all = false;  // in shared memory the others no longer need the victim, and are done
};

const Point kPoints[] = {
    {"has joined the group",
     [](const Rank& rank) {
       if (rank.is_victim()) strike();
       all_reduce(rank, kSmall, Where::In, kNowhere);
     }},
    {"reads what it brings", [](const Rank& rank) { all_reduce(rank, kSmall, Where::In, 0); }},
    {"writes what it gets", [](const Rank& rank) { all_reduce(rank, kSmall, Where::Out, 0); }, false, true},
    {"is in the middle of many bytes", [](const Rank& rank) { all_reduce(rank, kLarge, Where::In, kLarge / 2); }},
    {"reduces its slice", [](const Rank& rank) { all_reduce(rank, kLarge, Where::Out, kLarge / 2); }},
    {"gets another's slice", [](const Rank& rank) { all_reduce(rank, kLarge, Where::Out, kLarge - 1); }, false, true},
    {"is the root, and half done", [](const Rank& rank) { broadcast(rank, kLarge, kLarge / 2); }, true},
    {"has done one call, and comes to the next",
     [](const Rank& rank) {
       all_reduce(rank, kSmall, Where::In, kNowhere);
       all_reduce(rank, kSmall, Where::In, 0, 2);
     }},
    {"is to send a letter", [](const Rank& rank) { messages(rank, kSmall, kNowhere); }},
    {"copies a small letter", [](const Rank& rank) { messages(rank, kSmall, 0); }},
    {"is to receive a large letter", [](const Rank& rank) { letters_to_it(rank, kLarge); }},
};

// ---- ranks as processes

struct Member {
  pid_t pid = 0;
  base::Fd pipe;
  std::string read;

  // Returns how the rank has ended, if it has; explains a missing line.
  std::string end() const {
    siginfo_t how{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &how, WEXITED | WNOHANG | WNOWAIT) != 0 || how.si_pid == 0) return "";
    return (how.si_code == CLD_EXITED ? " and exits with " : " and dies by signal ") + std::to_string(how.si_status);
  }
  // Reads up to the end of line `number`; empty: the rank has ended, or it took too long.
  std::string line(std::size_t number, base::TimePoint until) {
    for (;;) {
      std::size_t begin = 0, end = read.find('\n');
      for (std::size_t i = 0; i < number && end != std::string::npos; ++i)
        begin = end + 1, end = read.find('\n', begin);
      if (end != std::string::npos) return read.substr(begin, end - begin);
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - base::system_clock().now());
      pollfd ready{pipe.get(), POLLIN, 0};
      if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) return "";
      std::array<char, 512> some;
      const ssize_t got = ::read(pipe.get(), some.data(), some.size());
      if (got <= 0) return "";
      read.append(some.data(), static_cast<std::size_t>(got));
    }
  }
};

struct Chaos {
  const char* backend;
  const Point& point;
  Fault fault;
  std::string folder;

  bool is_gloo() const { return backend == std::string("gloo"); }
  // Without a runner's notifications, gloo may wait for a dead rank until its timeout.
  base::Nanoseconds bound() const {
    if (is_gloo()) return 2s;
    return fault == Fault::Stop ? 300ms : 20s;
  }
  // The ranks of the second group.
  std::vector<int> left() const { return fault == Fault::Kill ? std::vector<int>{0, 2} : std::vector<int>{0, 1, 2}; }

  // Returns "done", or the error with the time until it occurred.
  std::string first(int rank, Store& store) const {
    const GroupInfo group = group_of(rank, kRanks);
    base::TimePoint begin = base::system_clock().now();
    std::unique_ptr<HostBackend> made;
    try {
      made = make_host_backend(backend, group, store, begin + 60s);
      begin = base::system_clock().now();
      point.run({*made, group, begin + bound()});
    } catch (const std::exception& error) {
      const std::chrono::duration<double> took = base::system_clock().now() - begin;
      if (made) made->leave(Leaving::GaveUp, error.what());
      return std::to_string(took.count()) + " s: " + error.what();
    }
    return "done";
  }

  // The same with the remaining ranks.
  std::string second(int rank, Store& store) const {
    GroupInfo group;
    group.name = "next";
    for (const int each : left()) {
      if (each == rank) group.rank = group.size();
      group.ranks.push_back(each);
    }
    const base::TimePoint deadline = base::system_clock().now() + 60s;
    const auto made = make_host_backend(backend, group, store, deadline);
    Call call;
    call.kind = CallKind::AllReduce;
    call.number = 1;
    call.deadline = deadline;
    const Bytes bytes = bytes_of(kLarge, 0);
    call.in = {bytes};
    call.out = {bytes};
    made->run(call);
    check_bytes(bytes, group.size());
    return "works";
  }

  [[noreturn]] void be_rank(int rank, int pipe) const {
    fault_of_page = fault;
    const auto tell = [pipe](std::string text) {
      for (char& each : text) each = each == '\n' ? ' ' : each;
      text += '\n';
      if (::write(pipe, text.data(), text.size()) < 0) std::_Exit(2);
    };
    const auto part = [&](const char* prefix) {
      return std::make_unique<PrefixStore>(prefix, std::make_shared<FileStore>(folder + "/store"));
    };
    try {
      tell(first(rank, *part("first")));
      tell(second(rank, *part("second")));
    } catch (const std::exception& error) {
      tell(error.what());
    }
    std::_Exit(0);
  }

  std::array<Member, kRanks> start() const {
    std::array<Member, kRanks> members;
    for (int rank = 0; rank < kRanks; ++rank) {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
      const pid_t pid = ::fork();
      if (pid == 0) be_rank(rank, ends[1]);
      ::close(ends[1]);
      members[static_cast<std::size_t>(rank)].pid = pid;
      members[static_cast<std::size_t>(rank)].pipe.reset(ends[0]);
    }
    return members;
  }
};

void check_survivor(const Chaos& chaos, const std::string& text) {
  INFO("a survivor says: " << text);
  if (chaos.fault == Fault::Slow || (chaos.point.has_given_all && !chaos.is_gloo())) {
    CHECK(text == "done");
    return;
  }
  CHECK_THAT(text, Catch::Contains("rank 1"));
  const double bound =
      std::chrono::duration<double>(chaos.fault == Fault::Kill && !chaos.is_gloo() ? 0s : chaos.bound()).count();
  CHECK(std::atof(text.c_str()) < bound + std::chrono::duration<double>(testing::scaled(1000ms)).count());
}

void check_chaos(const Chaos& chaos) {
  INFO(chaos.backend << ": rank 1 is " << name_of(chaos.fault) << " when it " << chaos.point.name);
  std::array<Member, kRanks> members = chaos.start();
  const base::TimePoint until = base::system_clock().now() + testing::scaled(30'000ms);
  Member& victim = members[kVictim];
  int status = 0;
  REQUIRE(::waitpid(victim.pid, &status, WUNTRACED) == victim.pid);
  if (chaos.fault == Fault::Kill) {
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  } else {
    CHECK(WIFSTOPPED(status));
  }
  // A slow rank goes on some time after the others have begun to wait.
  if (chaos.fault == Fault::Slow) {
    (void)::poll(nullptr, 0, 30);
    ::kill(victim.pid, SIGCONT);
  }
  for (const int rank : {0, 2}) {
    Member& survivor = members[static_cast<std::size_t>(rank)];
    const std::string text = survivor.line(0, until);
    check_survivor(chaos, text.empty() ? "nothing" + survivor.end() : text);
  }
  if (chaos.fault == Fault::Stop) ::kill(victim.pid, SIGCONT);
  for (const int rank : chaos.left()) {
    INFO("rank " << rank << " says " << members[static_cast<std::size_t>(rank)].read);
    CHECK(members[static_cast<std::size_t>(rank)].line(1, until) == "works");
  }
  for (Member& each : members) {
    ::kill(each.pid, SIGKILL);
    ::waitpid(each.pid, nullptr, 0);
  }
}

void check_all_points(const char* backend, Fault fault) {
  const testing::Scratch scratch;
  int run = 0;
  for (const Point& point : kPoints) {
    if (point.by_kernel && backend == std::string("gloo")) continue;
    check_chaos({backend, point, fault, scratch.directory(std::to_string(run++))});
  }
}

}  // namespace

TEST_CASE("the others are notified of a rank that is killed at any point, by name, and another group works") {
  check_all_points("shm", Fault::Kill);
}
TEST_CASE("the others time out on a rank that is stopped at any point, by name, and another group works", "[alone]") {
  check_all_points("shm", Fault::Stop);
}
TEST_CASE("a rank that is slow at any point only delays the others") { check_all_points("shm", Fault::Slow); }

TEST_CASE("with gloo, too, the others are notified of a rank that is killed at any point") {
  const std::string why_not = why_no_backend("gloo");
  testing::skip_case_if(!why_not.empty(), why_not);
  check_all_points("gloo", Fault::Kill);
}

}  // namespace distrun::collectives
