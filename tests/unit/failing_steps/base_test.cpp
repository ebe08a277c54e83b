// Threads, shared memory, files and the ends of processes.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/held_names.hpp>
#include <distrun/common/base/replaced_file.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/base/wait_queue.hpp>
#include <distrun/runtime/core/deadline_thread.hpp>
#include <distrun/runtime/core/process_end.hpp>
#include <distrun/runtime/core/shared_memory.hpp>

#include "support/process.hpp"
#include "support/scratch.hpp"
#include "unit/failing_steps/attempt.hpp"
#include "unit/support/forked.hpp"

namespace distrun {
namespace {

using namespace testing;
using namespace std::chrono_literals;

bool is_soon(const std::function<bool()>& question) { return eventually(10s, question); }

TEST_CASE("a thread that cannot be started changes nothing") {
  every_step_may_fail([](Attempt& attempt) {
    const auto runs = [] {
      std::atomic<bool> has_run{false};
      base::Thread("distrun-test", [&has_run] { has_run = true; }).join();
      return has_run.load();
    };
    attempt.may_fail([] { base::Thread("distrun-test", [] {}).join(); });
    require(runs(), "another thread can be started");
  });
}

TEST_CASE("a thread that cannot wait in a queue leaves the queue unchanged") {
  every_step_may_fail([](Attempt& attempt) {
    std::mutex mutex;
    base::WaitQueue queue;
    const auto wait = [&] {
      std::unique_lock lock(mutex);
      queue.wait_until(lock, base::system_clock().now());
    };
    attempt.may_fail([&] { wait(); });
    wait();
    require(queue.size() == 0, "nothing is left in the queue");
  });
}

TEST_CASE("a deadline thread that cannot be started is started by the next deadline") {
  every_step_may_fail([](Attempt& attempt) {
    std::atomic<int> calls{0};
    std::optional<core::DeadlineThread> thread;
    const auto make = [&] { thread.emplace("distrun-test", [&calls] { return ++calls, base::TimePoint::max(); }); };
    if (!attempt.may_fail(make)) make();
    const bool is_announced = attempt.may_fail([&] { thread->call_by(base::system_clock().now()); });
    require(is_announced || calls == 0, "a deadline that was refused is not worked at");
    require(!is_announced || is_soon([&] { return calls == 1; }), "the work is done");
    const int before = calls;
    thread->call_by(base::system_clock().now());
    require(is_soon([&] { return calls == before + 1; }), "later work is done, once");
    thread->stop();
  });
}

TEST_CASE("shared memory that cannot be created leaves nothing behind") {
  every_step_may_fail([](Attempt& attempt) {
    attempt.may_fail([] {
      const core::SharedMemory made("test", 8192);
      const core::SharedMemory opened(made.address(), 8192);
    });
    const core::SharedMemory made("test", 8192);
    const core::SharedMemory opened(made.address(), 8192);
  });
}

TEST_CASE("a file is replaced completely or not at all") {
  every_step_may_fail([](Attempt& attempt) {
    const Scratch scratch;
    const std::string path = scratch.path() + "/file";
    const auto replace = [&path](const std::string& text) {
      base::ReplacedFile file(path);
      file.write(std::as_bytes(std::span(text)));
      file.take_place(base::ReplacedFile::Sync::Yes);
    };
    replace("before");
    const bool is_replaced = attempt.may_fail([&] { replace("after"); });
    require(read_file(path) == (is_replaced ? "after" : "before"), "the file has what it is said to have");
    require(names_in(scratch.path()).size() == 1, "no other file is left");
    replace("again");
  });
}

TEST_CASE("looking for names that a process holds leaves nothing open") {
  every_step_may_fail([](Attempt& attempt) {
    attempt.may_fail([] { base::held_names("self", {"/tmp"}); });
    base::held_names("self", {"/tmp"});
  });
}

TEST_CASE("the end of a process is reported, or an error says that it will not be") {
  every_step_may_fail([](Attempt& attempt) {
    const base::FdPair life = base::make_pipe();
    const pid_t child = fork_child([&life] {
      char byte = 0;
      return ::read(life.first.get(), &byte, 1) == 1 ? 0 : 1;
    });
    const auto end = [&] {
      require(::write(life.second.get(), "", 1) == 1, "the child is notified");
      wait_for(child);
    };
    std::atomic<int> told{0};
    std::optional<core::ProcessEnd> first, second;
    attempt.may_fail([&] { first.emplace(child, [&told] { ++told; }); });
    second.emplace(child, [&told] { ++told; });
    const int expected = (first && first->is_told() ? 1 : 0) + 1;
    require(second->is_told(), "another one can be watched");
    end();
    require(is_soon([&] { return told == expected; }), "each is notified once");
  });
}

}  // namespace
}  // namespace distrun
