#pragma once
// --filter: which tests run. A pattern is a glob (`*`, `?`, `\` for the next character as it is) over
// the whole id "Suite.name/key=value,..."; it also matches by the id without its parameters or by the
// suite's name alone. A leading `-` excludes. Several patterns may stand in one text, separated by
// spaces. A test is selected if no excluding pattern matches and, where there are others, one of them does.
#include <string>
#include <string_view>
#include <vector>

namespace distrun::runner {

class Filter {
 public:
  // Everything.
  Filter() = default;
  // Throws Error{InvalidArgument} that names the pattern: a lone `-`, a `\` at the end.
  explicit Filter(const std::vector<std::string>& texts);

  bool selects(const std::string& suite, const std::string& id) const;
  // Returns "; did you mean Suite.name?" for the first pattern that is a slip of one of these ids without parameters,
  // of a suite, or the name of a test alone; or nothing.
  std::string hint(const std::vector<std::string>& ids) const;

 private:
  void add(std::string_view pattern);

  std::vector<std::string> including_;
  std::vector<std::string> excluding_;
};

}  // namespace distrun::runner
