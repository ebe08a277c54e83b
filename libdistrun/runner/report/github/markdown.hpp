#pragma once
// Text that came from outside, made safe to stand in GitHub's Markdown.
#include <string>
#include <string_view>

namespace distrun::report {

// For HTML within Markdown, in a block that begins with a tag and has no empty line: nothing else is read there.
// One line, cut to `limit` bytes before it is escaped.
std::string html_line(std::string_view text, std::size_t limit);

// `text`, printable, in a fence that is longer than any run of backticks in it. Ends in a newline.
std::string code_block(std::string_view text);

}  // namespace distrun::report
