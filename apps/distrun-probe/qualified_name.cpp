#include "qualified_name.hpp"

namespace distrun::probe {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

std::string c_function(std::string_view name) {
  if (name.starts_with("__GI_")) name.remove_prefix(5);
  while (name.starts_with('_')) name.remove_prefix(1);
  return std::string(name.substr(0, name.find('.')));
}

// Collects the characters outside template arguments, and forgets a return type when it ends.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::string read() {
    while (!rest_.empty() && step()) {
    }
    return name_;
  }

 private:
  // Returns false at the parameters.
  bool step() {
    if (depth_ == 0 && rest_.starts_with(kAnonymous)) return take(kAnonymous.size());
    if (depth_ == 0 && is_operator()) return take_operator();
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '<') ++depth_;
    if (c == '>' && depth_ > 0) --depth_;
    if (depth_ > 0 || c == '>') return true;
    if (c == '(') return false;
    if (c == ' ')
      name_.clear();
    else if (c != '*' && c != '&')
      name_ += c;
    return true;
  }

  bool is_operator() const { return rest_.starts_with("operator") && (name_.empty() || name_.ends_with(':')); }

  // The symbols of an operator may be brackets of any kind: "operator()", "operator<<", "operator new".
  bool take_operator() {
    constexpr std::size_t kWord = 8;
    std::size_t end = rest_.find('(', kWord);
    if (end == kWord) end = rest_.find('(', kWord + 1);
    take(end == std::string_view::npos ? rest_.size() : end);
    return false;
  }

  bool take(std::size_t count) {
    name_ += rest_.substr(0, count);
    rest_.remove_prefix(count);
    return true;
  }

  std::string_view rest_;
  std::string name_;
  int depth_ = 0;
};

}  // namespace

std::string qualified_name(std::string_view function) {
  const bool is_cpp = function.find_first_of(":(<") != std::string_view::npos;
  return is_cpp ? Reader(function).read() : c_function(function);
}

}  // namespace distrun::probe
