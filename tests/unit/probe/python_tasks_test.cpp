// Asyncio tasks that wait are listed: of a hand-made memory, of a damaged one, and of a real program.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include <distrun/common/base/rng.hpp>

#include "fake_interpreter.hpp"
#include "real_python.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::probe::python;
using namespace distrun::testing;
using Lines = std::vector<std::string>;

namespace {

// Objects of CPython 3.11 that lead to tasks. The numbers are its offsets.
struct Loop {
  Loop() : codes(fake.layout(), fake.runtime().code_type) {
    loop = fake.memory.add(64);
    const Address module = object("module", 64);
    fake.memory.set(module + 16, dict("_all_tasks", weak_set()));
    fake.memory.set(fake.interpreter() + static_cast<Address>(fake.layout().interpreter_modules),
                    dict("asyncio.tasks", module));
    const Address run = frame("BaseEventLoop.run_forever", "/lib/asyncio/base_events.py", 0);
    fake.memory.set(run + 72, loop);
    top = frame("EpollSelector.select", "/lib/selectors.py", run);
    fake.add_thread(2, top);
  }

  Address object(const std::string& type, std::size_t size) {
    Address& known = types[type];
    if (known == 0) {
      const Address name = fake.memory.add(64);
      fake.memory.set_bytes(name, type.data(), type.size());
      known = fake.memory.add(64);
      fake.memory.set(known + 24, name);
    }
    const Address made = fake.memory.add(size + 64) + 64;  // attributes lie before an object
    fake.memory.set(made + 8, known);
    return made;
  }
  Address dict(const char* key, Address value) {
    const Address keys = fake.memory.add(256);
    fake.memory.set(keys + 9, std::uint8_t{3});
    fake.memory.set(keys + 10, std::uint8_t{1});
    fake.memory.set(keys + 24, std::uint64_t{1});
    fake.memory.set(keys + 40, fake.add_ascii(key));
    fake.memory.set(keys + 48, value);
    const Address made = object("dict", 64);
    fake.memory.set(made + 32, keys);
    return made;
  }
  Address weak_set() {
    const Address set = object("set", 256);
    table = fake.memory.add(256 * 16);
    fake.memory.set(set + 32, std::uint64_t{255});
    fake.memory.set(set + 40, table);
    const Address values = fake.memory.add(64);
    fake.memory.set(values, set);
    const Address made = object("WeakSet", 64);
    fake.memory.set(made - 32, values);
    return made;
  }
  Address code(const char* name, const char* file) {
    return fake.add_code(fake.add_ascii(name), fake.add_ascii(file), std::string("\xd0\x00\x00\xe0\x00\x00", 6), 5);
  }
  Address frame(const char* name, const char* file, Address previous) {
    return fake.add_frame(code(name, file), 0, previous);
  }
  Address coroutine(const char* name, Address awaited) {
    const Address made = object("coroutine", 256);
    const Address of = code(name, "train.py");
    fake.memory.set(made + 75, std::int8_t{-1});
    fake.memory.set(made + 80 + 32, of);
    fake.memory.set(made + 80 + 56, of + 184);
    fake.memory.set(made + 80 + 64, std::int32_t{1});
    fake.memory.set(made + 80 + 72, awaited);
    return made;
  }
  Address add_task(const std::string& name, Address coroutine) {
    const Address task = object("_asyncio.Task", 256);
    fake.memory.set(task + 16, loop);
    fake.memory.set(task + 128, Address{1});
    fake.memory.set(task + 136, coroutine);
    fake.memory.set(task + 144, fake.add_ascii(name));
    const Address reference = fake.memory.add(64);
    fake.memory.set(reference + 16, task);
    fake.memory.set(table + 16 * count++, reference);
    return task;
  }
  WaitingTasks read() {
    const PythonThreads threads = read_threads(fake.memory, fake.runtime(), codes, {{2, 2}}, {2});
    return threads.list.empty() ? WaitingTasks{} : threads.list.front().tasks;
  }

  FakeInterpreter fake{11};
  CodeObjects codes;
  std::map<std::string, Address> types;
  Address loop = 0;
  Address top = 0;
  Address table = 0;
  std::size_t count = 0;
};

Lines lines_of(const WaitingTask& task) {
  Lines lines;
  for (const PythonFrame& frame : task.frames) {
    lines.push_back(frame.code ? frame.code->function + ":" + std::to_string(frame.line) : "?");
  }
  return lines;
}

}  // namespace

TEST_CASE("tasks that wait in an idle event loop have a name and the coroutines that await each other") {
  Loop it;
  it.add_task("Task-2", it.coroutine("main", it.coroutine("step", 0)));
  it.add_task("Task-1", it.coroutine("save", 0));
  const WaitingTasks tasks = it.read();
  REQUIRE(tasks.list.size() == 2);
  CHECK(tasks.list[0].name == "Task-1");
  CHECK(lines_of(tasks.list[0]) == Lines{"save:5"});
  CHECK(tasks.list[1].name == "Task-2");
  CHECK(lines_of(tasks.list[1]) == Lines{"step:5", "main:5"});
}

TEST_CASE("tasks that are done, about to run, or of another loop do not wait") {
  Loop it;
  it.fake.memory.set(it.add_task("done", it.coroutine("f", 0)) + 88, std::int32_t{2});
  it.fake.memory.set(it.add_task("ready", it.coroutine("f", 0)) + 128, Address{0});
  it.fake.memory.set(it.add_task("other", it.coroutine("f", 0)) + 16, Address{42});
  CHECK(it.read().list.empty());
}

TEST_CASE("a thread that is not idle in an event loop costs no read of tasks") {
  Loop it;
  it.add_task("Task-1", it.coroutine("main", 0));
  it.read();  // its code objects are known from now on
  it.fake.memory.reads = 0;
  CHECK(it.read().list.size() == 1);
  const std::size_t with_tasks = it.fake.memory.reads;
  it.fake.memory.set(it.top + 32, it.code("compute", "train.py"));
  it.read();
  it.fake.memory.reads = 0;
  CHECK(it.read().list.empty());
  CHECK(it.fake.memory.reads + 20 < with_tasks);
}

TEST_CASE("64 tasks are read, and the others counted") {
  Loop it;
  for (int i = 0; i < 70; ++i) it.add_task("Task", it.coroutine("f", 0));
  CHECK(it.read().list.size() == 64);
  CHECK(it.read().more == 6);
}

TEST_CASE("coroutines that await each other in a circle come to an end") {
  Loop it;
  const Address coroutine = it.coroutine("f", 0);
  it.fake.memory.set(coroutine + 80 + 72, coroutine);
  it.add_task("Task-1", coroutine);
  REQUIRE(it.read().list.size() == 1);
  CHECK(it.read().list.front().frames.size() == 64);
}

TEST_CASE("torn memory of tasks is read within bounds") {
  Loop it;
  for (int i = 0; i < 5; ++i) it.add_task("Task", it.coroutine("outer", it.coroutine("inner", 0)));
  base::Rng rng(12);
  const auto whole = it.fake.memory.blocks();
  for (int round = 0; round < 400; ++round) {
    auto& blocks = it.fake.memory.blocks();
    blocks = whole;
    for (auto& [address, bytes] : blocks) {
      if (rng.below(8) != 0) continue;  // more would hardly ever lead to a task
      const Address values[] = {rng.below(4),
                                std::next(whole.begin(), static_cast<long>(rng.below(whole.size())))->first,
                                ~Address{0}, rng.below(UINT64_MAX)};
      const std::size_t at = rng.below(std::max<std::size_t>(1, bytes.size() / 8)) * 8;
      const Address value = values[rng.below(4)];
      if (at + 8 <= bytes.size()) std::memcpy(bytes.data() + at, &value, 8);
    }
    it.fake.memory.reads = 0;
    const WaitingTasks tasks = it.read();
    CHECK(it.fake.memory.reads < 1'000'000);
    CHECK(tasks.list.size() <= 64);
    for (const WaitingTask& task : tasks.list) CHECK(task.frames.size() <= 64);
  }
}

TEST_CASE("a probe lists the tasks that a real program's event loop waits for") {
  const auto found =
      std::find_if(pythons().begin(), pythons().end(), [](const Python& each) { return each.minor == 11; });
  skip_case_if(found == pythons().end(), "there is no Python 3.11");
  const PythonProgram program(*found,
                              "import asyncio\n"
                              "async def fetch(queue):\n"
                              "    return await queue.get()\n"
                              "async def worker(queue):\n"
                              "    await fetch(queue)\n"
                              "async def main():\n"
                              "    task = asyncio.create_task(worker(asyncio.Queue()), name='reader')\n"
                              "    print('ready')\n"
                              "    await task\n"
                              "asyncio.run(main())\n");
  CHECK(eventually(milliseconds(10'000), [&] {
    const ProbeReply reply = program.ask();
    std::map<std::string, Lines> tasks;
    for (const wire::ThreadStack& thread : reply.processes.at(0).threads) {
      if (wire::is_task(thread)) tasks[thread.task.name] = python_lines(reply, thread);
    }
    const Lines& reader = tasks["reader"];
    return tasks.size() == 2 && tasks["Task-1"] == Lines{"main script.py:9"} && reader.size() == 3 &&
           reader[0].starts_with("Queue.get queues.py:") && reader[1] == "fetch script.py:3" &&
           reader[2] == "worker script.py:5";
  }));
}
