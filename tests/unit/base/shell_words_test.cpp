#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/shell_words.hpp>

using namespace distrun;
using Words = std::vector<std::string>;

TEST_CASE("a command is split into words like in a shell, and nothing is expanded") {
  CHECK(base::shell_words("").empty());
  CHECK(base::shell_words(" \t\n").empty());
  CHECK(base::shell_words("valgrind -q") == Words{"valgrind", "-q"});
  CHECK(base::shell_words("  a   b\t\nc ") == Words{"a", "b", "c"});
  CHECK(base::shell_words("'a b' \"c d\"e") == Words{"a b", "c de"});
  CHECK(base::shell_words("'' \"\"") == Words{"", ""});
  CHECK(base::shell_words(R"(a\ b \'c "\"d\n" '\e')") == Words{"a b", "'c", "\"d\\n", "\\e"});
  CHECK(base::shell_words("$HOME `ls` *") == Words{"$HOME", "`ls`", "*"});
  CHECK(base::shell_words("a\\") == Words{"a\\"});
}

TEST_CASE("a command with an open quote is refused with its text") {
  for (const char* text : {"'a", "a \"b c", "a\"'"}) {
    CHECK_THROWS_WITH(base::shell_words(text), Catch::Contains("is not closed in " + std::string(text)));
  }
}

TEST_CASE("placeholders are replaced wherever they stand, and what replaces them is not read again") {
  std::string text = "{rank}-{rank}.{x}";
  base::replace_all(text, "{rank}", "1{rank}");
  CHECK(text == "1{rank}-1{rank}.{x}");
}
