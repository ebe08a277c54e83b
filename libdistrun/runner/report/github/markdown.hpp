#pragma once
// Escapes untrusted text for GitHub's Markdown.
#include <string>
#include <string_view>

namespace distrun::report {

// Escapes for HTML within Markdown, in a block that begins with a tag and has no empty line: GitHub parses no Markdown
// there. Returns one line, cut to `limit` bytes before escaping.
std::string html_line(std::string_view text, std::size_t limit);

// Puts the printable form of `text` in a fence longer than any run of backticks in it. Ends in a newline.
std::string code_block(std::string_view text);

}  // namespace distrun::report
