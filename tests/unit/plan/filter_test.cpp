#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/plan/filter.hpp>

using namespace distrun;
using runner::Filter;

namespace {

struct Row {
  std::vector<std::string> texts;
  const char* id;
  bool selected;
};

const Row kRows[] = {
    {{}, "Ring.pass", true},
    {{""}, "Ring.pass", true},
    {{"   "}, "Ring.pass", true},
    {{"Ring.pass"}, "Ring.pass", true},
    {{"Ring.pass"}, "Ring.passes", false},
    {{"Ring"}, "Ring.pass", true},  // by the suite only
    {{"Rin"}, "Ring.pass", false},
    {{"*"}, "Ring.pass", true},
    {{"Ring.*"}, "Ring.pass/n=1", true},
    {{"Ring.pass"}, "Ring.pass/n=1", true},  // without its parameters
    {{"Ring.pass/n=1"}, "Ring.pass/n=1", true},
    {{"Ring.pass/n=1"}, "Ring.pass/n=10", false},
    {{"Ring.pass/n=?"}, "Ring.pass/n=1", true},
    {{"*n=1*"}, "Ring.pass/m=2,n=1", true},
    {{"pass"}, "Ring.pass", false},
    {{"*.pass"}, "Ring.pass", true},
    {{"A", "Ring"}, "Ring.pass", true},
    {{"A Ring"}, "Ring.pass", true},
    {{"A", "B"}, "Ring.pass", false},
    {{"-Ring"}, "Ring.pass", false},
    {{"-Ring"}, "Other.pass", true},
    {{"-Ring.pass"}, "Ring.pass/n=1", false},
    {{"-Ring.pass/n=2"}, "Ring.pass/n=1", true},
    {{"Ring", "-Ring.pass"}, "Ring.fail", true},
    {{"Ring", "-Ring.pass"}, "Ring.pass", false},
    {{"-Ring.pass Ring"}, "Ring.pass", false},  // in any order
    {{"-A", "-B"}, "C.x", true},
    {{"-A", "-B"}, "B.x", false},
    {{"\\-Ring.pass"}, "-Ring.pass", true},  // a suite that begins with a dash
    {{"Ring.pass\\*"}, "Ring.pass*", true},
    {{"Ring.pass\\*"}, "Ring.passes", false},
};

std::string refusal(const std::vector<std::string>& texts) {
  try {
    const Filter filter(texts);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::InvalidArgument);
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a filter selects the tests that its patterns match") {
  for (const Row& row : kRows) {
    const std::string id = row.id;
    const Filter filter(row.texts);
    INFO("row " << &row - kRows << ": " << id);
    CHECK(filter.selects(id.substr(0, id.find('.')), id) == row.selected);
  }
  CHECK(Filter().selects("Ring", "Ring.pass"));
}

TEST_CASE("an invalid pattern is refused with its text") {
  CHECK(refusal({"Ring", "-"}) == "--filter '-': a '-' needs a pattern to exclude after it, as in -Slow.*");
  CHECK_THAT(refusal({"A B\\ C"}), Catch::StartsWith("--filter 'B\\': a '\\' at the end escapes nothing"));
  CHECK_THAT(refusal({"A\\\\\\"}), Catch::StartsWith("--filter"));
  CHECK(refusal({"A\\\\"}) == "none");
  CHECK(refusal({"--"}) == "none");  // excludes the name "-"
}

TEST_CASE("a refusal shows no control characters") {
  CHECK(refusal({"a\x1b[31m\\"}).find('\x1b') == std::string::npos);
}

TEST_CASE("a filter that selects nothing is answered with similar names") {
  const std::vector<std::string> ids{"Ring.pass/n=1", "Ring.pass/n=2", "Ring.stop", "Star.pass", "Star.begin"};
  const auto hint = [&](const std::string& pattern) { return Filter({pattern}).hint(ids); };
  CHECK(hint("Ring.stpo") == "; did you mean Ring.stop?");
  CHECK(hint("*.stopp*") == "; did you mean Ring.stop?");
  CHECK(hint("Rng.*") == "; did you mean Ring.*?");
  CHECK(hint("pass") == "; did you mean Ring.pass or Star.pass?");
  CHECK(hint("begn") == "; did you mean Star.begin?");
  CHECK(hint("Other.thing") == "");
  CHECK(hint("*") == "");
  CHECK(Filter({"-Ring.*"}).hint(ids) == "");
  CHECK(Filter().hint(ids) == "");
}
