#pragma once
// Makes text from outside (test output, names, messages) safe to show or to store.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::base {

// Replaces each byte that is not part of valid UTF-8 by U+FFFD.
std::string valid_utf8(std::string_view bytes);
// Returns text for a terminal: valid UTF-8 in which control characters other than newline and tab are written as \x1b,
// and carriage returns before a newline are dropped. No escape sequence survives.
std::string printable(std::string_view bytes);
// Returns one line: like printable(), with each line break or tab and the following indentation replaced by one space,
// cut to `limit` bytes.
std::string one_line(std::string_view text, std::size_t limit = 200);
std::vector<std::string> split_lines(std::string_view text);
// Quotes a word for a POSIX shell; plain words stay as they are.
std::string shell_quoted(std::string_view word);
// `*` matches any run, `?` any one character; `\` takes the next character literally.
bool glob_match(std::string_view pattern, std::string_view text);
// Returns "SIGSEGV", or "signal 64" for a signal without a name.
std::string signal_name(int signal);
// Finds a signal by its number or its name, with or without SIG.
std::optional<int> try_find_signal(std::string_view name);

}  // namespace distrun::base
