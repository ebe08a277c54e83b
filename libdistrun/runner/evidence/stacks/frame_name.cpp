#include <distrun/runner/evidence/stacks/frame_name.hpp>

#include <array>
#include <cstdint>
#include <cstdio>

#include <distrun/common/base/text.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kReadMax = 4096;  // bytes of a name; the rest is ignored
constexpr std::string_view kUnnamed = "(anonymous namespace)";
constexpr std::string_view kOperator = "operator";
// Operators with symbols that look like brackets, longest first.
constexpr std::array<std::string_view, 12> kBracketOperators = {"<=>", "<<=", ">>=", "->*", "()", "[]",
                                                                "<<",  ">>",  "<=",  ">=",  "->", "<"};

bool is_open(char c) { return c == '(' || c == '<' || c == '[' || c == '{'; }
bool is_close(char c) { return c == ')' || c == '>' || c == ']' || c == '}'; }
bool is_word(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool stands_at(std::string_view text, std::size_t at, std::string_view part) {
  return text.substr(at, part.size()) == part;
}

// Returns the position after the bracket that closes the one at `at`; the text's size if it is not closed.
std::size_t behind_bracket(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  for (; at < text.size(); ++at) {
    const bool is_arrow = text[at] == '>' && at > 0 && text[at - 1] == '-';
    if (is_open(text[at])) ++depth;
    if (is_close(text[at]) && !is_arrow && --depth == 0) return at + 1;
  }
  return at;
}

// Returns the position after "operator()" and the like, without counting their brackets; `at` if there is no operator.
std::size_t behind_operator(std::string_view text, std::size_t at) {
  if (!stands_at(text, at, kOperator) || (at > 0 && is_word(text[at - 1]))) return at;
  at += kOperator.size();
  for (const std::string_view symbol : kBracketOperators) {
    if (stands_at(text, at, symbol)) return at + symbol.size();
  }
  return at < text.size() && text[at] == '>' ? at + 1 : at;
}

// Returns the position after parameters that a scope follows: "f(int) const::{lambda()#1}"; else `at`.
std::size_t behind_parameters_of_scope(std::string_view text, std::size_t at) {
  std::size_t end = behind_bracket(text, at);
  if (stands_at(text, end, " const")) end += 6;
  return stands_at(text, end, "::") ? end : at;
}

bool is_decltype(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  return before.ends_with("decltype") || before.ends_with("decltype ");
}

// Reduces a name to its scopes: drops unnamed namespaces and parameters, and template arguments unless they are kept.
std::string without_noise(std::string_view name, bool keep_arguments) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t next = behind_operator(name, at);
    if (next > at) {
      out += name.substr(at, next - at);
    } else if (stands_at(name, at, kUnnamed)) {
      next = at + kUnnamed.size() + (stands_at(name, at + kUnnamed.size(), "::") ? 2 : 0);
    } else if (stands_at(name, at, "{lambda(")) {
      out += "{lambda";
      next = behind_bracket(name, at + 7);
    } else if (name[at] == '(') {
      next = behind_bracket(name, at);
      if (stands_at(name, next, " const")) next += 6;
    } else if (name[at] == '<') {
      next = behind_bracket(name, at);
      out += keep_arguments ? name.substr(at, next - at) : "<...>";
    } else {
      out += name[at];
      next = at + 1;
    }
    at = next;
  }
  return out;
}

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

std::string_view qualified_name(std::string_view function) {
  const std::string_view text = function.substr(0, function.find(" [clone "));
  std::size_t start = 0;
  bool is_operator = false;  // its type may contain spaces: "operator unsigned long"
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t behind = behind_operator(text, at);
    if (behind > at) {
      is_operator = true;
      at = behind;
    } else if (stands_at(text, at, kUnnamed)) {
      at += kUnnamed.size();
    } else if (text[at] == '(' && !is_decltype(text, at)) {
      const std::size_t scope = behind_parameters_of_scope(text, at);
      if (scope == at) break;
      at = scope;
    } else if (is_open(text[at])) {
      at = behind_bracket(text, at);
    } else {
      if (text[at] == ' ' && !is_operator) start = at + 1;
      ++at;
    }
  }
  return at > start ? text.substr(start, at - start) : function;
}

std::string_view file_of_path(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string shorten_middle(std::string_view text, std::size_t limit) {
  constexpr std::string_view kDots = "...";
  if (text.size() <= limit || limit <= kDots.size()) return std::string(text);
  const auto is_inside = [text](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U; };
  std::size_t head = (limit - kDots.size()) / 3;  // the end of a name says more than its beginning
  std::size_t tail = text.size() - (limit - kDots.size() - head);
  while (head > 0 && is_inside(head)) --head;
  while (tail < text.size() && is_inside(tail)) ++tail;
  return std::string(text.substr(0, head)).append(kDots).append(text.substr(tail));
}

std::string short_name(std::string_view function, std::size_t limit) {
  const std::string_view name = qualified_name(function.substr(0, kReadMax));
  std::string text = base::one_line(without_noise(name, true), kReadMax);
  if (text.size() > limit) text = base::one_line(without_noise(name, false), kReadMax);
  if (text.empty()) text = base::one_line(function, kReadMax);
  return shorten_middle(text, limit);
}

std::string frame_name(const wire::StackFrame& frame, std::size_t limit) {
  if (frame.module == wire::kPythonModule) return shorten_middle(base::one_line(frame.function, kReadMax), limit);
  if (!frame.function.empty()) return short_name(frame.function, limit);
  if (frame.module.empty()) return hexadecimal(frame.pc);
  const std::string module = base::one_line(file_of_path(frame.module), kReadMax);
  return shorten_middle(module, limit) + "+" + hexadecimal(frame.offset);
}

}  // namespace distrun::evidence
