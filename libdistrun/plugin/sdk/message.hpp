#pragma once
// Text that users put together with <<: messages of checks, and information about a scope.
//
//   DISTRUN_INFO("epoch " << epoch);                    // told with each failure until the end of the block
//   DISTRUN_EXPECT(loss < 1) << "after step " << step;  // evaluated only if the check fails
//
// Floating-point numbers have all their digits, unless the user sets a precision or a format.
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

// While it lives, failures of its thread tell the text. Of a thread's scopes, one that begins later usually ends
// earlier; ended on the thread that began it.
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

// "\n  info: epoch 3" for each scope of the calling thread, the outermost first.
std::string current_infos();
// The text on lines of its own: "\n  a\n  b" of "a\nb". Empty of an empty text.
std::string indented(std::string_view text);

}  // namespace distrun::detail

#define DISTRUN_DETAIL_JOIN_NAMES(a, b) a##b
#define DISTRUN_DETAIL_JOIN(a, b) DISTRUN_DETAIL_JOIN_NAMES(a, b)

// Tells what follows with each failure of this thread until the end of the block: a failed check, DISTRUN_FAIL, an
// exception that ends the body. Put together at once, with <<.
#define DISTRUN_INFO(...)                                                                                         \
  const ::distrun::detail::InfoScope DISTRUN_DETAIL_JOIN(distrun_info_, __COUNTER__)(::distrun::detail::Message() \
                                                                                     << __VA_ARGS__)
