#include <distrun/common/base/shell_words.hpp>

#include <distrun/common/base/error.hpp>

namespace distrun::base {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// In double quotes `\` is only special before these.
bool is_escaped(char quote, char next) {
  return quote == '\0' || (quote == '"' && std::string_view("\"\\$`").find(next) != std::string_view::npos);
}

}  // namespace

std::vector<std::string> shell_words(std::string_view text) {
  std::vector<std::string> words;
  char quote = '\0';
  bool is_in_word = false;  // '' is a word, too
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool has_next = i + 1 < text.size();
    if (quote == '\0' && is_space(c)) {
      is_in_word = false;
      continue;
    }
    if (!is_in_word) words.emplace_back();
    is_in_word = true;
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && has_next && is_escaped(quote, text[i + 1])) {
      words.back() += text[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote != '\0') {
    throw Error(ErrorKind::InvalidArgument,
                std::string("a quote (") + quote + ") is not closed in " + std::string(text));
  }
  return words;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

}  // namespace distrun::base
