#pragma once
// --filter: selects tests. A pattern is a glob (`*`, `?`, `\` before a literal character) over the whole id
// "Suite.name/key=value,..."; it also matches the id without its parameters, or the suite's name alone. A leading `-`
// excludes. A text may hold several patterns, separated by spaces. A test is selected if no excluding pattern matches
// and, if there are other patterns, one of them does.
#include <string>
#include <string_view>
#include <vector>

namespace distrun::runner {

class Filter {
 public:
  // Selects everything.
  Filter() = default;
  // Throws Error{InvalidArgument} that names the pattern: a lone `-`, a `\` at the end.
  explicit Filter(const std::vector<std::string>& texts);

  bool selects(const std::string& suite, const std::string& id) const;
  // Returns "; did you mean Suite.name?" for the first pattern that misspells one of these ids without parameters or a
  // suite, or that is the name of a test alone; else an empty string.
  std::string hint(const std::vector<std::string>& ids) const;

 private:
  void add(std::string_view pattern);

  std::vector<std::string> including_;
  std::vector<std::string> excluding_;
};

}  // namespace distrun::runner
