#pragma once
// Text that came from outside (output of tests, names, messages) made safe to show or to store.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::base {

// Each byte that is not part of valid UTF-8 becomes U+FFFD.
std::string valid_utf8(std::string_view bytes);
// For a terminal: valid UTF-8 in which control characters other than newline and tab are written as
// \x1b, and carriage returns before a newline are dropped. No escape sequence survives.
std::string printable(std::string_view bytes);
// One line: as printable(), with line breaks and tabs and the indentation after them as one space, cut to `limit`
// bytes.
std::string one_line(std::string_view text, std::size_t limit = 200);
std::vector<std::string> split_lines(std::string_view text);
// Quoted so that a POSIX shell reads it as one word; plain words stay as they are.
std::string shell_quoted(std::string_view word);
// `*` any run, `?` any one character, `\` takes the next character as it is.
bool glob_match(std::string_view pattern, std::string_view text);
// "SIGSEGV"; "signal 64" for those without a name.
std::string signal_name(int signal);
// By its name, with or without SIG, or its number. Nothing if there is none.
std::optional<int> try_find_signal(std::string_view name);

}  // namespace distrun::base
