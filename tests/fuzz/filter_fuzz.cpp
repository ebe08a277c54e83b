// A filter and a test, one per line: patterns, suite, id. The answer is compared with a second implementation of the
// definition, by dynamic programming and sets.
#include <algorithm>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/plan/filter.hpp>

#include "fuzz.hpp"

namespace {

using namespace distrun;
using fuzz::require;

constexpr std::size_t kSizeMax = 512;

// One element of a pattern: a character, any character, any run.
struct Element {
  enum Kind { Literal, AnyOne, AnyRun } kind;
  char literal;
};

std::vector<Element> elements_of(std::string_view pattern) {
  std::vector<Element> elements;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) {
      elements.push_back({Element::Literal, pattern[++i]});
    } else {
      const Element::Kind kind = pattern[i] == '*'   ? Element::AnyRun
                                 : pattern[i] == '?' ? Element::AnyOne
                                                     : Element::Literal;
      elements.push_back({kind, pattern[i]});
    }
  }
  return elements;
}

// matched[t]: the elements so far match the first t characters.
bool matches(std::string_view pattern, std::string_view text) {
  std::vector<bool> matched(text.size() + 1);
  matched[0] = true;
  for (const Element& element : elements_of(pattern)) {
    std::vector<bool> next(text.size() + 1);
    for (std::size_t t = 0; t <= text.size(); ++t) {
      if (element.kind == Element::AnyRun) {
        next[t] = matched[t] || (t > 0 && next[t - 1]);
      } else if (t > 0 && (element.kind == Element::AnyOne || text[t - 1] == element.literal)) {
        next[t] = matched[t - 1];
      }
    }
    matched = std::move(next);
  }
  return matched.back();
}

bool has_open_escape(std::string_view pattern) {
  bool open = false;
  for (const char c : pattern) open = c == '\\' && !open;
  return open;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// True, false, or refused.
enum class Answer { No, Yes, Refused };

Answer expected(const std::string& patterns, const std::string& suite, const std::string& id) {
  const std::string short_id = id.substr(0, id.find('/'));
  const auto hits = [&](std::string_view p) { return matches(p, id) || matches(p, short_id) || matches(p, suite); };
  bool included = false;
  bool excluded = false;
  bool any_including = false;
  for (const std::string& pattern : split(patterns, ' ')) {
    if (pattern.empty()) continue;
    if (pattern == "-" || has_open_escape(pattern)) return Answer::Refused;
    if (pattern[0] == '-') {
      excluded = excluded || hits(std::string_view(pattern).substr(1));
    } else {
      any_including = true;
      included = included || hits(pattern);
    }
  }
  return !excluded && (included || !any_including) ? Answer::Yes : Answer::No;
}

Answer found(const std::string& patterns, const std::string& suite, const std::string& id) {
  try {
    return runner::Filter({patterns}).selects(suite, id) ? Answer::Yes : Answer::No;
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::InvalidArgument, "a refusal is an invalid argument");
    return Answer::Refused;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kSizeMax) return 0;
  std::vector<std::string> lines = split(fuzz::text_of(data, size), '\n');
  lines.resize(3);
  require(base::glob_match(lines[0], lines[2]) == matches(lines[0], lines[2]), "a glob matches as it is defined");
  require(found(lines[0], lines[1], lines[2]) == expected(lines[0], lines[1], lines[2]),
          "a filter selects as it is defined");
  return 0;
}
