#include "samples.hpp"

#include <utility>

namespace distrun::evidence::samples {
namespace {

using wire::Motion;
using wire::StackFrame;

constexpr char kTest[] = "/src/ring/tests/ring_test.cpp";
constexpr char kSource[] = "/src/ring/src/ring.cpp";
constexpr char kRunBody[] = "(anonymous namespace)::Ring_gather::body(distrun::Rank&)";

std::string with_number(const std::string& name, int number) { return name + std::to_string(number); }

ThreadSample main_in_barrier(int pid, std::uint32_t line) {
  return {pid, "distrun-rank", in_barrier() + Frames{user(kRunBody, kTest, line)} + under_rank_main()};
}

Frames some_user_frames(unsigned count) {
  Frames frames;
  for (unsigned i = 0; i < count; ++i) {
    const std::string name = "ring::Channel::step_" + std::to_string(i) + "(ring::Buffer const&)";
    frames.push_back(user(name, kSource, 100 + i * 7));
  }
  return frames;
}

}  // namespace

StackFrame user(const std::string& function, const std::string& file, std::uint32_t line) {
  StackFrame frame;
  frame.function = function;
  frame.file = file;
  frame.line = line;
  frame.module = "/src/ring/build/ring.so";
  return frame;
}

StackFrame library(const std::string& function) {
  StackFrame frame;
  frame.function = function;
  frame.module = "/lib/x86_64-linux-gnu/libc.so.6";
  return frame;
}

StackFrame machinery(const std::string& function) {
  StackFrame frame;
  frame.function = function;
  frame.file = "/build/libdistrun/plugin/rank/entry.cpp";
  frame.line = 70;
  frame.module = "/usr/bin/distrun-rank";
  return frame;
}

Frames operator+(Frames inner, const Frames& outer) {
  inner.insert(inner.end(), outer.begin(), outer.end());
  return inner;
}

Frames under_rank_main() {
  return {user("distrun::detail::run_test(distrun::Rank&)", "/build/libdistrun/plugin/sdk/detail/run.cpp", 40),
          machinery("distrun::rank::run_plugin(distrun::rank::Plugin const&)"),
          machinery("distrun::rank::run_rank(distrun::base::Fd, distrun::rank::Plugin const*)"),
          machinery("main"),
          library("__libc_start_call_main"),
          library("__libc_start_main"),
          library("_start")};
}

Frames under_thread_start() {
  return {user("void std::__invoke_impl<void, ring::Pool::start()::{lambda()#1}>(std::__invoke_other)",
               "/usr/include/c++/12/bits/invoke.h", 61),
          user("std::thread::_State_impl<std::thread::_Invoker<std::tuple<ring::Pool::start()::{lambda()#1}> > >"
               "::_M_run()",
               "/usr/include/c++/12/bits/std_thread.h", 210),
          library("start_thread"), library("clone3")};
}

Frames in_futex() {
  return {library("__futex_abstimed_wait_common"), library("pthread_cond_wait@@GLIBC_2.3.2"),
          user("std::condition_variable::wait(std::unique_lock<std::mutex>&)", "/src/condition_variable.cc", 41)};
}

Frames in_barrier() {
  return in_futex() +
         Frames{machinery("distrun::rank::Inbox::wait_for_release()"),
                user("distrun::Rank::barrier(std::string_view)", "/build/libdistrun/plugin/sdk/context.cpp", 88)};
}

ThreadSample::ThreadSample(int tid, std::string name, Frames its_frames) : frames(std::move(its_frames)) {
  thread.task.tid = tid;
  thread.task.name = std::move(name);
  thread.task.state = 'S';
  thread.task.wchan = "futex_wait_queue";
  thread.task.syscall = with_number("futex(0x7f", tid) + ", 0x80)";
  thread.motion = Motion::Waiting;
}

ThreadSample& ThreadSample::waits_in(const std::string& call) {
  thread.task.syscall = call;
  return *this;
}

ThreadSample& ThreadSample::waits_for(const std::string& what) {
  thread.waits_for = what;
  return *this;
}

ThreadSample& ThreadSample::observes(wire::WaitObject object, const std::string& name,
                                     std::vector<wire::WaitEnder> enders) {
  thread.wait.object = object;
  thread.wait.name = name;
  thread.wait.enders = std::move(enders);
  return *this;
}

ThreadSample& ThreadSample::moves(Motion motion, char state) {
  thread.motion = motion;
  thread.task.state = static_cast<std::uint8_t>(state);
  thread.task.syscall = "";
  thread.task.wchan = "";
  return *this;
}

void add_process(Stacks& stacks, int rank, int pid, std::vector<ThreadSample> threads) {
  Process process;
  process.index = static_cast<int>(stacks.processes.size());
  process.rank = rank;
  process.pid = pid;
  process.command = "distrun-rank";
  for (ThreadSample& sample : threads) {
    for (StackFrame& frame : sample.frames) {
      frame.pc = 0x1000U * static_cast<unsigned>(pid) + stacks.table.size();
      sample.thread.frames.push_back(static_cast<std::uint32_t>(stacks.table.size()));
      stacks.table.push_back(std::move(frame));
    }
    process.threads.push_back(std::move(sample.thread));
  }
  stacks.processes.push_back(std::move(process));
}

ThreadSample listener(int tid) {
  ThreadSample sample(tid, "distrun-listen",
                      Frames{library("recvmsg"), machinery("distrun::rank::ControlLine::listen()"),
                             machinery("std::thread::_State_impl<distrun::base::Thread>::_M_run()"),
                             library("start_thread"), library("clone3")});
  sample.waits_in("recvmsg(3, 0x7f22, 0)");
  return sample;
}

Stacks one_in_read() {
  Stacks stacks;
  for (int rank = 0; rank < 4; ++rank) {
    const int pid = 4700 + 10 * rank;
    ThreadSample body = main_in_barrier(pid, 57);
    if (rank == 2) {
      body = {pid, "distrun-rank",
              Frames{library("read"), library("_IO_file_underflow"), library("fgets"),
                     user("ring::load_table(std::string const&)", kSource, 31), user(kRunBody, kTest, 52)} +
                  under_rank_main()};
      body.waits_in("read(7, 0x7ffc1000, 4096)");
    }
    add_process(stacks, rank, pid, {body, listener(pid + 1)});
  }
  return stacks;
}

Stacks abba() {
  Stacks stacks;
  const auto locks = [](int tid, const std::string& name, const std::string& which, std::uint32_t line) {
    return ThreadSample(tid, name,
                        Frames{library("__lll_lock_wait"), library("pthread_mutex_lock"),
                               user("std::mutex::lock()", "/usr/include/c++/12/bits/std_mutex.h", 100),
                               user("ring::transfer_" + which + "(ring::Account&)", kSource, line)} +
                            under_thread_start());
  };
  ThreadSample body(4700, "distrun-rank",
                    Frames{library("pthread_join"), user("std::thread::join()", "", 0), user(kRunBody, kTest, 88)} +
                        under_rank_main());
  body.waits_for("the end of thread 4712");
  add_process(
      stacks, 0, 4700,
      {body, listener(4701), locks(4712, "there", "there", 14).waits_for("mutex 0x5581aa10 held by thread 4713 (back)"),
       locks(4713, "back", "back", 24).waits_for("mutex 0x5581aa38 held by thread 4712 (there)")});
  add_process(stacks, 1, 4710, {main_in_barrier(4710, 91), listener(4711)});
  return stacks;
}

Stacks lock_cycle() {
  Stacks stacks;
  const auto waits = [](int tid, const std::string& name, const std::string& mutex, int holder) {
    ThreadSample sample(
        tid, name,
        Frames{library("__lll_lock_wait"), library("pthread_mutex_lock"), user("ring::Fork::take()", kSource, 17)} +
            under_thread_start());
    return sample.observes(wire::WaitObject::Mutex, "mutex " + mutex,
                           {{4700, holder, with_number("thread ", holder) + " (eater)"}});
  };
  ThreadSample body(4700, "distrun-rank", in_barrier() + Frames{user(kRunBody, kTest, 57)} + under_rank_main());
  add_process(stacks, 0, 4700,
              {body, waits(4701, "eater", "0x5581aa10", 4702), waits(4702, "eater", "0x5581aa38", 4703),
               waits(4703, "eater", "0x5581aa60", 4701), waits(4704, "guest", "0x5581aa10", 4702),
               waits(4705, "guest", "0x5581aa10", 4702), waits(4706, "guest", "0x5581aa10", 4702)});
  return stacks;
}

Stacks one_spins() {
  Stacks stacks;
  const Frames callers =
      Frames{user("ring::Ring::exchange(int)", kSource, 77), user(kRunBody, kTest, 41)} + under_rank_main();
  for (int rank = 0; rank < 4; ++rank) {
    const int pid = 4700 + 10 * rank;
    ThreadSample body(pid, "distrun-rank",
                      in_futex() + Frames{user("ring::wait_for_peer(int)", kSource, 23)} + callers);
    if (rank == 1) {
      body = {pid, "distrun-rank", Frames{user("ring::spin_until_ready(int)", kSource, 17)} + callers};
      body.moves(Motion::Spinning, 'R');
    }
    add_process(stacks, rank, pid, {body, listener(pid + 1)});
  }
  return stacks;
}

Stacks one_in_kernel() {
  Stacks stacks;
  for (int rank = 0; rank < 3; ++rank) {
    const int pid = 4700 + 10 * rank;
    ThreadSample body = main_in_barrier(pid, 57);
    if (rank == 0) {
      body = {pid, "distrun-rank", {}};
      body.thread.task.state = 'D';
      body.thread.task.syscall = "";
      body.thread.task.wchan = "folio_wait_bit_common";
      body.thread.task.kernel_stack = "folio_wait_bit_common\nnfs_file_read\nvfs_read\nksys_read\n";
      body.thread.why_none = "it did not stop within 200 ms";
    }
    add_process(stacks, rank, pid, {body, listener(pid + 1)});
  }
  return stacks;
}

Stacks alike(int ranks, int threads) {
  Stacks stacks;
  for (int rank = 0; rank < ranks; ++rank) {
    const int pid = 10'000 + 100 * rank;
    std::vector<ThreadSample> all = {
        {pid, "distrun-rank",
         in_barrier() + some_user_frames(12) + Frames{user(kRunBody, kTest, 57)} + under_rank_main()},
        listener(pid + 1)};
    for (int i = 2; i < threads; ++i) {
      all.push_back({pid + i, with_number("pool-", i), in_futex() + some_user_frames(12) + under_thread_start()});
    }
    add_process(stacks, rank, pid, std::move(all));
  }
  return stacks;
}

Stacks all_different() {
  Stacks stacks;
  const char* const doing[] = {"send", "receive", "reduce", "flush"};
  for (int rank = 0; rank < 4; ++rank) {
    const int pid = 4700 + 10 * rank;
    const std::string name = std::string("ring::Channel::") + doing[rank] + "(ring::Buffer const&)";
    ThreadSample body(pid, "distrun-rank",
                      in_futex() + Frames{user(name, kSource, 100U + 10U * static_cast<unsigned>(rank))} +
                          Frames{user("ring::Ring::all_reduce()", kSource, 77), user(kRunBody, kTest, 41)} +
                          under_rank_main());
    add_process(stacks, rank, pid, {body, listener(pid + 1)});
  }
  return stacks;
}

Stacks recursion() {
  Stacks stacks;
  Frames alone;
  for (int i = 0; i < 1200; ++i) alone.push_back(user("ring::walk(ring::Node*)", kSource, 10));
  Frames circle;
  for (int i = 0; i < 300; ++i) {
    circle.push_back(user("ring::is_even(int)", kSource, 20));
    circle.push_back(user("ring::is_odd(int)", kSource, 24));
  }
  const Frames below = Frames{user(kRunBody, kTest, 41)} + under_rank_main();
  add_process(stacks, 0, 4700, {ThreadSample(4700, "distrun-rank", alone + below).moves(Motion::Moving, 'R')});
  add_process(stacks, 1, 4710, {ThreadSample(4710, "distrun-rank", circle + below).moves(Motion::Moving, 'R')});
  return stacks;
}

Stacks inlined() {
  Stacks stacks;
  StackFrame tight = user("ring::Slot::is_full", "/src/ring/include/ring/slot.hpp", 12);
  tight.inlined = true;
  StackFrame loop = user("ring::spin_until<ring::Slot::Full>", "/src/ring/include/ring/spin.hpp", 30);
  loop.inlined = true;
  ThreadSample body(
      4700, "distrun-rank",
      Frames{tight, loop, user("ring::push(int)", kSource, 9)} + Frames{user(kRunBody, kTest, 41)} + under_rank_main());
  body.moves(Motion::Spinning, 'R');
  add_process(stacks, 0, 4700, {body});
  return stacks;
}

Stacks stripped() {
  Stacks stacks;
  for (int rank = 0; rank < 2; ++rank) {
    StackFrame unnamed;
    unnamed.module = "/opt/vendor/libfabric.so.1";
    unnamed.offset = 0x1f3c0;
    StackFrame other = unnamed;
    other.offset = 0x2a000;
    StackFrame made_at_run_time;
    StackFrame named = user("fi_cq_sread", "", 0);
    named.module = "/opt/vendor/libfabric.so.1";
    const int pid = 4700 + 10 * rank;
    add_process(stacks, rank, pid, {{pid, "distrun-rank", Frames{library("epoll_wait"), unnamed, other, named}}});
    stacks.table.back().function = "";
    stacks.table.back().offset = 0x9999;
    add_process(stacks, -1, pid + 1, {{pid + 1, "jit", Frames{made_at_run_time}}});
    stacks.processes.back().command = "helper";
  }
  return stacks;
}

Stacks hostile() {
  Stacks stacks;
  ThreadSample body(
      4700, "\x1b[2Jname\r\n",
      Frames{user("\x1b[31mf\n\n(int)\xff\xfe", "../\x07/\xc2\x9b.cpp", 1), user("operator<<<<((", "/", 0),
             user(")>>>", "x/y/", 4000000000U), user(std::string(5000, '<'), std::string(3000, '/'), 7),
             user("", "file_without_function.cpp", 3), user("void a::b<" + std::string(400, 'x') + ">::c(int)", "c", 5),
             user("\xe6\x97\xa5\xe6\x9c\xac()", "d.cpp", 6)});
  body.waits_for("\x1b]0;title\x07 7\n7");
  body.thread.task.syscall = "\x1b(";
  add_process(stacks, 0, 4700, {body});
  stacks.processes.back().sources = {{"probe\x1b", false, "\nno\n"}};
  ThreadSample none(4711, "", {});
  none.thread.task.state = 0;
  none.thread.task.kernel_stack = std::string(100, '\n') + "\x1b[0m";
  none.thread.why_none = "\x1b[0m\n";
  add_process(stacks, 1, 4710, {none});
  return stacks;
}

Stacks without_answers() {
  Stacks stacks;
  StackFrame handler_called = library("__restore_rt");
  handler_called.signal_frame = true;
  ThreadSample crashed(4700, "distrun-rank",
                       Frames{library("write"), machinery("distrun::rank::on_crash(int)"), handler_called,
                              user("ring::Slot::value() const", kSource, 12), user(kRunBody, kTest, 41)} +
                           under_rank_main());
  crashed.moves(Motion::Unknown, 'R').thread.crashed = true;
  add_process(stacks, 0, 4700, {crashed, listener(4701)});
  ThreadSample cut = main_in_barrier(4710, 57);
  cut.thread.gap_after = 6;
  cut.thread.incomplete = true;
  add_process(stacks, 1, 4710, {cut});
  stacks.processes.back().sources = {{"listener", false, "its thread is stuck too"}, {"probe", true, ""}};
  add_process(stacks, 2, 4720, {});
  stacks.processes.back().sources = {{"probe", false, "not permitted"}, {"listener", false, "timed out"}};
  add_process(
      stacks, -1, 4730,
      {ThreadSample(4730, "sleep",
                    Frames{library("clock_nanosleep"), library("nanosleep"), library("__libc_start_call_main")})});
  stacks.processes.back().command = "sleep";
  return stacks;
}

}  // namespace distrun::evidence::samples
