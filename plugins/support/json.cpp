#include "json.hpp"

#include <charconv>

#include <distrun/common/base/error.hpp>

namespace distrun::suites {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Json all() {
    Json value = this->value();
    if (next() != '\0') refuse("an end");
    return value;
  }

 private:
  // Skips blanks and returns the next character; 0 at the end.
  char next() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char wanted) {
    if (next() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) refuse(std::string(1, wanted));
  }
  [[noreturn]] void refuse(const std::string& wanted) const {
    throw base::Error(base::ErrorKind::InvalidArgument,
                      "no JSON: " + wanted + " is missing at byte " + std::to_string(at_));
  }

  Json value() {
    switch (next()) {
      case '{': return object();
      case '[': return list();
      case '"': return {string(), {}};
      default: return {plain(), {}};
    }
  }

  Json object() {
    Json made;
    expect('{');
    if (take('}')) return made;
    do {
      if (next() != '"') refuse("a name");
      const std::string name = string();
      expect(':');
      made.members[name] = value();
    } while (take(','));
    expect('}');
    return made;
  }

  Json list() {
    Json made;
    expect('[');
    if (take(']')) return made;
    do made.items.push_back(value());
    while (take(','));
    expect(']');
    return made;
  }

  std::string string() {
    std::string made;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) refuse("a printable character");
      made += text_[at_] == '\\' ? escaped() : text_[at_];
    }
    expect('"');
    return made;
  }
  // Does not decode escapes beyond one byte: names of events contain those characters unescaped.
  char escaped() {
    ++at_;
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\\')) return text_[at_];
    unsigned code = 0;
    const char* const first = text_.data() + at_ + 1;
    if (at_ + 5 > text_.size() || text_[at_] != 'u' || std::from_chars(first, first + 4, code, 16).ptr != first + 4) {
      refuse("an escape");
    }
    at_ += 4;
    return static_cast<char>(code);
  }

  std::string plain() {
    const std::size_t end = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    std::string made(text_.substr(at_, end - at_));
    double number = 0;
    const auto read = std::from_chars(made.data(), made.data() + made.size(), number);
    const bool is_number = read.ec == std::errc() && read.ptr == made.data() + made.size();
    if (!is_number && made != "true" && made != "false" && made != "null") refuse("a value");
    at_ = end;
    return made;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const Json& Json::at(const std::string& name) const {
  const auto found = members.find(name);
  if (found != members.end()) return found->second;
  throw base::Error(base::ErrorKind::InvalidArgument, "KeyError", "no member \"" + name + "\"");
}

Json read_json(std::string_view text) { return Reader(text).all(); }

}  // namespace distrun::suites
