#include <catch2/catch.hpp>

#include <csignal>
#include <cstdio>

#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/text.hpp>

using namespace distrun::base;
using namespace std::string_literals;
using namespace std::string_view_literals;

namespace {

const std::string kReplacement = "\xef\xbf\xbd";

std::string random_bytes(Rng& rng, std::uint64_t size_max) {
  // Makes bytes that matter to UTF-8, terminals and shells more frequent.
  static constexpr std::string_view kSpecial = "\xc2\x80\x9b\xe0\xa0\xed\x9f\xf4\x8f\xbf\x1b\n\r\t '\\\"*?\x7f\0"sv;
  std::string text;
  for (std::uint64_t i = rng.below(size_max + 1); i > 0; --i) {
    text += rng.below(2) == 0 ? kSpecial[rng.below(kSpecial.size())] : static_cast<char>(rng.below(256));
  }
  return text;
}

}  // namespace

TEST_CASE("valid UTF-8 stays as it is") {
  const std::string text = "plain, \xc3\xa4, \xe2\x82\xac, \xf0\x9f\x98\x80, \xf4\x8f\xbf\xbf";
  CHECK(valid_utf8(text) == text);
}

TEST_CASE("bytes that are not UTF-8 are replaced one by one") {
  CHECK(valid_utf8("a\xff"
                   "b") == "a" + kReplacement + "b");
  CHECK(valid_utf8("\xc3") == kReplacement);                                        // truncated
  CHECK(valid_utf8("\xc0\xaf") == kReplacement + kReplacement);                     // overlong
  CHECK(valid_utf8("\xed\xa0\x80") == kReplacement + kReplacement + kReplacement);  // a surrogate
  CHECK(valid_utf8("\xf4\x90\x80\x80").size() == 12);                               // beyond U+10FFFF
  CHECK(valid_utf8("\xe0\x80\x80").size() == 9);
}

TEST_CASE("repairing UTF-8 twice changes nothing more") {
  Rng rng(3);
  for (int i = 0; i < 5000; ++i) {
    const std::string once = valid_utf8(random_bytes(rng, 12));
    if (valid_utf8(once) != once) FAIL("not repaired: " << once);
  }
}

TEST_CASE("no control character reaches a terminal") {
  CHECK(printable("\x1b[31mred") == "\\x1b[31mred");
  CHECK(printable("a\tb\nc") == "a\tb\nc");
  CHECK(printable("a\r\nb\rc") == "a\nb\\x0dc");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\x9b31m");
  CHECK(printable("\0\x7f"s) == "\\x00\\x7f");
  Rng rng(4);
  for (int i = 0; i < 5000; ++i) {
    const std::string shown = printable(random_bytes(rng, 12));
    for (std::size_t at = 0; at < shown.size(); ++at) {
      const auto c = static_cast<unsigned char>(shown[at]);
      const bool c1 = c == 0xc2 && static_cast<unsigned char>(shown[at + 1]) < 0xa0;
      if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f || c1) FAIL("a control character is left");
    }
  }
}

TEST_CASE("one line stays one line and within its limit") {
  CHECK(one_line("a\nb\tc \n") == "a b c");
  CHECK(one_line("abcdef", 3) == "abc...");
  CHECK(one_line("abc", 3) == "abc");
  CHECK(one_line("\xe2\x82\xac\xe2\x82\xac", 4) == "\xe2\x82\xac...");  // never within a character
  CHECK(one_line("").empty());
}

TEST_CASE("lines are split at newlines, and the last one needs none") {
  CHECK(split_lines("").empty());
  CHECK(split_lines("a") == std::vector<std::string>{"a"});
  CHECK(split_lines("a\n") == std::vector<std::string>{"a"});
  CHECK(split_lines("a\n\nb") == std::vector<std::string>{"a", "", "b"});
}

TEST_CASE("a plain word needs no quotes") {
  CHECK(shell_quoted("--filter=Ring.*") == "'--filter=Ring.*'");
  CHECK(shell_quoted("build/plugins/ring.so") == "build/plugins/ring.so");
  CHECK(shell_quoted("") == "''");
  CHECK(shell_quoted("it's") == "'it'\\''s'");
}

TEST_CASE("a shell reads back a quoted text unchanged") {
  Rng rng(5);
  for (int i = 0; i < 20; ++i) {
    std::string word = random_bytes(rng, 20);
    std::erase(word, '\0');  // an argument cannot contain it
    const std::string command = "printf %s " + shell_quoted(word);
    FILE* shell = ::popen(command.c_str(), "r");
    REQUIRE(shell != nullptr);
    std::string heard;
    for (int c = 0; (c = std::fgetc(shell)) != EOF;) heard += static_cast<char>(c);
    ::pclose(shell);
    CHECK(heard == word);
  }
}

TEST_CASE("signals are shown with their names") {
  CHECK(signal_name(SIGSEGV) == "SIGSEGV");
  CHECK(signal_name(SIGKILL) == "SIGKILL");
  CHECK(signal_name(64) == "signal 64");
  CHECK(signal_name(-1) == "signal -1");
}
