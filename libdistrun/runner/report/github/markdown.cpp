#include <distrun/runner/report/github/markdown.hpp>

#include <algorithm>

#include <distrun/common/base/text.hpp>

namespace distrun::report {
namespace {

std::size_t longest_run(std::string_view text, char wanted) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == wanted ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string html_line(std::string_view text, std::size_t limit) {
  std::string out;
  for (const char c : base::one_line(text, limit)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string code_block(std::string_view text) {
  std::string content = base::printable(text);
  const std::string fence(std::max<std::size_t>(longest_run(content, '`') + 1, 3), '`');
  if (!content.ends_with('\n')) content += '\n';
  return fence + "text\n" + content + fence + "\n";
}

}  // namespace distrun::report
