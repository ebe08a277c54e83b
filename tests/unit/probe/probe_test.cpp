#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include <distrun/runner/evidence/proc/task_state.hpp>

#include "in_state.hpp"
#include "support/probe_client.hpp"
#include "support/process.hpp"
#include "support/scratch.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::testing;

namespace {

constexpr milliseconds kLimit{5'000};

wire::ProbeOrder order_for(std::vector<std::int32_t> pids, std::int32_t samples = 1) {
  wire::ProbeOrder order;
  order.pids = std::move(pids);
  order.samples = samples;
  return order;
}

wire::Motion motion_in(const std::string& mode) {
  const InState subject(mode);
  const ProbeReply reply = ask_probe(order_for({subject.pid()}, 3), kLimit);
  INFO(reply.text());
  REQUIRE(reply.done);
  return reply.processes.at(0).threads.front().motion;
}

// Returns a command that runs the probe without rights over the processes of these tests.
std::vector<std::string> as_nobody() {
  if (::geteuid() != 0) return {};
  return {"/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps", "-all"};
}

const wire::StackFrame* frame_of(const ProbeReply& reply, const wire::ThreadStack& thread, const std::string& part) {
  for (const std::uint32_t index : thread.frames) {
    if (reply.frames.at(index).function.find(part) != std::string::npos) return &reply.frames.at(index);
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a probe that is started by hand says which program starts it") {
  const Scratch scratch;
  const Ended ended = Running({.program = DISTRUN_PROBE_PROGRAM, .capture = scratch.path() + "/said"}).wait(kLimit);
  CHECK(ended.exit_code == 2);
  CHECK(ended.err == "distrun-probe is started by distrun and has no use of its own; try: distrun --help\n");
}

TEST_CASE("the kernel's view of every process is sent before any stack") {
  const InState one("sleeping");
  const InState two("many_threads");
  const ProbeReply reply = ask_probe(order_for({one.pid(), two.pid()}), kLimit);
  REQUIRE(reply.first_views.size() == 2);
  for (const wire::ProcessStacks& view : reply.first_views) {
    for (const wire::ThreadStack& thread : view.threads) CHECK(thread.frames.empty());
  }
  CHECK(reply.processes.at(0).pid == one.pid());
  CHECK(reply.processes.at(1).pid == two.pid());
  CHECK(reply.processes.at(1).command == "fixture_states");
}

TEST_CASE("a process that has exited is reported as such") {
  constexpr std::int32_t kNobody = 1 << 30;
  const ProbeReply reply = ask_probe(order_for({kNobody, 0, -1}), kLimit);
  REQUIRE(reply.done);
  CHECK(reply.done->error.empty());
  for (std::int32_t i = 0; i < 3; ++i) CHECK(reply.processes.at(i).why_none == "there is no such process");
}

TEST_CASE("equal frames of processes that were forked from one process have one index") {
  const InState one("sleeping");
  const ProbeReply reply = ask_probe(order_for({one.pid(), one.pid()}), kLimit);
  CHECK(reply.processes.at(0).threads.front().frames == reply.processes.at(1).threads.front().frames);
  CHECK(std::adjacent_find(reply.frames.begin(), reply.frames.end()) == reply.frames.end());
}

TEST_CASE("inlined functions have the line that runs, those around them the line of the call") {
  const InState subject("inlined_leaf");
  REQUIRE(subject.reaches('S'));
  const ProbeReply reply = ask_probe(order_for({subject.pid()}), kLimit);
  INFO(reply.text());
  const wire::ThreadStack& thread = reply.processes.at(0).threads.front();
  const wire::StackFrame* leaf = frame_of(reply, thread, "inlined_leaf");
  const wire::StackFrame* middle = frame_of(reply, thread, "inlined_middle");
  const wire::StackFrame* holder = frame_of(reply, thread, "state_inlined_leaf");
  REQUIRE((leaf != nullptr && middle != nullptr && holder != nullptr));
  CHECK((leaf->inlined && middle->inlined && !holder->inlined));
  CHECK((leaf->pc == middle->pc && middle->pc == holder->pc));
  CHECK(leaf->line < middle->line);
  CHECK(middle->line < holder->line);
  CHECK(leaf->file.ends_with("fixtures/states/single.cpp"));
  CHECK(holder->function == "distrun::states::state_inlined_leaf()");
}

TEST_CASE("the frame in which the kernel called a signal handler is marked as such") {
  const InState subject(GENERATE("signal_handler", "alternate_stack"));
  REQUIRE(subject.reaches('S'));
  const ProbeReply reply = ask_probe(order_for({subject.pid()}), kLimit);
  INFO(reply.text());
  const std::vector<std::uint32_t>& frames = reply.processes.at(0).threads.front().frames;
  const auto marked = [&](std::uint32_t index) { return reply.frames[index].signal_frame; };
  REQUIRE(std::count_if(frames.begin(), frames.end(), marked) == 1);
  const auto trampoline = std::find_if(frames.begin(), frames.end(), marked);
  CHECK(reply.frames[*(trampoline - 1)].function.find("handler_that_stays") != std::string::npos);
}

TEST_CASE("code without symbols is shown with file and offset") {
  const InState subject("sleeping", fixtures::Build::Stripped);
  REQUIRE(subject.reaches('S'));
  const ProbeReply reply = ask_probe(order_for({subject.pid()}), kLimit);
  INFO(reply.text());
  std::size_t nameless = 0;
  for (const wire::StackFrame& frame : reply.frames) {
    if (!frame.module.ends_with("fixture_states_stripped")) continue;
    CHECK(frame.function.empty());
    CHECK(frame.offset > 0);
    ++nameless;
  }
  CHECK(nameless >= 3);
}

TEST_CASE("three samples distinguish waiting from spinning threads") {
  CHECK(eventually(kLimit, [] { return motion_in("sleeping") == wire::Motion::Waiting; }));
  const std::string mode = GENERATE("spinning", "spin_on_flag", "spin_with_pause", "spin_with_yield", "spin_on_clock");
  INFO(mode);
  // Without a CPU a thread cannot be seen to spin.
  CHECK(eventually(kLimit, [&] { return motion_in(mode) == wire::Motion::Spinning; }));
}

TEST_CASE("a thread that computes or sleeps now and then is not called spinning") {
  const std::string mode = GENERATE("matrix_product", "integer_sum", "fresh_copies", "sleep_loop", "epoll_loop",
                                    "receive_loop", "lock_ping_pong", "write_loop");
  INFO(mode);
  CHECK(motion_in(mode) != wire::Motion::Spinning);
}

TEST_CASE("a computation in one function is running") {
  CHECK(motion_in("matrix_product") == wire::Motion::Running);
  CHECK(motion_in("integer_sum") == wire::Motion::Running);
}

TEST_CASE("a captureless lambda that is called by libc is on the stack, with the line of its code") {
  const std::string mode = GENERATE("atexit_lambda", "thread_lambda", "signal_lambda");
  const fixtures::Build build = GENERATE(fixtures::Build::Plain, fixtures::Build::Lean, fixtures::Build::NoRanges);
  const InState subject(mode, build);
  REQUIRE(subject.reaches('S'));
  const ProbeReply reply = ask_probe(order_for({subject.pid()}), kLimit);
  INFO(mode << "\n" << reply.text());
  const wire::ThreadStack& thread = reply.processes.at(0).threads.back();
  const wire::StackFrame* lambda = frame_of(reply, thread, "_FUN");
  REQUIRE(lambda != nullptr);
  CHECK(lambda->function.find("lambda(") != std::string::npos);
  CHECK(lambda->file.ends_with("fixtures/states/lambdas.cpp"));
  CHECK_FALSE(lambda->inlined);
}

TEST_CASE("a thread that stops too late for the first sample has the stack of the next") {
  const InState subject("late_spinner");
  REQUIRE(subject.reaches('D'));
  wire::ProbeOrder order = order_for({subject.pid()}, 4);
  order.interval_ms = 400;
  order.stop_ms = 20;
  const ProbeReply reply = ask_probe(order, kLimit);
  INFO(reply.text());
  REQUIRE(reply.done);
  CHECK(reply.done->error.empty());
  const wire::ThreadStack& thread = reply.processes.at(0).threads.front();
  CHECK(reply.has_function(thread, "state_late_spinner"));
  CHECK(thread.why_none.empty());
  CHECK(thread.motion == wire::Motion::Spinning);
}

TEST_CASE("a refusal has a reason, for the process as a whole") {
  const InState subject("many_threads");
  REQUIRE(subject.reaches('S'));
  const ProbeReply reply = ask_probe(order_for({::geteuid() == 0 ? subject.pid() : 1}), kLimit, as_nobody());
  INFO(reply.text());
  REQUIRE(reply.done);
  const wire::ProcessStacks& process = reply.processes.at(0);
  CHECK(process.why_none.starts_with("ptrace is not permitted: Operation not permitted (EPERM); it belongs to user 0"));
  REQUIRE_FALSE(process.threads.empty());
  CHECK(process.threads.front().task.state == 'S');
  for (const wire::ThreadStack& thread : process.threads) CHECK(thread.why_none.empty());
}

TEST_CASE("a process that has forbidden tracing is reported as such") {
  const InState subject("not_dumpable", fixtures::Build::Plain, as_nobody());
  const ProbeReply reply = ask_probe(order_for({subject.pid()}), kLimit, as_nobody());
  INFO(reply.text());
  REQUIRE(reply.done);
  CHECK(reply.processes.at(0).why_none.ends_with(
      "the process may have more rights than the probe, or has forbidden it (PR_SET_DUMPABLE)"));
}

TEST_CASE("a process that is already traced is reported with its tracer") {
  const InState subject("sleeping");
  REQUIRE(subject.reaches('S'));
  REQUIRE(::ptrace(PTRACE_SEIZE, subject.pid(), nullptr, nullptr) == 0);
  const ProbeReply reply = ask_probe(order_for({subject.pid()}), kLimit);
  CHECK(reply.processes.at(0).why_none.ends_with("process " + std::to_string(::getpid()) +
                                                 " (unit_probe) already traces it"));
}

TEST_CASE("if only one thread is traced by another process, the other threads have stacks") {
  const InState subject("many_threads");
  REQUIRE(subject.reaches('S'));
  REQUIRE(::ptrace(PTRACE_SEIZE, subject.pid(), nullptr, nullptr) == 0);
  const ProbeReply reply = ask_probe(order_for({subject.pid()}), kLimit);
  INFO(reply.text());
  const wire::ProcessStacks& process = reply.processes.at(0);
  CHECK(process.why_none.empty());
  CHECK(process.threads.front().why_none.ends_with("process " + std::to_string(::getpid()) +
                                                   " (unit_probe) already traces it"));
  CHECK_FALSE(process.threads.back().frames.empty());
}

TEST_CASE("a stopped process stays stopped, and continues when it gets SIGCONT") {
  const InState subject("stopped");
  REQUIRE(subject.reaches('T'));
  for (int i = 0; i < 3; ++i) {
    REQUIRE(ask_probe(order_for({subject.pid()}, 2), kLimit).done);
    REQUIRE(subject.reaches('T'));
  }
  ::kill(subject.pid(), SIGCONT);
  CHECK(subject.reaches('S'));
}

TEST_CASE("signals that arrive while the probe works are not lost") {
  InState subject("counting_signals");
  std::thread sender([&subject] {
    for (int i = 0; i < 1000; ++i) {
      ::sigqueue(subject.pid(), SIGRTMIN, {});
      if (i % 5 == 0) pause_for(milliseconds(1));
    }
  });
  while (evidence::read_pulse(subject.pid(), subject.pid()).state != 'Z') {
    REQUIRE(ask_probe(order_for({subject.pid()}), kLimit).done);
  }
  sender.join();
  CHECK(subject.wait() == 0);
}

TEST_CASE("a probe that is killed leaves no thread stopped") {
  const InState subject(GENERATE("many_threads", "vfork_parent"));
  REQUIRE(eventually(kLimit, [&] { return evidence::read_pulse(subject.pid(), subject.pid()).state != 'R'; }));
  for (int limit_ms = 1; limit_ms < 20; ++limit_ms) {
    ask_probe(order_for({subject.pid()}), milliseconds(limit_ms));  // killed at the limit
    for (const pid_t tid : evidence::tasks_of(subject.pid())) {
      CHECK(eventually(kLimit, [&] { return !evidence::is_traced(tid); }));
      CHECK(eventually(kLimit, [&] { return evidence::read_pulse(subject.pid(), tid).state != 't'; }));
    }
  }
}

TEST_CASE("addresses that a rank has collected itself get names") {
  const InState subject("inlined_leaf");
  REQUIRE(subject.reaches('S'));
  const ProbeReply first = ask_probe(order_for({subject.pid()}), kLimit);
  wire::ProbeOrder order;
  wire::RawStacks& raw = order.raw.emplace_back();
  raw.pid = 4711;
  wire::RawThread& thread = raw.threads.emplace_back();
  thread.tid = 4712;
  thread.name = "worker";
  thread.crashed = true;
  for (const std::uint32_t index : first.processes.at(0).threads.front().frames) {
    const wire::StackFrame& frame = first.frames[index];
    if (frame.inlined || frame.module.empty()) continue;
    thread.pcs.push_back(frame.pc);
    const wire::RawModule module{frame.pc - frame.offset, frame.module};
    const auto is_same = [&](const wire::RawModule& other) { return other.path == module.path; };
    if (std::none_of(raw.modules.begin(), raw.modules.end(), is_same)) raw.modules.push_back(module);
  }
  thread.pcs.push_back(8);
  raw.modules.push_back({1ULL << 60, "/nowhere/gone.so"});
  thread.pcs.push_back((1ULL << 60) + 0x123);

  const ProbeReply second = ask_probe(order, kLimit);
  INFO(second.text());
  REQUIRE(second.processes.contains(0));
  const wire::ThreadStack& named = second.processes.at(0).threads.at(0);
  CHECK((named.task.tid == 4712 && named.task.name == "worker" && named.crashed));
  std::vector<std::string> expected = first.functions(first.processes.at(0).threads.front());
  expected.insert(expected.end(), {"", ""});
  CHECK(second.functions(named) == expected);
  CHECK(second.frames[named.frames.back()].module == "/nowhere/gone.so");
  CHECK(second.frames[named.frames.back()].offset == 0x123);
  CHECK(second.frames[named.frames[named.frames.size() - 2]].module.empty());
}

TEST_CASE("code without debug information gets lines from a separate file, by link and by build id") {
  const bool by_link = GENERATE(true, false);
  const bool is_root = ::geteuid() == 0;
  testing::skip_case_if(!by_link && (!is_root || ::access("/usr/lib/debug", F_OK) != 0),
                        "only root can have a /usr/lib/debug of its own, where there is one");
  const Scratch scratch;
  const std::string copy = scratch.path() + "/copy";
  const std::string apart = scratch.path() + "/apart.debug";
  const std::string split = "cp \"$0\" " + copy + " && objcopy --only-keep-debug " + copy + " " + apart +
                            " && objcopy --strip-all " + (by_link ? "--add-gnu-debuglink=" + apart + " " : "") + copy;
  const InState subject("sleeping", fixtures::Build::Plain, {"/bin/sh", "-c", split + " && exec " + copy + " \"$1\""});
  REQUIRE(subject.reaches('S'));
  std::vector<std::string> wrapper;
  if (!by_link) {
    // Puts the debug files under the build id, in a /usr/lib/debug that only the probe sees.
    wrapper = {"/usr/bin/unshare", "-m", "/bin/sh", "-c",
               "mount -t tmpfs none /usr/lib/debug && id=$(readelf -n " + copy +
                   " | sed -n 's/.*Build ID: //p') && rest=${id#??} &&"
                   " place=/usr/lib/debug/.build-id/${id%\"$rest\"} && mkdir -p $place && cp " +
                   apart + " $place/$rest.debug && exec \"$0\" \"$@\""};
  }
  const ProbeReply reply = ask_probe(order_for({subject.pid()}), kLimit, wrapper);
  INFO((by_link ? "by link: " : "by build id: ") << reply.text());
  const wire::StackFrame* frame = frame_of(reply, reply.processes.at(0).threads.front(), "state_sleeping");
  REQUIRE(frame != nullptr);
  CHECK(frame->line > 0);
}

TEST_CASE("code from a file that was removed still has names, if the probe may open it") {
  testing::skip_case_if(::geteuid() != 0, "only root can open a file that has been removed");
  const Scratch scratch;
  const std::string copy = scratch.path() + "/fixture_states_removed";
  const InState subject("sleeping", fixtures::Build::Plain,
                        {"/bin/sh", "-c", "cp \"$0\" " + copy + " && exec " + copy + " \"$1\""});
  REQUIRE(subject.reaches('S'));
  REQUIRE(::unlink(copy.c_str()) == 0);
  const ProbeReply reply = ask_probe(order_for({subject.pid()}), kLimit);
  INFO(reply.text());
  const wire::StackFrame* frame = frame_of(reply, reply.processes.at(0).threads.front(), "state_sleeping");
  REQUIRE(frame != nullptr);
  CHECK(frame->module.ends_with("/fixture_states_removed (deleted)"));
  CHECK(frame->line > 0);
}

TEST_CASE("the addresses of a large program are sent before its names") {
  const Scratch scratch;
  const std::string copy = scratch.path() + "/large";
  const std::string make = "cp \"$0\" " + copy + " && truncate -s 200M " + copy;  // which takes no space
  const InState subject("sleeping", fixtures::Build::Plain, {"/bin/sh", "-c", make + " && exec " + copy + " \"$1\""});
  REQUIRE(subject.reaches('S'));
  const ProbeReply reply = ask_probe(order_for({subject.pid()}), kLimit);
  INFO(reply.text());
  const wire::StackFrame* named = frame_of(reply, reply.processes.at(0).threads.front(), "state_sleeping");
  REQUIRE(named != nullptr);
  const auto first = std::find_if(reply.frames.begin(), reply.frames.end(),
                                  [&](const wire::StackFrame& frame) { return frame.pc == named->pc; });
  REQUIRE(first != reply.frames.end());
  CHECK((first->function.empty() && first->module == copy && first->offset == named->offset));
  CHECK(&*first < named);
}
