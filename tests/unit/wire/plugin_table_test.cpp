#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>

#include "messages.hpp"

using namespace distrun;
using namespace distrun::wire;

namespace {

TestInfo good() {
  TestInfo info = samples::test_info();
  info.skip.clear();
  return info;
}

std::string refusal(const std::vector<TestInfo>& tests) {
  try {
    read_plugin_table(view_of(encode(PluginTable{tests})));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::InvalidArgument);
    return error.what();
  }
  return "none";
}

struct Row {
  const char* what;
  void (*spoil)(TestInfo&);
  const char* text;
};

const Row kRows[] = {
    {"an empty suite", [](TestInfo& t) { t.suite = ""; }, "its suite is empty"},
    {"an empty name", [](TestInfo& t) { t.name = ""; }, "its name is empty"},
    {"an empty key", [](TestInfo& t) { t.parameters[1].key = ""; }, "its parameter's key is empty"},
    {"a long name", [](TestInfo& t) { t.name = std::string(1025, 'n'); }, "its name has 1025 bytes, the limit is 1024"},
    {"a long value", [](TestInfo& t) { t.parameters[0].value = std::string(1025, 'v'); }, "value has 1025 bytes"},
    {"a long description", [](TestInfo& t) { t.description = std::string(8193, 'd'); },
     "its description has 8193 bytes, the limit is 8192"},
    {"a space in a value", [](TestInfo& t) { t.parameters[0].value = "a b"; }, "value contains a space"},
    {"a space in the suite", [](TestInfo& t) { t.suite = "Ri ng"; },
     "its suite contains a space or a control character"},
    {"a newline in the name", [](TestInfo& t) { t.name = "pa\nss"; },
     "its name contains a space or a control character"},
    {"DEL in a key", [](TestInfo& t) { t.parameters[0].key = "\x7f"; }, "key contains a space or a control character"},
    {"a slash in the name", [](TestInfo& t) { t.name = "a/b"; }, "its name has a '/'"},
    {"a dot in the suite", [](TestInfo& t) { t.suite = "a.b"; }, "its suite has a '.' or '/'"},
    {"a slash in the suite", [](TestInfo& t) { t.suite = "a/b"; }, "its suite has a '.' or '/'"},
    {"a negative world", [](TestInfo& t) { t.world_size = -1; }, "world size -1 is out of range 0..1024"},
    {"a large world", [](TestInfo& t) { t.world_size = 1025; }, "world size 1025 is out of range 0..1024"},
    {"no world and no reason", [](TestInfo& t) { t.world_size = 0; }, "no world size and no skip reason"},
    {"an unknown rule", [](TestInfo& t) { t.world_rule = WorldRule(4); }, "its world rule is unknown"},
    {"a negative timeout", [](TestInfo& t) { t.timeout_ms = -1; }, "its timeout is negative"},
    {"two skips",
     [](TestInfo& t) {
       t.skip = {{86, "a"}, {86, "b"}};
     },
     "it has more than one skip reason"},
    {"an unknown isolation", [](TestInfo& t) { t.isolation = "vm"; }, "unknown isolation 'vm'"},
    {"a space in a tag", [](TestInfo& t) { t.tags = {"very slow"}; }, "it has the invalid tag 'very slow'"},
    {"an empty lock", [](TestInfo& t) { t.locks = {""}; }, "it has the invalid lock ''"},
    {"a long lock", [](TestInfo& t) { t.locks = {std::string(201, 'l')}; }, "it has the invalid lock"},
    {"many tags", [](TestInfo& t) { t.tags.assign(65, "t"); }, "it has 65 tags, the limit is 64"},
    {"an unknown death", [](TestInfo& t) { t.may_die[0].how = DeathKind(3); }, "may_die"},
};

}  // namespace

TEST_CASE("a valid table is read as it was written") {
  TestInfo skipped = samples::test_info();
  skipped.name = "skipped";
  skipped.world_size = 0;
  const PluginTable table = read_plugin_table(view_of(encode(PluginTable{{good(), skipped}})));
  REQUIRE(table.tests.size() == 2);
  CHECK(encode(table.tests[0]) == encode(good()));
  CHECK(encode(table.tests[1]) == encode(skipped));
  CHECK(read_plugin_table(view_of(encode(PluginTable{}))).tests.empty());
}

TEST_CASE("each refusal of a table names the test and the field") {
  for (const Row& row : kRows) {
    TestInfo test = good();
    row.spoil(test);
    INFO(row.what);
    const std::string text = refusal({test});
    CHECK_THAT(text, Catch::StartsWith("test '"));
    CHECK_THAT(text, Catch::Contains(row.text));
    CHECK(text.find('\n') == std::string::npos);
    CHECK(text.size() < 500);
  }
}

TEST_CASE("an invalid test is found among valid ones") {
  TestInfo other = good();
  other.name = "other";
  for (const Row& row : kRows) {
    TestInfo test = good();
    row.spoil(test);
    INFO(row.what);
    CHECK_THAT(refusal({other, test}), Catch::Contains(row.text));
  }
}

TEST_CASE("two tests with one id are refused, whichever fields make up the id") {
  CHECK_THAT(refusal({good(), good()}), Catch::Contains("lists this id twice"));
  TestInfo first = good();
  TestInfo second = good();
  first.parameters = {{"a", "1,b=2"}};
  second.parameters = {{"a", "1"}, {"b", "2"}};
  CHECK_THAT(refusal({first, second}), Catch::Contains("lists this id twice"));
}

TEST_CASE("sizes at their limits are accepted") {
  TestInfo test = good();
  test.suite = std::string(kNameSizeMax, 's');
  test.name = std::string(kNameSizeMax, 'n');
  test.world_size = kWorldSizeMax;
  test.parameters = {{std::string(kNameSizeMax, 'k'), std::string(kNameSizeMax, 'v')}, {"empty", ""}};
  test.timeout_ms = INT64_MAX;
  CHECK(refusal({test}) == "none");
}

TEST_CASE("a table that is truncated at any byte is refused") {
  const Bytes bytes = encode(PluginTable{{good()}});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_THROWS_AS(read_plugin_table(view_of(cut)), Error);
  }
}

TEST_CASE("a test's id is its suite, its name and its parameters in their order") {
  TestInfo info;
  info.suite = "Ring";
  info.name = "pass";
  CHECK(info.id() == "Ring.pass");
  info.parameters = {{"n", "1"}, {"backend", "shm"}};
  CHECK(info.id() == "Ring.pass/n=1,backend=shm");
}

TEST_CASE("world rules have the names that plugins write") {
  CHECK(std::string(name_of(WorldRule::Any)) == "any");
  CHECK(std::string(name_of(WorldRule::Fixed)) == "fixed");
  CHECK(std::string(name_of(WorldRule::AnyOf)) == "any_of");
  CHECK(std::string(name_of(WorldRule::Gpus)) == "gpus");
}
