#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>

#include "options/toml.hpp"

using namespace distrun;
using namespace distrun::cli;

namespace {

using Texts = std::vector<std::string>;

std::string refusal(std::string_view text) {
  try {
    read_toml(text);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::InvalidArgument);
    return error.what();
  }
  return "none";
}

TomlEntry only(std::string_view text) {
  const std::vector<TomlEntry> entries = read_toml(text);
  REQUIRE(entries.size() == 1);
  return entries.front();
}

}  // namespace

TEST_CASE("keys come with their values and lines, in the order of the file") {
  const std::vector<TomlEntry> entries = read_toml(
      "# settings\n"
      "\n"
      "world-size = 2   # ranks\r\n"
      "\tfail_fast=true\n"
      "filter = ['Ring.*', \"-Slow.*\"]");
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].key == "world-size");
  CHECK(entries[0].line == 3);
  CHECK(entries[0].kind == TomlKind::Number);
  CHECK(entries[0].values == Texts{"2"});
  CHECK(entries[1].key == "fail_fast");
  CHECK(entries[1].kind == TomlKind::Boolean);
  CHECK(entries[2].line == 5);
  CHECK(entries[2].kind == TomlKind::List);
  CHECK(entries[2].values == Texts{"Ring.*", "-Slow.*"});
}

TEST_CASE("a file without a key has no entries") {
  for (const char* text : {"", "\n", "  \t\n# only a comment", "\r\n"}) CHECK(read_toml(text).empty());
}

TEST_CASE("texts in double quotes have escapes, those in single ones have none") {
  CHECK(only(R"(a = "tab\t quote\" back\\ \u00e9 \U0001F600")").values.front() ==
        "tab\t quote\" back\\ \u00e9 \U0001F600");
  CHECK(only(R"(a = 'C:\temp\n "x"')").values.front() == R"(C:\temp\n "x")");
  CHECK(only("a = \"\"").values.front().empty());
  CHECK(only("a = \"# no comment\" # one").values.front() == "# no comment");
}

TEST_CASE("numbers are kept as they are written") {
  const std::pair<const char*, const char*> numbers[] = {{"0", "0"},       {"+7", "7"},     {"-3", "-3"},
                                                         {"1_000", "1000"}, {"0.5", "0.5"}, {"1e3", "1e3"},
                                                         {"6.5e-1", "6.5e-1"}};
  for (const auto& [written, kept] : numbers) {
    CHECK(only(std::string("a = ") + written).values.front() == kept);
    CHECK(only(std::string("a = ") + written).kind == TomlKind::Number);
  }
}

TEST_CASE("what is no number of TOML's is no value") {
  for (const char* word : {"07", "1__0", "_1", "1_", "1.", ".5", "0x10", "1e", "inf", "nan", "4x", "-", "1-2", "yes",
                           "2026-01-31"}) {
    CHECK_THAT(refusal(std::string("a = ") + word), Catch::StartsWith("1: '" + std::string(word) + "' is no value"));
  }
}

TEST_CASE("a list may go over lines, with comments and a last comma") {
  CHECK(only("a = [ # begins\n  'x', 1 , # one\n\n  true,\n]\n").values == Texts{"x", "1", "true"});
  CHECK(only("a = []").values.empty());
}

TEST_CASE("what is left out of TOML is refused by name") {
  CHECK(refusal("\n[run]") == "2: sections are not used here: a key stands by itself, as in world-size = 2");
  CHECK(refusal("a = [[1]]") == "1: a list within a list is not used here");
  CHECK(refusal("a = \"\"\"x\"\"\"") == "1: a text over several lines is not used here");
  CHECK(refusal("a = {}").starts_with("1: '{}' is no value"));
}

TEST_CASE("nonsense is refused with the line where it stands") {
  CHECK(refusal("a = 1\na = 2") == "2: a stands in line 1 already");
  CHECK(refusal("a") == "1: after a a = is wanted, and a value");
  CHECK(refusal("a = 1 b = 2") == "1: after the value of a the line must end");
  CHECK(refusal("= 1") == "1: a key of letters, digits, - and _ is wanted");
  CHECK(refusal("\"a\" = 1") == "1: a key of letters, digits, - and _ is wanted");
  CHECK(refusal("a =\n1").starts_with("1: nothing is no value"));
  CHECK(refusal("a = \"open\nb = 1") == "1: the text has no \" at its end");
  CHECK(refusal("a = 'open") == "1: the text has no ' at its end");
  CHECK(refusal("a = [1,\n2") == "2: the list of a has no ] at its end");
  CHECK(refusal("a = [1 2]") == "1: between the values of a list a comma is wanted");
  CHECK(refusal("a = [,]").starts_with("1: nothing is no value"));
  CHECK(refusal("a = \"\\x\"").starts_with("1: after a \\ one of"));
  CHECK(refusal("a = \"\\u12\"").starts_with("1: after \\u four hexadecimal digits"));
  CHECK(refusal("a = \"\\ud800\"") == "1: \\u names no character that a text may hold");
  CHECK(refusal("a = \"\\u0000\"") == "1: \\u names no character that a text may hold");
  CHECK(refusal("a = \"\x01\"") == "1: the text has no \" at its end");
  CHECK(refusal("# bell \x07") == "1: a comment holds a control character");
  CHECK(refusal("\xff\xfe") == "1: this is no text in UTF-8");
  CHECK(refusal(std::string_view("a\0", 2)) == "1: this is no text in UTF-8");
}

TEST_CASE("a file over the limit is refused, and one at the limit is read") {
  std::string text = "a = 1\n#";
  text.resize(kTomlBytesMax, 'x');
  CHECK(read_toml(text).size() == 1);
  CHECK_THAT(refusal(text + 'x'), Catch::Contains("65537") && Catch::Contains("65536"));
}

TEST_CASE("a text that was written is read as it was") {
  for (const std::string text :
       {"", "plain", "two words", "a\"b\\c", "tab\tline\nbell\x07 del\x7f", "\u00e9\U0001F600"}) {
    CHECK(only("a = " + toml_text(text)).values.front() == text);
  }
}
