#include <distrun/runner/plan/filter_expression.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/nearest.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::runner {
namespace {

using Kind = FilterExpression::Kind;
using Node = FilterExpression::Node;

constexpr int kDepthMax = 100;
constexpr std::string_view kOperators = "&|!()";

struct Field {
  std::string_view name;
  Kind kind;
};
constexpr std::array<Field, 5> kFields{{{"test", Kind::Test},
                                        {"suite", Kind::Suite},
                                        {"tag", Kind::Tag},
                                        {"plugin", Kind::Plugin},
                                        {"np", Kind::WorldSize}}};

bool is_operator(char each) { return kOperators.find(each) != std::string_view::npos; }

char lower(char each) { return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each; }
bool is_lower(char each) { return each >= 'a' && each <= 'z'; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char each) { return lower(each); });
  return out;
}

// Returns whether one of these characters is in the pattern without a `\` before it.
bool has_unescaped(std::string_view pattern, std::string_view wanted) {
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '\\') {
      ++at;
    } else if (wanted.find(pattern[at]) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && number > 0 ? std::optional(number) : std::nullopt;
}

// Reads one expression. `rest` is what has not been read.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) { skip_spaces(); }

  Node expression() { return chain(Kind::Or, '|'); }
  std::string_view rest() const { return rest_; }

 private:
  Node chain(Kind kind, char sign) {
    std::vector<Node> operands;
    do {
      operands.push_back(kind == Kind::Or ? chain(Kind::And, '&') : negation());
    } while (take(sign));
    if (operands.size() == 1) return std::move(operands.front());
    return Node{.kind = kind, .operands = std::move(operands)};
  }

  Node negation() {
    if (++depth_ > kDepthMax) refuse("it has more than " + std::to_string(kDepthMax) + " nested operators");
    Node node = operand();
    --depth_;
    return node;
  }

  Node operand() {
    if (take('!')) {
      Node negated{.kind = Kind::Not};
      negated.operands.push_back(negation());
      return negated;
    }
    if (!take('(')) return term(word());
    Node inner = expression();
    if (!take(')')) refuse("a ')' is missing");
    return inner;
  }

  std::string_view word() {
    std::size_t end = 0;
    while (end < rest_.size() && rest_[end] != ' ' && !is_operator(rest_[end])) end += rest_[end] == '\\' ? 2 : 1;
    if (end > rest_.size()) refuse("a '\\' at the end escapes nothing; write '\\\\' for a backslash");
    if (end == 0)
      refuse(rest_.empty() ? "a pattern is missing at the end"
                           : "a pattern is missing before '" + std::string(1, rest_.front()) + "'");
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    skip_spaces();
    return found;
  }

  // Only lower-case letters before a colon are a field: parameters may contain colons.
  Node term(std::string_view word) {
    const std::size_t colon = word.find(':');
    const std::string_view name = word.substr(0, colon);
    const bool has_field = colon != word.npos && !name.empty() && std::all_of(name.begin(), name.end(), is_lower);
    if (!has_field) {
      const bool is_part = !has_unescaped(word, "*?.");
      return Node{.kind = is_part ? Kind::Part : Kind::Whole, .pattern = std::string(word)};
    }
    const std::string_view pattern = word.substr(colon + 1);
    if (pattern.empty()) refuse("a pattern is missing after '" + std::string(word) + "'");
    const Kind kind = kind_of(name);
    return kind == Kind::WorldSize ? world_size(pattern) : Node{.kind = kind, .pattern = std::string(pattern)};
  }

  Kind kind_of(std::string_view name) const {
    std::vector<std::string> names;
    for (const Field& each : kFields) {
      if (each.name == name) return each.kind;
      names.emplace_back(each.name);
    }
    refuse("unknown field '" + std::string(name) + "': expected " + base::joined_by_or(names) +
           "; write '\\:' for a colon in a name");
  }

  Node world_size(std::string_view range) const {
    const std::size_t dash = range.find('-');
    const auto least = number_in(range.substr(0, dash));
    const auto most = dash == range.npos ? least : number_in(range.substr(dash + 1));
    if (!least || !most || *least > *most) {
      refuse("np:" + std::string(range) + " is not a world size such as np:4, or a range such as np:2-8");
    }
    return Node{.kind = Kind::WorldSize, .least = *least, .most = *most};
  }

  bool take(char sign) {
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(1);
    skip_spaces();
    return true;
  }

  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::InvalidArgument, "--filter '" + base::one_line(text_) + "': " + base::one_line(why));
  }

  std::string_view text_;
  std::string_view rest_;
  int depth_ = 0;
};

bool matches_part(const std::string& pattern, std::string_view id) {
  const std::string wanted = "*" + pattern + "*";
  return lower(pattern) == pattern ? base::glob_match(wanted, lower(id)) : base::glob_match(wanted, id);
}

// The parts of an id have no spaces: " [np=4]" follows the first one.
bool matches_id(const std::string& pattern, std::string_view id) {
  const std::string_view without_size = id.substr(0, id.find(' '));
  return base::glob_match(pattern, id) || base::glob_match(pattern, without_size) ||
         base::glob_match(pattern, without_size.substr(0, without_size.find('/')));
}

bool matches_plugin(const std::string& pattern, std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  const std::string_view stem = file.substr(0, file.rfind(".so"));
  return base::glob_match(pattern, path) || base::glob_match(pattern, file) || base::glob_match(pattern, stem);
}

bool has_tag(const std::string& pattern, const FilterSubject& subject) {
  return subject.tags != nullptr && std::any_of(subject.tags->begin(), subject.tags->end(),
                                                [&](const auto& tag) { return base::glob_match(pattern, tag); });
}

bool is_selected(const Node& node, const FilterSubject& subject) {
  const auto selected = [&](const Node& each) { return is_selected(each, subject); };
  switch (node.kind) {
    case Kind::Part: return matches_part(node.pattern, subject.id);
    case Kind::Whole: return matches_id(node.pattern, subject.id) || base::glob_match(node.pattern, subject.suite);
    case Kind::Test: return matches_id(node.pattern, subject.id);
    case Kind::Suite: return base::glob_match(node.pattern, subject.suite);
    case Kind::Tag: return has_tag(node.pattern, subject);
    case Kind::Plugin: return matches_plugin(node.pattern, subject.plugin);
    case Kind::WorldSize: return node.least <= subject.world_size && subject.world_size <= node.most;
    case Kind::Not: return !selected(node.operands.front());
    case Kind::And: return std::all_of(node.operands.begin(), node.operands.end(), selected);
    case Kind::Or: return std::any_of(node.operands.begin(), node.operands.end(), selected);
  }
  return false;
}

void add_names(const Node& node, std::vector<std::string>& names) {
  if (node.kind == Kind::Not) return;
  if (node.kind <= Kind::Suite) names.push_back(node.pattern);
  for (const Node& each : node.operands) add_names(each, names);
}

bool needs_table_of(const Node& node) {
  const bool is_of_table = node.kind == Kind::Tag || node.kind == Kind::WorldSize;
  return is_of_table || std::any_of(node.operands.begin(), node.operands.end(), needs_table_of);
}

}  // namespace

FilterExpression::FilterExpression(std::string_view& text) {
  const std::string_view whole = text;
  Parser parser(whole);
  root_ = parser.expression();
  text = parser.rest();
  if (text.starts_with(')')) {
    throw Error(ErrorKind::InvalidArgument,
                "--filter '" + base::one_line(whole) + "': a '(' is missing before the ')'");
  }
}

bool FilterExpression::selects(const FilterSubject& subject) const { return is_selected(root_, subject); }

std::vector<std::string> FilterExpression::names() const {
  std::vector<std::string> names;
  add_names(root_, names);
  return names;
}

bool FilterExpression::needs_table() const { return needs_table_of(root_); }

}  // namespace distrun::runner
