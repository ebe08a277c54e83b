#include "members.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>

#include <distrun/common/base/error.hpp>

#include "support/end_with.hpp"

namespace distrun::rpc::testing {
namespace {

using namespace std::chrono_literals;

constexpr char kEnd[] = "end of the cell";
// A cell reports its lines at its end, and may wait for its members twice before.
const base::Nanoseconds kCellPatience = 3 * kPatience;

bool is_readable(int fd, base::TimePoint until) {
  pollfd ready{fd, POLLIN, 0};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - base::system_clock().now());
  return ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0))) == 1;
}

// Returns the next line; nothing at end-of-file or on timeout.
std::optional<std::string> next_line(int fd, std::string& read, base::TimePoint until) {
  for (;;) {
    const std::size_t end = read.find('\n');
    if (end != std::string::npos) {
      const std::string line = read.substr(0, end);
      read.erase(0, end + 1);
      return line;
    }
    if (!is_readable(fd, until)) return std::nullopt;
    char some[4096];
    const ssize_t got = ::read(fd, some, sizeof some);
    if (got <= 0) return std::nullopt;
    read.append(some, static_cast<std::size_t>(got));
  }
}

void write_line(int fd, std::string line) {
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  if (::write(fd, line.data(), line.size()) < 0) std::_Exit(2);
}

siginfo_t state_of(pid_t pid) {
  siginfo_t state{};
  ::waitid(P_PID, static_cast<id_t>(pid), &state, WEXITED | WSTOPPED | WNOHANG | WNOWAIT);
  return state;
}

}  // namespace

base::TimePoint in(base::Nanoseconds duration) { return base::system_clock().now() + duration; }

void Post::tell(std::string line) const { write_line(told_, std::move(line)); }

char Post::wait() const {
  char order = 0;
  if (!is_readable(orders_, in(kPatience)) || ::read(orders_, &order, 1) != 1) std::_Exit(3);
  return order;
}

void Post::order_itself(char order) const noexcept { (void)!::write(own_, &order, 1); }

Member::Member(const std::function<void(const Post&)>& body) {
  base::FdPair told = base::make_pipe(), orders = base::make_pipe();
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    distrun::testing::end_with(parent);
    body(Post(told.second.get(), orders.first.get(), orders.second.get()));
    std::_Exit(0);
  }
  told_ = std::move(told.first);
  orders_ = std::move(orders.second);
}

Member::~Member() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::optional<std::string> Member::line(base::Nanoseconds patience) {
  return next_line(told_.get(), read_, in(patience));
}

bool Member::lines_up_to(const std::string& mark, const std::string& prefix, std::vector<std::string>& told,
                         base::Nanoseconds patience) {
  while (const auto next = line(patience)) {
    if (next->starts_with(mark)) return true;
    told.push_back(prefix + *next);
  }
  return false;
}

void Member::go_on(char order) const { (void)!::write(orders_.get(), &order, 1); }

bool Member::wait_struck() const {
  for (const base::TimePoint until = in(kPatience); base::system_clock().now() < until;) {
    if (state_of(pid_).si_pid != 0) return true;
    (void)::poll(nullptr, 0, 1);
  }
  return false;
}

std::string Member::end() const {
  const siginfo_t state = state_of(pid_);
  if (state.si_pid == 0 || state.si_code == CLD_STOPPED) return "";
  return (state.si_code == CLD_EXITED ? "exited with " : "killed by signal ") + std::to_string(state.si_status);
}

Company::Company(int ranks, int victim, const std::function<void(int rank, const Post& post)>& body) : victim_(victim) {
  for (int rank = 0; rank < ranks; ++rank) {
    members_.push_back(std::make_unique<Member>([&body, rank, victim](const Post& post) {
      if (rank == victim) return body(rank, post);
      const std::string came = what_comes_of([&] { body(rank, post); });
      if (came != "done") post.tell("survivor|0|" + came);
    }));
  }
}

bool Company::meet(const std::string& point, bool with_victim) {
  bool have_come = true;
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    const bool is_victim = static_cast<int>(rank) == victim_;
    Lines of_victim;
    if (is_victim && !with_victim) continue;
    have_come &= members_[rank]->lines_up_to(point, std::to_string(rank) + "|", is_victim ? of_victim : told_);
  }
  if (!have_come) return told_.push_back("0|parent|0|not all have reached " + point), false;
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    if (static_cast<int>(rank) != victim_ || with_victim) members_[rank]->go_on();
  }
  return true;
}

void Company::hear_out() {
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    if (static_cast<int>(rank) != victim_) members_[rank]->lines_up_to("the end", std::to_string(rank) + "|", told_);
  }
}

std::vector<Lines> conduct(const std::vector<std::function<Lines()>>& cells, int at_once) {
  std::vector<Lines> all(cells.size());
  std::vector<std::pair<std::size_t, std::unique_ptr<Member>>> running;
  std::size_t next = 0;
  while (next < cells.size() || !running.empty()) {
    while (next < cells.size() && running.size() < static_cast<std::size_t>(at_once)) {
      const auto& cell = cells[next];
      running.emplace_back(next++, std::make_unique<Member>([&cell](const Post& post) {
                             for (const std::string& each : cell()) post.tell(each);
                             post.tell(kEnd);
                           }));
    }
    // Waits for the oldest; the others run meanwhile.
    auto& [cell, conductor] = running.front();
    if (!conductor->lines_up_to(kEnd, "", all[cell], kCellPatience))
      all[cell].push_back("the cell has not come to its end");
    running.erase(running.begin());
  }
  return all;
}

std::string what_comes_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return std::string(base::name_of(error.kind())) + ": " + error.what();
  } catch (const std::exception& error) {
    return std::string("exception: ") + error.what();
  }
  return "done";
}

std::string timed(const std::string& phase, const std::function<void()>& body) {
  const base::TimePoint begin = base::system_clock().now();
  const std::string text = what_comes_of(body);
  const std::chrono::duration<double> took = base::system_clock().now() - begin;
  return phase + "|" + std::to_string(took.count()) + "|" + text;
}

Timed timed_of(const std::string& line) {
  const std::size_t first = line.find('|'), second = first == line.npos ? line.npos : line.find('|', first + 1);
  if (second == line.npos) return {line, 0, ""};
  return {line.substr(0, first), std::atof(line.c_str() + first + 1), line.substr(second + 1)};
}

}  // namespace distrun::rpc::testing
