#pragma once
// --filter: selects tests. A text holds one or more expressions (filter_expression.hpp), separated by spaces. One that
// begins with `-` excludes. A test is selected if no excluding expression matches and, if there are others, one of them
// does. Immutable after construction.
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runner/plan/filter_expression.hpp>

namespace distrun::runner {

class Filter {
 public:
  // Selects everything.
  Filter() = default;
  // Throws Error{InvalidArgument} that names the text: a lone `-`, or as FilterExpression does.
  explicit Filter(const std::vector<std::string>& texts);

  bool selects(const FilterSubject& subject) const;
  // Returns whether an expression asks for tags or world sizes, which only a plugin's table has.
  bool needs_table() const;
  // Returns "; did you mean Suite.name?" for the first pattern that misspells one of these ids without parameters or a
  // suite, with at most three names; else an empty string.
  std::string hint(const std::vector<std::string>& ids) const;

 private:
  void add(std::string_view text);

  std::vector<FilterExpression> including_;
  std::vector<FilterExpression> excluding_;
};

}  // namespace distrun::runner
