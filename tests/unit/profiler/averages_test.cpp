// Events combined into averages, tables and traces.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/profiler/averages.hpp>
#include <distrun/runtime/profiler/chrome_trace.hpp>
#include <distrun/runtime/profiler/tree.hpp>

#include "support/scratch.hpp"

namespace distrun::profiler {
namespace {

Event event(const std::string& name, std::int64_t begin, std::int64_t end, std::int32_t thread = 1) {
  Event made;
  made.name = name;
  made.begin = base::TimePoint(base::Nanoseconds(begin));
  made.end = base::TimePoint(base::Nanoseconds(end));
  made.thread = thread;
  return made;
}

Events tree(Events events) {
  build_tree(events);
  return events;
}

using Places = std::vector<std::size_t>;

TEST_CASE("events are nested in events of their thread that last as long or longer") {
  const Events events = tree({event("a", 0, 100), event("b", 10, 40), event("elsewhere", 12, 20, 2), event("c", 10, 30),
                              event("d", 40, 100), event("e", 100, 120)});
  CHECK(events[0].children == Places{1, 4});
  CHECK(events[1].children == Places{3});
  CHECK(events[2].parent == Event::kNone);
  CHECK(events[3].parent == 1);
  CHECK(events[5].parent == Event::kNone);
  CHECK(events[0].self_time.count() == 10);
  CHECK(events[1].self_time.count() == 10);
}

TEST_CASE("asynchronous events, overlapping ones and those of other workers are not nested") {
  Events events{event("a", 0, 100), event("async", 10, 20), event("overlaps", 50, 150), event("remote", 60, 70)};
  events[1].is_async = true;
  events[3].is_remote = true;
  for (const Event& each : tree(events)) CHECK(each.parent == Event::kNone);
}

TEST_CASE("rebuilding a tree gives the same tree") {
  const Events once = tree({event("a", 0, 100), event("b", 10, 40)});
  const Events twice = tree(once);
  CHECK(twice[0].children == once[0].children);
  CHECK(twice[0].self_time == once[0].self_time);
}

TEST_CASE("events of one name are grouped, and those of other workers are separate") {
  Events events{event("all", 0, 100), event("add", 10, 20), event("add", 30, 50), event("add", 60, 61)};
  events[3].node = 2;
  const Averages averages = key_averages(tree(events));
  REQUIRE(averages.size() == 3);
  CHECK(averages[0].self_cpu_time.count() == 70);  // the third belongs to another node
  CHECK(averages[1].count == 2);
  CHECK(averages[1].cpu_time.count() == 30);
  CHECK(averages[1].cpu_time_average().count() == 15);
  CHECK(averages[2].node == 2);
}

TEST_CASE("events with different inputs are separate on request") {
  Events events{event("add", 0, 1), event("add", 2, 3), event("add", 4, 5)};
  events[0].input_shapes = {{1}, {1}};
  events[1].input_shapes = {{2, 3}, {}};
  events[2].input_shapes = {{1}, {1}};
  CHECK(key_averages(events).size() == 1);
  const Averages apart = key_averages(events, {.input_shapes = true});
  REQUIRE(apart.size() == 2);
  CHECK(apart[0].count == 2);
}

TEST_CASE("the table is that of PyTorch, the largest first, with the available columns") {
  Events events{event("all", 0, 4'000'000), event("add", 1'000'000, 4'000'000)};
  CHECK(table(key_averages(tree(events))) ==
        "----  ----------  --------  -----------  ---------  ------------  ----------\n"
        "Name  Self CPU %  Self CPU  CPU total %  CPU total  CPU time avg  # of Calls\n"
        "----  ----------  --------  -----------  ---------  ------------  ----------\n"
        " add      75.00%   3.000ms       75.00%    3.000ms       3.000ms           1\n"
        " all      25.00%   1.000ms      100.00%    4.000ms       4.000ms           1\n"
        "----  ----------  --------  -----------  ---------  ------------  ----------\n"
        "Self CPU time total: 4.000ms\n");
  events[1].device_time = base::Nanoseconds(1'500);
  events[1].cpu_memory = 2048;
  events[1].device_memory = -3 * (1 << 20);
  events[1].node = 1;
  events[1].input_shapes = {{2, 3}, {}};
  const std::string full = table(key_averages(tree(events), {.input_shapes = true}));
  for (const char* const part : {"Self CUDA", "CUDA total", "1.500us", "2.00 Kb", "-3.00 Mb", "Node ID", "Input Shapes",
                                 "[[2, 3], []]", "Self CUDA time total: 1.500us"}) {
    CHECK_THAT(full, Catch::Contains(part));
  }
}

TEST_CASE("a table has the requested order and length") {
  const Averages averages = key_averages({event("b", 0, 1), event("a", 2, 8), event("b", 9, 10)});
  const auto first_of = [&](SortBy sort) {
    const std::string text = table(averages, sort, 1);
    return std::pair(text.find("\na  ") != std::string::npos || text.find("   a  ") != std::string::npos, text);
  };
  CHECK(first_of(SortBy::CpuTime).first);
  CHECK(first_of(SortBy::Name).first);
  CHECK_FALSE(first_of(SortBy::Count).first);
  CHECK(table({}).find("Self CPU time total: 0.000us") != std::string::npos);
}

TEST_CASE("a trace has a line for each event, with any name") {
  Events events{event("say \"a\\b\"\n\x01", 1'500, 4'507)};
  events[0].node = 3;
  events[0].kernels = {{"add", 1, base::Nanoseconds(2'000)}};
  events[0].notes = {{"Group \"size\"", "4"}};
  events[0].input_shapes = {{2, 3}, {}};
  CHECK(chrome_trace(events) ==
        "[\n"
        R"({"name": "say \"a\\b\"\u000a\u0001", "ph": "X", "ts": 1.500, "dur": 3.007, "tid": 1, )"
        R"("pid": "CPU functions", "args": {"node": 3, "input shapes": [[2, 3], []], "Group \"size\"": "4"}},)"
        "\n"
        R"({"name": "add", "ph": "X", "ts": 1.500, "dur": 2.000, "tid": 1, "pid": "CUDA functions", "args": {}})"
        "\n]\n");
  CHECK(chrome_trace({}, TraceForm::Object) == "{\"traceEvents\": [\n]}\n");
}

TEST_CASE("a trace that cannot be written is an error that names the file") {
  const testing::Scratch dir;
  write_chrome_trace(dir.path() + "/trace.json", {event("a", 1, 2)});
  CHECK(testing::read_file(dir.path() + "/trace.json") == chrome_trace({event("a", 1, 2)}));
  CHECK_THROWS_WITH(write_chrome_trace(dir.path() + "/none/trace.json", {}),
                    Catch::Contains("none/trace.json") && Catch::Contains("No such file"));
}

}  // namespace
}  // namespace distrun::profiler
