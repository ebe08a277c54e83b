#pragma once
// One expression of --filter:
//
//   expression = and { "|" and }            words that follow each other without an operator are separate expressions
//   and        = not { "&" not }
//   not        = "!" not | "(" expression ")" | term
//   term       = [ field ":" ] pattern      field: test, suite, tag, plugin, np
//
// A pattern is a glob (`*`, `?`; `\` takes the next character literally, also an operator or a space):
//
//   pass            without a field, `*`, `?` and dot: a part of the id "Suite.name/key=value,...", in upper or lower
//                   case if the pattern has lower case only
//   Ring.pass       otherwise: the whole id, the id without its parameters, or the suite
//   test:, suite:, tag:     the whole id (also without parameters), suite, or one of the tags
//   plugin:         the plugin's path, its file name, or that without ".so"
//   np:4, np:2-8    the world size
//
// Immutable after construction.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::runner {

// The properties of a test that a filter compares. They are only used during a call.
struct FilterSubject {
  std::string_view suite;
  std::string_view id;
  std::string_view plugin{};               // its path
  const std::vector<std::string>* tags{};  // null: none
  int world_size = 0;                      // 0: unknown, as for tests that are skipped
};

class FilterExpression {
 public:
  enum class Kind : std::uint8_t { Part, Whole, Test, Suite, Tag, Plugin, WorldSize, Not, And, Or };
  struct Node {
    Kind kind = Kind::Part;
    std::string pattern{};         // of Part to Plugin
    int least = 0;                 // of WorldSize
    int most = 0;                  // the same
    std::vector<Node> operands{};  // of Not (one), And and Or (two or more)
  };

  // Reads the first expression of the text and removes it, and the spaces around it, from `text`, which must have one.
  // Throws Error{InvalidArgument} that names the text and what is wrong: a missing operand or parenthesis, an unknown
  // field, a world size that is no number, a `\` at the end, more than 100 nested operators.
  explicit FilterExpression(std::string_view& text);

  bool selects(const FilterSubject& subject) const;
  // Returns the patterns over ids and suites that are not negated, in order.
  std::vector<std::string> names() const;
  // Returns whether it asks for tags or world sizes.
  bool needs_table() const;

 private:
  Node root_;
};

}  // namespace distrun::runner
