// A real probe reads the stacks of real Python programs.
#include <catch2/catch.hpp>

#include <algorithm>

#include "real_python.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::testing;
using Lines = std::vector<std::string>;

namespace {

// Runs the case for every Python that is here; each says which one it is.
template <class Check>
void for_each_python(Check&& check) {
  skip_case_if(pythons().empty(), "there is no Python of a version that is read");
  for (const Python& python : pythons()) {
    INFO(python.program);
    check(python);
  }
}

// Up to 3.10, code objects have no qualified names.
std::string name_in(const Python& python, const std::string& qualified) {
  if (python.minor >= 11) return qualified;
  return qualified.substr(qualified.rfind('.') + 1);
}

// Asks again until it holds of an answer: a program that says "ready" may not wait yet.
template <class Holds>
bool soon(const PythonProgram& program, Holds holds) {
  return eventually(milliseconds(10'000), [&] { return holds(program.ask()); });
}

Lines main_lines(const ProbeReply& reply) { return python_lines(reply, reply.processes.at(0).threads.front()); }

bool has(const Lines& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

}  // namespace

TEST_CASE("a Python thread that sleeps without the GIL has its lines, through classes, generators and lambdas") {
  for_each_python([](const Python& python) {
    const PythonProgram program(python,
                                "import time\n"
                                "class Trainer:\n"
                                "    def step(self):\n"
                                "        for x in batches():\n"
                                "            pass\n"
                                "def batches():\n"
                                "    yield (lambda n: wait(n))(600)\n"
                                "def wait(n):\n"
                                "    print('ready')\n"
                                "    time.sleep(n)\n"
                                "Trainer().step()\n");
    CHECK(soon(program, [&](const ProbeReply& reply) {
      return main_lines(reply) ==
             Lines{"wait script.py:10", name_in(python, "batches.<locals>.<lambda>") + " script.py:7",
                   "batches script.py:7", name_in(python, "Trainer.step") + " script.py:4", "<module> script.py:11"};
    }));
  });
}

TEST_CASE("a Python thread that computes with the GIL has its line, and others wait for it") {
  for_each_python([](const Python& python) {
    const PythonProgram program(python,
                                "import threading\n"
                                "def compute():\n"
                                "    while True:\n"
                                "        pass\n"
                                "threads = [threading.Thread(target=compute) for i in range(3)]\n"
                                "for thread in threads: thread.start()\n"
                                "print('ready')\n"
                                "threads[0].join()\n");
    // A moment in which the GIL changes its owner shows no waiter.
    CHECK(soon(program, [&](const ProbeReply& reply) {
      const auto& threads = reply.processes.at(0).threads;
      pid_t holder = 0;
      for (const wire::ThreadStack& thread : threads) {
        if (thread.wait.note.ends_with(wire::kHoldsGil)) holder = thread.task.tid;
      }
      return holder != 0 && std::any_of(threads.begin(), threads.end(), [&](const wire::ThreadStack& thread) {
               return thread.wait.name == "the GIL" && thread.wait.object == wire::WaitObject::Mutex &&
                      thread.wait.closed && thread.wait.enders.size() == 1 &&
                      thread.wait.enders.front().tid == holder && thread.task.tid != holder;
             });
    }));
    CHECK(soon(program, [&](const ProbeReply& reply) {
      const auto& threads = reply.processes.at(0).threads;
      return std::any_of(threads.begin(), threads.end(), [&](const auto& thread) {
        const Lines found = python_lines(reply, thread);
        return !found.empty() && (found.front() == "compute script.py:4" || found.front() == "compute script.py:3");
      });
    }));
  });
}

TEST_CASE("a Python thread that waits for a lock is at the line that takes it") {
  for_each_python([](const Python& python) {
    const PythonProgram program(python,
                                "import threading\n"
                                "lock = threading.Lock()\n"
                                "lock.acquire()\n"
                                "def work():\n"
                                "    with lock:\n"
                                "        pass\n"
                                "threading.Thread(target=work).start()\n"
                                "print('ready')\n"
                                "threading.Event().wait()\n");
    CHECK(soon(program, [&](const ProbeReply& reply) {
      return has(python_lines(reply, thread_with(reply, "work script.py:5")), "work script.py:5");
    }));
  });
}

TEST_CASE("Python names and files may have any letters") {
  for_each_python([](const Python& python) {
    const PythonProgram program(python,
                                "import time\n"
                                "def \xc3\xbc"
                                "ben_\xe8\xae\xad\xe7\xbb\x83():\n"
                                "    print('ready')\n"
                                "    time.sleep(600)\n"
                                "\xc3\xbc"
                                "ben_\xe8\xae\xad\xe7\xbb\x83()\n",
                                "\xc3\xbc"
                                "bung \xf0\x9f\x90\x8d.py");
    CHECK(soon(program, [&](const ProbeReply& reply) {
      return main_lines(reply) == Lines{
                                      "\xc3\xbc"
                                      "ben_\xe8\xae\xad\xe7\xbb\x83 \xc3\xbc"
                                      "bung \xf0\x9f\x90\x8d.py:4",
                                      "<module> \xc3\xbc"
                                      "bung \xf0\x9f\x90\x8d.py:5"};
    }));
  });
}

TEST_CASE("native functions between Python functions stay between them") {
  for_each_python([](const Python& python) {
    const PythonProgram program(
        python,
        "import ctypes, time\n"
        "libc = ctypes.CDLL(None)\n"
        "kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))\n"
        "def compare(a, b):\n"
        "    print('ready')\n"
        "    time.sleep(600)\n"
        "numbers = (ctypes.c_int * 2)(2, 1)\n"
        "libc.qsort(numbers, 2, 4, kind(compare))\n");
    CHECK(soon(program, [&](const ProbeReply& reply) {
      Lines order;
      for (const std::uint32_t index : reply.processes.at(0).threads.front().frames) {
        const wire::StackFrame& frame = reply.frames.at(index);
        if (frame.module == wire::kPythonModule) order.push_back(frame.function);
        if (frame.function.find("qsort") != std::string::npos) order.emplace_back("qsort");
      }
      order.erase(std::unique(order.begin(), order.end()), order.end());
      return order == Lines{"compare", "qsort", "<module>"};
    }));
  });
}

// An Event would leave semaphores in /dev/shm: the program is killed.
TEST_CASE("processes that a Python program has spawned have their lines, too") {
  for_each_python([](const Python& python) {
    const PythonProgram program(python,
                                "import multiprocessing, sys, time\n"
                                "def child(line):\n"
                                "    line.send(1)\n"
                                "    time.sleep(600)\n"
                                "if __name__ == '__main__':\n"
                                "    context = multiprocessing.get_context('spawn')\n"
                                "    here, there = context.Pipe()\n"
                                "    process = context.Process(target=child, args=(there,), daemon=True)\n"
                                "    process.start()\n"
                                "    here.recv()\n"
                                "    print('ready')\n"
                                "    process.join()\n");
    CHECK(soon(program, [&](const ProbeReply& reply) {
      const Lines parent = main_lines(reply);
      return has(parent, "<module> script.py:12") &&
             has(python_lines(reply, thread_with(reply, "child script.py:4")), "child script.py:4");
    }));
  });
}

TEST_CASE("of a deep recursion in Python both ends are shown") {
  for_each_python([](const Python& python) {
    const PythonProgram program(python,
                                "import sys, time\n"
                                "def dive(n):\n"
                                "    if n > 0: return dive(n - 1)\n"
                                "    print('ready')\n"
                                "    time.sleep(600)\n"
                                "dive(600)\n");
    CHECK(soon(program, [&](const ProbeReply& reply) {
      const wire::ThreadStack& thread = reply.processes.at(0).threads.front();
      const Lines lines = python_lines(reply, thread);
      return thread.gap_after > 0 && !lines.empty() && lines.front() == "dive script.py:5" &&
             lines.back() == "<module> script.py:6" && thread.frames.size() <= wire::kInnerFrames + wire::kOuterFrames;
    }));
  });
}

TEST_CASE("a program does not notice that its lines are read") {
  for_each_python([](const Python& python) {
    const PythonProgram program(python,
                                "import time\n"
                                "print('ready')\n"
                                "while True:\n"
                                "    before = time.monotonic()\n"
                                "    time.sleep(0.05)\n"
                                "    if time.monotonic() - before < 0.05: break\n");
    for (int i = 0; i < 20; ++i) CHECK(program.ask().done);
    CHECK(program.ask().processes.at(0).why_none.empty());  // it is still there
  });
}
