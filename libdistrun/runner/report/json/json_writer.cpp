#include <distrun/runner/report/json/json_writer.hpp>

#include <charconv>
#include <cmath>

#include <distrun/common/base/text.hpp>

namespace distrun::report {
namespace {

template <class Number>
void append_number(std::string& text, Number number) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  text.append(digits, end);
}

bool stands_for_itself(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\' && c != 0x7f; }

bool is_ascii(std::string_view text) {
  unsigned char all = 0;
  for (const char c : text) all = static_cast<unsigned char>(all | static_cast<unsigned char>(c));
  return all < 0x80;
}

void append_escape(std::string& text, char c) {
  static constexpr char kHex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  switch (c) {
    case '"': text += "\\\""; return;
    case '\\': text += "\\\\"; return;
    case '\n': text += "\\n"; return;
    case '\r': text += "\\r"; return;
    case '\t': text += "\\t"; return;
    default: break;
  }
  text += "\\u00";
  text += kHex[byte >> 4U];
  text += kHex[byte & 0xfU];
}

// Copies runs of plain bytes at once: output of tests is long and mostly plain.
void append_escaped(std::string& text, std::string_view content) {
  std::size_t from = 0;
  for (std::size_t at = 0; at < content.size(); ++at) {
    if (stands_for_itself(content[at])) continue;
    text.append(content, from, at - from);
    append_escape(text, content[at]);
    from = at + 1;
  }
  text.append(content, from);
}

}  // namespace

void JsonWriter::key(std::string_view name) {
  before_item();
  quoted(name);
  text_ += layout_ == Layout::Pretty ? ": " : ":";
  after_key_ = true;
}

void JsonWriter::value(std::string_view text) {
  before_item();
  quoted(text);
}

void JsonWriter::value(bool truth) {
  before_item();
  text_ += truth ? "true" : "false";
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  before_item();
  append_number(text_, number);
}

void JsonWriter::value(std::uint64_t number) {
  before_item();
  append_number(text_, number);
}

void JsonWriter::value(base::Nanoseconds duration) {
  before_item();
  const std::int64_t micros = duration.count() / 1000;
  const std::uint64_t size = micros < 0 ? 0 - static_cast<std::uint64_t>(micros) : static_cast<std::uint64_t>(micros);
  if (micros < 0) text_ += '-';
  append_number(text_, size / 1000);
  if (size % 1000 == 0) return;
  const auto rest = static_cast<unsigned>(size % 1000);
  const char decimals[] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                           static_cast<char>('0' + rest % 10)};
  text_.append(decimals, sizeof decimals);
  while (text_.back() == '0') text_.pop_back();
}

void JsonWriter::null() {
  before_item();
  text_ += "null";
}

void JsonWriter::clear() noexcept {
  text_.clear();
  depth_ = 0;
  first_ = true;
  after_key_ = false;
}

void JsonWriter::open(char bracket) {
  before_item();
  text_ += bracket;
  ++depth_;
  first_ = true;
}

void JsonWriter::close(char bracket) {
  --depth_;
  if (!first_) new_line();
  text_ += bracket;
  first_ = false;
}

void JsonWriter::before_item() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_) text_ += ',';
  if (depth_ > 0) new_line();
  first_ = false;
}

void JsonWriter::new_line() {
  if (layout_ == Layout::Line) return;
  text_ += '\n';
  text_.append(static_cast<std::size_t>(depth_) * 2, ' ');
}

void JsonWriter::integer(std::int64_t number) {
  before_item();
  append_number(text_, number);
}

void JsonWriter::quoted(std::string_view text) {
  text_ += '"';
  if (is_ascii(text)) {
    append_escaped(text_, text);
  } else {
    append_escaped(text_, base::valid_utf8(text));
  }
  text_ += '"';
}

}  // namespace distrun::report
