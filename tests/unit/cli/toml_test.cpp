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

TEST_CASE("keys have their values and lines, in the order of the file") {
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

TEST_CASE("numbers are kept as decimal text") {
  const std::pair<const char*, const char*> numbers[] = {{"0", "0"},         {"+7", "7"},    {"-3", "-3"},
                                                         {"1_000", "1000"},  {"0.5", "0.5"}, {"1e3", "1000"},
                                                         {"6.5e-1", "0.65"}, {"0x10", "16"}};
  for (const auto& [written, kept] : numbers) {
    CHECK(only(std::string("a = ") + written).values.front() == kept);
    CHECK(only(std::string("a = ") + written).kind == TomlKind::Number);
  }
}

TEST_CASE("invalid numbers and other kinds of values are refused") {
  for (const char* word :
       {"07", "1__0", "_1", "1_", "1.", ".5", "1e", "inf", "nan", "4x", "-", "1-2", "yes", "2026-01-31"}) {
    CHECK_THAT(refusal(std::string("a = ") + word), Catch::StartsWith("1: "));
  }
}

TEST_CASE("a list may go over lines, with comments and a last comma") {
  CHECK(only("a = [ # begins\n  'x', 1 , # one\n\n  true,\n]\n").values == Texts{"x", "1", "true"});
  CHECK(only("a = []").values.empty());
}

TEST_CASE("unsupported parts of TOML are refused by name") {
  const std::string sections = "tables are not supported here: write keys without a section, as in world-size = 2";
  CHECK(refusal("\n[run]") == "2: " + sections);
  CHECK(refusal("a = {}") == "1: " + sections);
  CHECK(refusal("a.b = 1") == "1: " + sections);
  CHECK(refusal("a = [[1]]") == "1: nested lists are not supported here");
  CHECK(refusal("a = 2026-01-31") == "1: expected a string, a number, true or false");
  CHECK(refusal("a = [1, inf]") == "1: expected a string, a number, true or false");
}

TEST_CASE("invalid text is refused with its line, and what is wrong there") {
  CHECK(refusal("a = 1\na = 2") == "2: key-value pair: cannot redefine existing integer 'a'");
  CHECK(refusal("a").starts_with("1: "));
  CHECK(refusal("a = 1 b = 2") == "1: key-value pair: expected a comment or whitespace, saw 'b'");
  CHECK(refusal("= 1").starts_with("1: "));
  CHECK(refusal("\n\na =\n1").starts_with("3: key-value pair: expected value"));
  CHECK(refusal("a = \"open\nb = 1").starts_with("1: string: "));
  CHECK(refusal("a = 'open") == "1: literal string: encountered end-of-file");
  CHECK(refusal("a = [1,\n2") == "2: array: encountered end-of-file");
  CHECK(refusal("a = [1 2]") == "1: array: expected comma or closing ']', saw '2'");
  CHECK(refusal("a = \"\\x\"").starts_with("1: string: escape sequence '\\x'"));
  CHECK(refusal("a = \"\\u12\"").starts_with("1: "));
  CHECK(refusal("a = \"\\ud800\"").starts_with("1: "));
  CHECK(refusal("a = \"\\u0000\"") == "1: a string contains the character 0");
  CHECK(refusal("a = \"\x01\"").starts_with("1: string: "));
  CHECK(refusal("# bell \x07").starts_with("1: comment: "));
  CHECK(refusal("\xff\xfe") == "1: the file is not valid UTF-8");
  CHECK(refusal(std::string_view("a\0", 2)) == "1: the file is not valid UTF-8");
}

TEST_CASE("lists of lists of lists are refused at any depth") {
  CHECK(refusal("a = " + std::string(30'000, '[')).starts_with("1: "));
}

TEST_CASE("a file over the limit is refused, and one at the limit is read") {
  std::string text = "a = 1\n#";
  text.resize(kTomlBytesMax, 'x');
  CHECK(read_toml(text).size() == 1);
  CHECK_THAT(refusal(text + 'x'), Catch::Contains("65537") && Catch::Contains("65536"));
}

TEST_CASE("a text that was written is read back unchanged") {
  for (const std::string text :
       {"", "plain", "two words", "a\"b\\c", "tab\tline\nbell\x07 del\x7f", "\u00e9\U0001F600"}) {
    CHECK(only("a = " + toml_text(text)).values.front() == text);
  }
}
