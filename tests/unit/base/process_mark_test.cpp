// Objects of a process, used in forked processes.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <atomic>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/leave_to_parent.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/common/base/thread.hpp>

#include "support/process.hpp"
#include "unit/support/forked.hpp"

using distrun::base::ProcessMark;

namespace {

// Returns the text that `body` returns in a forked process, and that process's exit code: "...|0".
template <class Body>
std::string said_in_fork(Body body) {
  distrun::base::FdPair pipe = distrun::base::make_pipe();
  const pid_t child = distrun::testing::fork_child([&] {
    const std::string text = body();
    return ::write(pipe.second.get(), text.data(), text.size()) < 0 ? 1 : 0;
  });
  pipe.second.reset();
  std::string text;
  char some[512];
  for (ssize_t got; (got = ::read(pipe.first.get(), some, sizeof some)) > 0;)
    text.append(some, static_cast<std::size_t>(got));
  return text + "|" + std::to_string(distrun::testing::wait_for(child).code);
}

std::string refusal_of(const ProcessMark& mark) {
  try {
    mark.check("the thing", "open another one", {});
    return "";
  } catch (const distrun::Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a mark refuses forks of its process, and forks of those, and names the process that opened the object") {
  const ProcessMark mark;
  const std::string self = std::to_string(::getpid());
  CHECK(refusal_of(mark).empty());
  CHECK(mark.pid() == ::getpid());
  const std::string end = ", which was forked from process " + self + " that opened it; open another one|0";
  CHECK_THAT(said_in_fork([&] { return refusal_of(mark); }),
             Catch::StartsWith("the thing cannot be used in process ") && Catch::EndsWith(end));
  CHECK_THAT(said_in_fork([&] { return said_in_fork([&] { return refusal_of(mark); }); }), Catch::EndsWith(end + "|0"));
  CHECK(refusal_of(mark).empty());
}

TEST_CASE("a fork marks objects that it opens itself, and an object that is not open has no process") {
  ProcessMark set_again, cleared, unset{ProcessMark::Unset{}};
  CHECK_FALSE(unset.is_inherited());
  CHECK(unset.pid() == 0);
  CHECK(said_in_fork([&] {
          const ProcessMark own, copy(set_again);
          set_again.set();
          cleared.clear();
          return std::to_string(own.is_inherited()) + std::to_string(copy.is_inherited()) +
                 std::to_string(set_again.is_inherited()) + std::to_string(cleared.is_inherited()) +
                 std::to_string(unset.is_inherited());
        }) == "01000|0");
}

TEST_CASE("a thread of the parent is neither joined nor ended in a fork") {
  std::atomic<bool> ends{false};
  auto thread = std::make_unique<distrun::base::Thread>("a thread", [&] {
    while (!ends) distrun::testing::pause_for(std::chrono::milliseconds(1));
  });
  CHECK(said_in_fork([&] {
          thread.reset();
          return "gone";
        }) == "gone|0");
  ends = true;
}

TEST_CASE("an object of the parent is not destroyed in a fork") {
  struct Owned {
    explicit Owned(int fd) : out(fd) {}
    ~Owned() { static_cast<void>(!::write(out, "destroyed", 9)); }
    int out;
  };
  const distrun::base::FdPair pipe = distrun::base::make_pipe();
  auto owned = std::make_unique<Owned>(pipe.second.get());
  CHECK(said_in_fork([&] {
          distrun::base::leave_to_parent(std::move(owned));
          return owned == nullptr ? "left" : "kept";
        }) == "left|0");
  owned.reset();
  char text[32];
  CHECK(::read(pipe.first.get(), text, sizeof text) == 9);
}
