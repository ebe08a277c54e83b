#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include <distrun/runner/plan/selection.hpp>

using namespace distrun;
using namespace distrun::runner;

namespace {

using Names = std::vector<std::string>;

wire::TestInfo info_of(const std::string& name) {
  wire::TestInfo info;
  info.suite = "Ring";
  info.name = name;
  return info;
}

wire::PluginTable table_of(const Names& names) {
  wire::PluginTable table;
  for (const std::string& name : names) table.tests.push_back(info_of(name));
  return table;
}

std::vector<PlannedTest> tests_of(const std::string& plugin, int count) {
  std::vector<PlannedTest> tests;
  for (int i = 0; i < count; ++i) {
    PlannedTest& test = tests.emplace_back();
    test.info = info_of("t" + std::to_string(i));
    test.id = test.info.id();
    test.plugin = plugin;
  }
  return tests;
}

Names ids_of(const std::vector<PlannedTest>& tests) {
  Names ids;
  for (const PlannedTest& test : tests) ids.push_back(test.id);
  return ids;
}

Names ids_of(const wire::PluginTable& table) {
  Names ids;
  for (const wire::TestInfo& test : table.tests) ids.push_back(test.id());
  return ids;
}

Settings rerun_of(std::vector<TestName> tests, Names plugins) {
  Settings settings;
  settings.rerun_failed = "summary.json";
  settings.rerun = std::move(tests);
  settings.plugins = std::move(plugins);
  return settings;
}

}  // namespace

TEST_CASE("every test is in exactly one shard, and shard sizes differ by one test at most") {
  for (const int tests : {0, 1, 2, 7, 12, 100}) {
    for (const int count : {1, 2, 3, 5, 13}) {
      INFO(tests << " tests in " << count << " shards");
      std::multiset<std::string> dealt;
      std::size_t least = SIZE_MAX;
      std::size_t most = 0;
      for (int index = 1; index <= count; ++index) {
        const Names mine = ids_of(shard_of(tests_of("ring.so", tests), {index, count}));
        dealt.insert(mine.begin(), mine.end());
        least = std::min(least, mine.size());
        most = std::max(most, mine.size());
      }
      const Names all = ids_of(tests_of("ring.so", tests));
      CHECK(dealt == std::multiset<std::string>(all.begin(), all.end()));
      CHECK(most - least <= 1);
    }
  }
}

TEST_CASE("a shard keeps the declared order") {
  CHECK(ids_of(shard_of(tests_of("ring.so", 7), {2, 3})) == Names{"Ring.t1", "Ring.t4"});
}

TEST_CASE("shuffling loses no test, and the same seed gives the same order") {
  const std::vector<PlannedTest> declared = tests_of("ring.so", 50);
  std::vector<PlannedTest> once = declared;
  std::vector<PlannedTest> again = declared;
  std::vector<PlannedTest> other = declared;
  shuffle(once, 17);
  shuffle(again, 17);
  shuffle(other, 18);
  CHECK(ids_of(once) == ids_of(again));
  CHECK(ids_of(once) != ids_of(declared));
  CHECK(ids_of(once) != ids_of(other));
  Names sorted = ids_of(once);
  Names all = ids_of(declared);
  std::sort(sorted.begin(), sorted.end());
  std::sort(all.begin(), all.end());
  CHECK(sorted == all);
}

TEST_CASE("fewer tests are shuffled in the same order as among more") {
  std::vector<PlannedTest> all = tests_of("ring.so", 30);
  std::vector<PlannedTest> some = shard_of(all, {1, 3});
  const Names chosen = ids_of(some);
  shuffle(all, 5);
  shuffle(some, 5);
  Names expected = ids_of(all);
  std::erase_if(expected,
                [&](const std::string& id) { return std::find(chosen.begin(), chosen.end(), id) == chosen.end(); });
  CHECK(ids_of(some) == expected);
}

TEST_CASE("the tests of a plugin stay together when they are shuffled") {
  std::vector<PlannedTest> tests = tests_of("a.so", 10);
  for (const char* plugin : {"b.so", "c.so"}) {
    for (PlannedTest& test : tests_of(plugin, 10)) tests.push_back(std::move(test));
  }
  shuffle(tests, 3);
  int changes = 0;
  for (std::size_t i = 1; i < tests.size(); ++i) changes += tests[i].plugin != tests[i - 1].plugin ? 1 : 0;
  CHECK(changes == 2);
}

TEST_CASE("a run that reruns nothing keeps every test") {
  Rerun rerun{Settings{}};
  wire::PluginTable table = table_of({"a", "b"});
  rerun.keep_wanted("ring.so", table);
  CHECK(table.tests.size() == 2);
  CHECK(rerun.gone().empty());
}

TEST_CASE("the named tests of an earlier run are selected, and missing ones are reported") {
  Rerun rerun(rerun_of({{"ring.so", "Ring.b"}, {"ring.so", "Ring.gone"}}, {"ring.so"}));
  wire::PluginTable table = table_of({"a", "b", "c"});
  rerun.keep_wanted("ring.so", table);
  CHECK(ids_of(table) == Names{"Ring.b"});
  CHECK(rerun.gone() == Names{"Ring.gone"});
}

TEST_CASE("tests with the same id are distinguished by their plugin's path, if it is the same") {
  Rerun rerun(rerun_of({{"a/ring.so", "Ring.a"}}, {"a/ring.so", "b/ring.so"}));
  wire::PluginTable first = table_of({"a"});
  wire::PluginTable second = table_of({"a"});
  rerun.keep_wanted("a/ring.so", first);
  rerun.keep_wanted("b/ring.so", second);
  CHECK(first.tests.size() == 1);
  CHECK(second.tests.empty());
}

TEST_CASE("a plugin that has moved is identified by its file name") {
  Rerun rerun(rerun_of({{"/ci/build/ring.so", "Ring.a"}, {"/ci/build/tree.so", "Tree.a"}}, {"build/ring.so"}));
  wire::PluginTable table = table_of({"a", "b"});
  rerun.keep_wanted("build/ring.so", table);
  CHECK(ids_of(table) == Names{"Ring.a"});
  CHECK(rerun.gone() == Names{"Tree.a"});
}

TEST_CASE("tests of a plugin that could not be listed are not reported as missing") {
  Rerun rerun(rerun_of({{"ring.so", "Ring.a"}}, {"ring.so"}));
  CHECK(rerun.gone().empty());
}

TEST_CASE("the tests of a suite stay together when they are shuffled, if its ranks are persistent") {
  std::vector<PlannedTest> tests;
  for (int i = 0; i < 30; ++i) {
    PlannedTest& test = tests.emplace_back(tests_of("ring.so", i + 1).back());
    test.info.suite = i % 2 == 0 ? "Even" : "Odd";
    test.id = test.info.id();
    test.variant.isolation = Isolation::Pool;
  }
  shuffle(tests, 3);
  int changes = 0;
  for (std::size_t i = 1; i < tests.size(); ++i) changes += tests[i].info.suite != tests[i - 1].info.suite ? 1 : 0;
  CHECK(changes == 1);
}
