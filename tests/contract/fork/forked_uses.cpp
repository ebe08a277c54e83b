#include "forked_uses.hpp"

#include <catch2/catch.hpp>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <utility>

#include <distrun/common/base/fd.hpp>

#include "support/scratch.hpp"

namespace distrun::testing {
namespace {

using namespace std::chrono_literals;
using rpc::testing::Post;

constexpr int kRanks = 2;
constexpr auto kPatience = 20s;  // for a child

bool is_child = false;

// Ends like a program's child: destroys its objects, then runs exit handlers.
[[noreturn]] void be_child(Opened& opened, std::size_t number, int told) {
  is_child = true;
  const std::string line = rpc::testing::timed(opened.uses[number].name, opened.uses[number].call) + "\n";
  if (::write(told, line.data(), line.size()) < 0) std::_Exit(2);
  opened = Opened();
  std::exit(0);
}

std::string read_to_end(int fd, base::TimePoint until) {
  std::string text;
  for (;;) {
    pollfd ready{fd, POLLIN, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - base::system_clock().now());
    if (::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0))) != 1) return text;
    char some[4096];
    const ssize_t got = ::read(fd, some, sizeof some);
    if (got <= 0) return text;
    text.append(some, static_cast<std::size_t>(got));
  }
}

// The child's end of the pipe closes when it exits: a child that hangs is killed.
std::string end_of(pid_t child, base::TimePoint until) {
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (base::system_clock().now() >= until) ::kill(child, SIGKILL);
    (void)::poll(nullptr, 0, 1);
  }
  return WIFEXITED(status) ? "exited with " + std::to_string(WEXITSTATUS(status))
                           : "killed by signal " + std::to_string(WTERMSIG(status));
}

std::string try_in_child(Opened& opened, std::size_t number) {
  base::FdPair line = base::make_pipe();
  const pid_t child = ::fork();
  if (child == 0) be_child(opened, number, line.second.get());
  line.second.reset();
  const base::TimePoint until = rpc::testing::in(scaled(kPatience));
  std::string text = read_to_end(line.first.get(), until);
  const std::string ended = end_of(child, until);
  if (!text.ends_with('\n')) text = opened.uses[number].name + "|0|nothing\n";
  text.back() = '|';
  return text + ended;
}

void be_rank(int rank, const Open& open, const std::string& folder, const Post& post) {
  Opened opened = open(rank, folder);
  post.meet("at open");
  if (rank == 0) post.tell("pid|" + std::to_string(::getpid()) + "|");
  for (std::size_t i = 0; rank == 0 && i < opened.uses.size(); ++i)
    post.tell((opened.uses[i].works ? "works|" : "refused|") + try_in_child(opened, i));
  post.meet("at work");
  if (opened.work) opened.work();
  post.meet("at close");
  if (opened.close) opened.close();
  post.tell("closed");
}

std::vector<std::string> parts_of(const std::string& line) {
  std::vector<std::string> parts(1);
  for (const char each : line) each == '|' ? void(parts.emplace_back()) : parts.back().push_back(each);
  return parts;
}

}  // namespace
}  // namespace distrun::testing

// Called by the leak checker (sanitizer/lsan_interface.h) when a process exits. In a child it cannot see the references
// of the parent's threads, and would report them as lost.
extern "C" [[gnu::visibility("default"), gnu::used]] int __lsan_is_turned_off() {
  return distrun::testing::is_child ? 1 : 0;
}

namespace distrun::testing {

TriedByRank try_in_children(const Open& open) {
  const Scratch folder;
  std::cout.flush();
  std::fflush(nullptr);  // prevents duplicate output of buffers
  rpc::testing::Company company(kRanks, -1,
                                [&](int rank, const Post& post) { be_rank(rank, open, folder.path(), post); });
  if (company.meet("at open") && company.meet("at work") && company.meet("at close")) company.hear_out();
  TriedByRank all;
  int closed = 0;
  for (const std::string& line : company.told()) {
    const std::vector<std::string> parts = parts_of(line);  // after the rank's number
    if (parts.size() >= 3 && parts[1] == "pid") {
      all.pid = std::stoi(parts[2]);
    } else if (parts.size() == 6 && (parts[1] == "works" || parts[1] == "refused")) {
      all.tried.push_back({parts[2], parts[1] == "works", std::stod(parts[3]), parts[4], parts[5]});
    } else if (parts.size() == 2 && parts[1] == "closed") {
      ++closed;
    } else {
      all.faults.push_back(line);
    }
  }
  if (closed != kRanks) all.faults.push_back(std::to_string(closed) + " ranks have closed what they had open");
  return all;
}

void check_children(const Open& open) {
  const TriedByRank all = try_in_children(open);
  CHECK(all.faults == std::vector<std::string>());
  CHECK(!all.tried.empty());
  const std::string refusal = "which was forked from process " + std::to_string(all.pid) + " that opened it";
  for (const Tried& each : all.tried) {
    INFO(each.use);
    CHECK(each.ended == "exited with 0");
    CHECK_THAT(each.text, Catch::Contains(each.works ? "done" : refusal));
    CHECK(each.seconds < 1 * machine_load() * time_scale());
  }
}

}  // namespace distrun::testing
