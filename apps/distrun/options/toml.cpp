#include "toml.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::cli {
namespace {

bool is_key_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Digits, between which single underscores may stand.
bool takes_digits(std::string_view& rest) {
  std::size_t at = 0;
  while (at < rest.size() && (is_digit(rest[at]) || (rest[at] == '_' && at > 0 && is_digit(rest[at - 1])))) ++at;
  if (at == 0 || rest[at - 1] == '_') return false;
  rest.remove_prefix(at);
  return true;
}

bool takes_sign(std::string_view& rest) {
  const bool found = !rest.empty() && (rest.front() == '+' || rest.front() == '-');
  if (found) rest.remove_prefix(1);
  return found;
}

bool is_decimal(std::string_view word) {
  takes_sign(word);
  const bool leading_zero = word.size() > 1 && word[0] == '0' && (is_digit(word[1]) || word[1] == '_');
  if (leading_zero || !takes_digits(word)) return false;
  if (!word.empty() && word.front() == '.') {
    word.remove_prefix(1);
    if (!takes_digits(word)) return false;
  }
  if (!word.empty() && (word.front() == 'e' || word.front() == 'E')) {
    word.remove_prefix(1);
    takes_sign(word);
    if (!takes_digits(word)) return false;
  }
  return word.empty();
}

void add_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xe0 | code >> 12);
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
    }
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<TomlEntry> read() {
    while (skip_to_entry()) read_entry();
    return std::move(entries_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::InvalidArgument, std::to_string(line_) + ": " + what);
  }
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\n' : text_[at_]; }
  bool at_line_end() const { return peek() == '\n' || text_.substr(at_).starts_with("\r\n"); }
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_blanks() {
    while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  // What is left of the line but its end.
  void skip_comment() {
    if (!take('#')) return;
    while (!at_line_end()) {
      if (is_control(peek())) refuse("a comment holds a control character");
      ++at_;
    }
  }
  bool take_line_end() {
    if (at_end() || !at_line_end()) return false;
    if (peek() == '\r') ++at_;
    ++at_;
    ++line_;
    return true;
  }
  // False at the end of the file.
  bool skip_to_entry() {
    do {
      skip_blanks();
      skip_comment();
    } while (take_line_end());
    return !at_end();
  }

  void read_entry();
  std::string read_key();
  void read_value(TomlEntry& entry);
  void read_list(TomlEntry& entry);
  void skip_in_list();
  std::string read_scalar(TomlKind& kind);
  std::string read_literal();
  std::string read_basic();
  void read_escape(std::string& into);
  std::uint32_t read_code(int digits);

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<TomlEntry> entries_;
  std::map<std::string, int> lines_;  // of each key
};

void Reader::read_entry() {
  if (peek() == '[') refuse("sections are not used here: a key stands by itself, as in world-size = 2");
  TomlEntry entry;
  entry.line = line_;
  entry.key = read_key();
  const auto [first, is_new] = lines_.emplace(entry.key, line_);
  if (!is_new) refuse(entry.key + " stands in line " + std::to_string(first->second) + " already");
  skip_blanks();
  if (!take('=')) refuse("after " + entry.key + " a = is wanted, and a value");
  skip_blanks();
  read_value(entry);
  skip_blanks();
  skip_comment();
  if (!at_end() && !at_line_end()) refuse("after the value of " + entry.key + " the line must end");
  entries_.push_back(std::move(entry));
}

std::string Reader::read_key() {
  const std::size_t begin = at_;
  while (!at_end() && is_key_char(text_[at_])) ++at_;
  if (at_ == begin) refuse("a key of letters, digits, - and _ is wanted");
  return std::string(text_.substr(begin, at_ - begin));
}

void Reader::read_value(TomlEntry& entry) {
  if (peek() == '[') return read_list(entry);
  entry.values.push_back(read_scalar(entry.kind));
}

// Blanks, ends of lines and comments, which may stand anywhere between the values of a list.
void Reader::skip_in_list() { skip_to_entry(); }

void Reader::read_list(TomlEntry& entry) {
  entry.kind = TomlKind::List;
  take('[');
  skip_in_list();
  while (!take(']')) {
    if (at_end()) refuse("the list of " + entry.key + " has no ] at its end");
    if (peek() == '[') refuse("a list within a list is not used here");
    TomlKind kind{};
    entry.values.push_back(read_scalar(kind));
    skip_in_list();
    if (!take(',') && !at_end() && peek() != ']') refuse("between the values of a list a comma is wanted");
    skip_in_list();
  }
}

std::string Reader::read_scalar(TomlKind& kind) {
  const std::string_view rest = text_.substr(at_);
  if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) refuse("a text over several lines is not used here");
  kind = TomlKind::Text;
  if (take('"')) return read_basic();
  if (take('\'')) return read_literal();
  const std::size_t length = std::min(rest.find_first_of(" \t\r\n#,]"), rest.size());
  std::string word(rest.substr(0, length));
  kind = word == "true" || word == "false" ? TomlKind::Boolean : TomlKind::Number;
  if (kind == TomlKind::Number && !is_decimal(word)) {
    refuse((word.empty() ? "nothing" : "'" + base::one_line(word, 60) + "'") +
           " is no value: a text in quotes, a decimal number, true, false or a list in [] is wanted");
  }
  at_ += length;
  std::erase(word, '_');
  if (word.starts_with('+')) word.erase(0, 1);
  return word;
}

std::string Reader::read_literal() {
  const std::size_t begin = at_;
  while (!at_end() && peek() != '\'' && !is_control(peek())) ++at_;
  if (!take('\'')) refuse("the text has no ' at its end");
  return std::string(text_.substr(begin, at_ - 1 - begin));
}

std::string Reader::read_basic() {
  std::string value;
  while (!take('"')) {
    if (at_end() || is_control(peek())) refuse("the text has no \" at its end");
    if (take('\\')) {
      read_escape(value);
    } else {
      value += text_[at_++];
    }
  }
  return value;
}

void Reader::read_escape(std::string& into) {
  const char c = peek();
  const std::string_view letters = "btnfr\"\\";
  const std::string_view meanings = "\b\t\n\f\r\"\\";
  const std::size_t found = at_end() ? letters.npos : letters.find(c);
  if (found != letters.npos) {
    into += meanings[found];
    ++at_;
  } else if (take('u')) {
    add_utf8(into, read_code(4));
  } else if (take('U')) {
    add_utf8(into, read_code(8));
  } else {
    refuse("after a \\ one of b t n f r \" \\ u U is wanted; a text in '' takes \\ as it is");
  }
}

std::uint32_t Reader::read_code(int digits) {
  std::uint32_t code = 0;
  for (int i = 0; i < digits; ++i) {
    const int value = hex_value(peek());
    if (value < 0) refuse("after \\u four hexadecimal digits are wanted, after \\U eight");
    code = code << 4 | static_cast<std::uint32_t>(value);
    ++at_;
  }
#ifdef DISTRUN_FUZZ_PLANTED_BUG
  const bool is_character = code <= 0x10ffff;
#else
  const bool is_character = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
#endif
  if (!is_character || code == 0) refuse("\\u names no character that a text may hold");
  return code;
}

}  // namespace

std::vector<TomlEntry> read_toml(std::string_view text) {
  if (text.size() > kTomlBytesMax) {
    throw Error(ErrorKind::InvalidArgument, "1: the file has " + std::to_string(text.size()) + " bytes, at most " +
                                                std::to_string(kTomlBytesMax) + " are read");
  }
  if (text.find('\0') != text.npos || base::valid_utf8(text) != text) {
    throw Error(ErrorKind::InvalidArgument, "1: this is no text in UTF-8");
  }
  return Reader(text).read();
}

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : base::valid_utf8(text)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (is_control(c) || c == '\t') {
      constexpr char kDigits[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      out += "\\u00";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace distrun::cli
