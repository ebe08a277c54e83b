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
    {{"Rin"}, "Ring.pass", true},   // a part of the id
    {{"ring"}, "Ring.pass", true},  // in upper or lower case
    {{"RING"}, "Ring.pass", false},
    {{"n=1"}, "Ring.pass/n=10", true},
    {{"Ring.pas"}, "Ring.pass", false},  // with a dot it is a whole name
    {{"\\.pas"}, "Ring.pass", true},
    {{"*"}, "Ring.pass", true},
    {{"Ring.*"}, "Ring.pass/n=1", true},
    {{"Ring.pass"}, "Ring.pass/n=1", true},  // without its parameters
    {{"Ring.pass/n=1"}, "Ring.pass/n=1", true},
    {{"Ring.pass/n=1"}, "Ring.pass/n=10", false},
    {{"Ring.pass/n=?"}, "Ring.pass/n=1", true},
    {{"*n=1*"}, "Ring.pass/m=2,n=1", true},
    {{"pass"}, "Ring.pass", true},
    {{"*pas"}, "Ring.pass", false},
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
    {{"Ring.pass/op=a\\|b"}, "Ring.pass/op=a|b", true},
};

// Asked about the test Ring.pass/n=1 of plugin build/ring.so, with the tags slow and gpu, and world size 4.
struct ExpressionRow {
  const char* text;
  bool selected;
};
const ExpressionRow kExpressions[] = {
    {"test:Ring.pass", true},
    {"test:Ring", false},  // the suite alone is not a test
    {"suite:Ring", true},
    {"suite:Rin", false},
    {"suite:R*", true},
    {"tag:slow", true},
    {"tag:slo", false},
    {"tag:s*", true},
    {"!tag:slow", false},
    {"!tag:fast", true},
    {"plugin:ring", true},
    {"plugin:ring.so", true},
    {"plugin:build/ring.so", true},
    {"plugin:rin", false},
    {"np:4", true},
    {"np:2-8", true},
    {"np:5-8", false},
    {"tag:slow & tag:gpu", true},
    {"tag:slow&!tag:gpu", false},
    {"tag:fast | np:4", true},
    {"tag:fast | np:5", false},
    {"tag:slow & np:5 | suite:Ring", true},  // & binds more closely
    {"tag:slow & (np:5 | suite:Ring)", true},
    {"(tag:fast | np:4) & suite:Star", false},
    {"!(tag:fast | np:5)", true},
    {"!!pass", true},
    {"star tag:slow", true},    // one of them
    {"ring -tag:slow", false},  // an expression that excludes
    {"ring -(tag:fast | tag:other)", true},
    {"-tag:fast", true},
    {"  ( ring )  ", true},
    {"dev=cuda:0", false},  // a colon in a parameter is no field
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
    const std::string suite = id.substr(0, id.find('.'));
    CHECK(filter.selects({suite, id}) == row.selected);
  }
  CHECK(Filter().selects({"Ring", "Ring.pass"}));
}

TEST_CASE("an expression asks for tests, suites, tags, plugins and world sizes") {
  const std::vector<std::string> tags{"slow", "gpu"};
  const runner::FilterSubject subject{"Ring", "Ring.pass/n=1", "build/ring.so", &tags, 4};
  for (const ExpressionRow& row : kExpressions) {
    INFO(row.text);
    CHECK(Filter({row.text}).selects(subject) == row.selected);
  }
}

TEST_CASE("tags and world sizes are known only of tests in a plugin's table") {
  CHECK(Filter({"tag:slow"}).needs_table());
  CHECK(Filter({"ring", "-(a | !np:2)"}).needs_table());
  CHECK_FALSE(Filter({"ring & suite:Ring | plugin:x"}).needs_table());
  CHECK_FALSE(Filter().needs_table());
}

TEST_CASE("an invalid expression is refused with what is wrong") {
  CHECK(refusal({"tag:slow &"}) == "--filter 'tag:slow &': a pattern is missing at the end");
  CHECK(refusal({"| a"}) == "--filter '| a': a pattern is missing before '|'");
  CHECK(refusal({"(a"}) == "--filter '(a': a ')' is missing");
  CHECK(refusal({"a)"}) == "--filter 'a)': a '(' is missing before the ')'");
  CHECK(refusal({"tag:"}) == "--filter 'tag:': a pattern is missing after 'tag:'");
  CHECK(refusal({"tga:slow"}) ==
        "--filter 'tga:slow': unknown field 'tga': expected test, suite, tag, plugin or np; "
        "write '\\:' for a colon in a name");
  CHECK(refusal({"np:x"}) == "--filter 'np:x': np:x is not a world size such as np:4, or a range such as np:2-8");
  CHECK_THAT(refusal({"np:0"}), Catch::Contains("is not a world size"));
  CHECK_THAT(refusal({"np:4-2"}), Catch::Contains("is not a world size"));
  CHECK_THAT(refusal({"np:99999999999"}), Catch::Contains("is not a world size"));
  CHECK_THAT(refusal({std::string(10000, '(') + "a"}), Catch::Contains("more than 100 nested operators"));
  CHECK_THAT(refusal({std::string(10000, '!') + "a"}), Catch::Contains("more than 100 nested operators"));
}

TEST_CASE("an invalid pattern is refused with its text") {
  CHECK(refusal({"Ring", "-"}) == "--filter '-': a '-' needs a pattern to exclude after it, as in -Slow.*");
  CHECK_THAT(refusal({"A B\\"}), Catch::StartsWith("--filter 'B\\': a '\\' at the end escapes nothing"));
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
  CHECK(hint("suite:Rnig") == "; did you mean Ring.*?");
  CHECK(hint("np:4 & Ring.stpo") == "; did you mean Ring.stop?");
  CHECK(hint("!Ring.stpo") == "");
  CHECK(hint("*") == "");
  CHECK(Filter({"-Ring.*"}).hint(ids) == "");
  CHECK(Filter().hint(ids) == "");
}
