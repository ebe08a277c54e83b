#pragma once
// Writes JSON directly into a string, in order, without building a tree: an event must cost next to nothing, and a
// summary of many tests must not hold all of them in memory twice. Text may be any bytes: invalid UTF-8 becomes U+FFFD,
// and control characters are escaped.
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <distrun/common/base/clock.hpp>

namespace distrun::report {

class JsonWriter {
 public:
  enum class Layout : std::uint8_t {
    Line,    // no white space
    Pretty,  // a line per field, indented by two spaces
  };
  explicit JsonWriter(Layout layout) noexcept : layout_(layout) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  // Names the next value.
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool truth);
  void value(double number);  // null if it is not a finite number
  void value(std::integral auto number) { integer(static_cast<std::int64_t>(number)); }
  void value(std::uint64_t number);
  // Writes milliseconds with up to three decimals; truncates to microseconds.
  void value(base::Nanoseconds duration);
  void null();

  template <class T>
  void field(std::string_view name, const T& content) {
    key(name);
    value(content);
  }
  template <class T>
  void field_if(bool present, std::string_view name, const T& content) {
    key(name);
    if (present) {
      value(content);
    } else {
      null();
    }
  }

  // Appends a newline; only between top-level values.
  void end_line() { text_ += '\n'; }
  const std::string& text() const noexcept { return text_; }
  std::string take() { return std::move(text_); }
  // Clears the text but keeps the memory.
  void clear() noexcept;

 private:
  void open(char bracket);
  void close(char bracket);
  void before_item();
  void new_line();
  void integer(std::int64_t number);
  void quoted(std::string_view text);

  Layout layout_;
  std::string text_;
  int depth_ = 0;
  bool first_ = true;  // the innermost brackets are still empty
  bool after_key_ = false;
};

}  // namespace distrun::report
