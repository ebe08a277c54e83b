#pragma once
// Text built with <<: messages of checks, and information about a scope.
//
//   DISTRUN_INFO("epoch " << epoch);                    // printed with each failure until the end of the block
//   DISTRUN_EXPECT(loss < 1) << "after step " << step;  // evaluated only if the check fails
//
// Floating-point numbers have all their digits, unless a precision or a format is set.
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

#include <distrun/common/base/decompose.hpp>

namespace distrun::detail {

class Message {
 public:
  Message();
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  ~Message();

  template <class T>
  Message& operator<<(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      add(value ? "true" : "false");
    } else if constexpr (std::is_floating_point_v<T>) {
      add(value);
    } else if constexpr (std::is_convertible_v<const T&, const char*>) {
      const char* text = value;
      add(text != nullptr ? std::string_view(text) : "nullptr");
    } else if constexpr (base::Printable<T>) {
      *out_ << value;
    } else {
      add(base::show(value));
    }
    return *this;
  }
  Message& operator<<(std::ostream& (*manipulator)(std::ostream&)) {
    *out_ << manipulator;
    return *this;
  }

  std::string text() const;

 private:
  void add(std::string_view text);
  void add(double value);
  void add(float value);
  void add(long double value);

  std::unique_ptr<std::ostream> out_;
};

// While it lives, failures of its thread print the text. Must end on the thread that began it. Scopes of a thread
// usually nest.
class InfoScope {
 public:
  explicit InfoScope(const Message& message);
  InfoScope(const InfoScope&) = delete;
  InfoScope& operator=(const InfoScope&) = delete;
  ~InfoScope();

 private:
  friend std::string current_infos();

  std::string text_;
  const InfoScope* outer_;
};

// Returns "\n  info: epoch 3" for each scope of the calling thread, the outermost first.
std::string current_infos();
// Returns the text on indented lines: "\n  a\n  b" for "a\nb"; empty for an empty text.
std::string indented(std::string_view text);

}  // namespace distrun::detail

#define DISTRUN_DETAIL_JOIN_NAMES(a, b) a##b
#define DISTRUN_DETAIL_JOIN(a, b) DISTRUN_DETAIL_JOIN_NAMES(a, b)

// Prints the arguments with each failure of this thread until the end of the block: a failed check, DISTRUN_FAIL, an
// exception that ends the body. They are joined with <<, at once.
#define DISTRUN_INFO(...)                                                                                         \
  const ::distrun::detail::InfoScope DISTRUN_DETAIL_JOIN(distrun_info_, __COUNTER__)(::distrun::detail::Message() \
                                                                                     << __VA_ARGS__)
