// A filter and a test, one per line: patterns, suite, id. The answer is compared with a second implementation of the
// definition, by dynamic programming and by splitting at operators.
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

struct Test {
  std::string suite;
  std::string id;
};

const std::string kLoneDash = "- ";

bool is_special(char c) { return c == ' ' || c == '&' || c == '|' || c == '!' || c == '(' || c == ')'; }

// Returns words and operators; kLoneDash for a '-' that a space or the end follows. Empty: a `\` is at the end.
std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> tokens;
  bool in_word = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool special = is_special(text[i]);
    if (special) {
      if (text[i] != ' ') tokens.emplace_back(1, text[i]);
    } else {
      if (!in_word) tokens.emplace_back();
      tokens.back() += text[i];
      if (text[i] == '\\') {
        if (++i == text.size()) return {};
        tokens.back() += text[i];
      }
    }
    in_word = !special;
    const bool is_last = i + 1 >= text.size() || text[i + 1] == ' ';
    if (in_word && is_last && tokens.back() == "-") tokens.back() = kLoneDash;
  }
  return tokens;
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

bool has_unescaped_dot_or_glob(const std::string& word) {
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\\') {
      ++i;
    } else if (word[i] == '.' || word[i] == '*' || word[i] == '?') {
      return true;
    }
  }
  return false;
}

// The fields `tag`, `plugin` and `np` are left to the unit tests: the test has neither.
Answer hits(const std::string& word, const Test& test) {
  const std::string without_size = test.id.substr(0, test.id.find(' '));
  const std::string short_id = without_size.substr(0, without_size.find('/'));
  const auto of_test = [&](std::string_view p) {
    return matches(p, test.id) || matches(p, without_size) || matches(p, short_id);
  };
  std::size_t letters = 0;
  while (letters < word.size() && word[letters] >= 'a' && word[letters] <= 'z') ++letters;
  const auto answer = [](bool yes) { return yes ? Answer::Yes : Answer::No; };
  if (letters > 0 && letters < word.size() && word[letters] == ':') {
    const std::string pattern = word.substr(letters + 1);
    const std::string field = word.substr(0, letters);
    if (pattern.empty()) return Answer::Refused;
    if (field == "test") return answer(of_test(pattern));
    if (field == "suite") return answer(matches(pattern, test.suite));
    return Answer::Refused;
  }
  if (has_unescaped_dot_or_glob(word)) return answer(of_test(word) || matches(word, test.suite));
  const std::string part = "*" + word + "*";
  return answer(matches(part, lower(word) == word ? lower(test.id) : test.id));
}

// Evaluates tokens by splitting them at the operator that binds least.
class Evaluation {
 public:
  Evaluation(std::vector<std::string> tokens, const Test& test) : tokens_(std::move(tokens)), test_(test) {}

  Answer all() {
    bool included = false;
    bool excluded = false;
    bool any_including = false;
    for (std::size_t at = 0; at < tokens_.size();) {
      bool excludes = false;
      // The '-' is a token of its own before an operator, otherwise the beginning of a word.
      if (tokens_[at] == kLoneDash) return Answer::Refused;
      if (tokens_[at].starts_with('-')) {
        excludes = true;
        tokens_[at].erase(0, 1);
        if (tokens_[at].empty()) ++at;
      }
      const std::size_t end = end_of_item(at);
      const Answer one = value(at, end);
      if (one == Answer::Refused) return one;
      any_including = any_including || !excludes;
      (excludes ? excluded : included) |= one == Answer::Yes;
      at = end;
    }
    return !excluded && (included || !any_including) ? Answer::Yes : Answer::No;
  }

 private:
  bool is(std::size_t at, const char* sign) const { return at < tokens_.size() && tokens_[at] == sign; }
  bool is_binary(std::size_t at) const { return is(at, "&") || is(at, "|"); }

  // An item ends where an operand is followed by something that is no binary operator.
  std::size_t end_of_item(std::size_t at) const {
    int depth = 0;
    for (; at < tokens_.size(); ++at) {
      if (is(at, "(")) ++depth;
      if (is(at, ")")) --depth;
      const bool ends_operand = is(at, ")") || (!is_binary(at) && !is(at, "!") && !is(at, "("));
      if (depth <= 0 && ends_operand && !is_binary(at + 1)) return at + 1;
    }
    return at;
  }

  std::size_t last_at_top(std::size_t begin, std::size_t end, const char* sign) const {
    int depth = 0;
    std::size_t found = end;
    for (std::size_t at = begin; at < end; ++at) {
      if (is(at, "(")) ++depth;
      if (is(at, ")")) --depth;
      if (depth == 0 && is(at, sign)) found = at;
    }
    return found;
  }

  Answer value(std::size_t begin, std::size_t end) {
    if (begin >= end) return Answer::Refused;
    for (const char* sign : {"|", "&"}) {
      const std::size_t at = last_at_top(begin, end, sign);
      if (at == end) continue;
      const Answer left = value(begin, at);
      const Answer right = value(at + 1, end);
      if (left == Answer::Refused || right == Answer::Refused) return Answer::Refused;
      const bool both = left == Answer::Yes && right == Answer::Yes;
      const bool one = left == Answer::Yes || right == Answer::Yes;
      return (*sign == '|' ? one : both) ? Answer::Yes : Answer::No;
    }
    if (is(begin, "!")) {
      const Answer inner = value(begin + 1, end);
      return inner == Answer::Refused ? inner : inner == Answer::Yes ? Answer::No : Answer::Yes;
    }
    if (is(begin, "(")) return is(end - 1, ")") ? value(begin + 1, end - 1) : Answer::Refused;
    if (end - begin > 1 || is(begin, ")")) return Answer::Refused;
    return hits(tokens_[begin] == kLoneDash ? "-" : tokens_[begin], test_);
  }

  std::vector<std::string> tokens_;
  const Test& test_;
};

Answer expected(const std::string& text, const Test& test) {
  const bool is_blank = text.find_first_not_of(' ') == std::string::npos;
  std::vector<std::string> tokens = tokens_of(text);
  if (tokens.empty() && !is_blank) return Answer::Refused;
  return Evaluation(std::move(tokens), test).all();
}

// Returns whether the text may have more than the definition above covers: other fields, and very deep nesting.
bool is_beyond(const std::string& text) {
  constexpr std::size_t kDeep = 50;
  const auto has = [&](const char* field) { return text.find(field) != std::string::npos; };
  const auto nested = std::count_if(text.begin(), text.end(), [](char c) { return c == '(' || c == '!'; });
  return has("tag:") || has("plugin:") || has("np:") || static_cast<std::size_t>(nested) > kDeep;
}

Answer found(const std::string& patterns, const Test& test) {
  try {
    return runner::Filter({patterns}).selects({test.suite, test.id}) ? Answer::Yes : Answer::No;
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
  if (is_beyond(lines[0])) return 0;
  const Test test{lines[1], lines[2]};
  require(found(lines[0], test) == expected(lines[0], test), "a filter selects as it is defined");
  return 0;
}
