#include <catch2/catch.hpp>

#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/text.hpp>

using distrun::base::glob_match;
using distrun::base::Rng;

namespace {

// The definition, written as directly as possible; exponential.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return matches(pattern.substr(1), text) || (!text.empty() && matches(pattern, text.substr(1)));
  }
  if (text.empty()) return false;
  if (pattern[0] == '?') return matches(pattern.substr(1), text.substr(1));
  const std::size_t size = pattern[0] == '\\' && pattern.size() > 1 ? 2 : 1;
  return pattern[size - 1] == text[0] && matches(pattern.substr(size), text.substr(1));
}

std::string random_text(Rng& rng, std::string_view alphabet, std::uint64_t size_max) {
  std::string text;
  for (std::uint64_t i = rng.below(size_max + 1); i > 0; --i) text += alphabet[rng.below(alphabet.size())];
  return text;
}

}  // namespace

TEST_CASE("a glob matches the whole text") {
  CHECK(glob_match("Ring.*", "Ring.pass"));
  CHECK_FALSE(glob_match("Ring", "Ring.pass"));
  CHECK_FALSE(glob_match("ing.pass", "Ring.pass"));
  CHECK(glob_match("", ""));
  CHECK_FALSE(glob_match("", "a"));
  CHECK(glob_match("***", ""));
}

TEST_CASE("a backslash takes the next character literally") {
  CHECK(glob_match("\\*", "*"));
  CHECK_FALSE(glob_match("\\*", "a"));
  CHECK(glob_match("a\\?b", "a?b"));
  CHECK_FALSE(glob_match("a\\?b", "axb"));
  CHECK(glob_match("\\\\", "\\"));
  CHECK(glob_match("\\", "\\"));  // at the end it stands for itself
}

TEST_CASE("a glob matches according to its definition, on random patterns") {
  Rng rng(GENERATE(1U, 2U, 3U, 4U));
  int matched = 0;
  for (int i = 0; i < 50000; ++i) {
    const std::string pattern = random_text(rng, "ab*?\\", 8);
    const std::string text = random_text(rng, "ab*?\\", 8);
    const bool wanted = matches(pattern, text);
    matched += wanted ? 1 : 0;
    if (glob_match(pattern, text) != wanted) FAIL("'" << pattern << "' on '" << text << "' should be " << wanted);
  }
  CHECK(matched > 1000);  // the comparison is not vacuous
}

TEST_CASE("many stars cost no exponential time") {  // otherwise it would not end
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "*a";
  const std::string text(5000, 'a');
  CHECK(glob_match(pattern, text));
  CHECK_FALSE(glob_match(pattern + "b", text));
}
