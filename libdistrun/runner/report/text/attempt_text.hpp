#pragma once
// Explains an attempt's verdict in lines that the console and JUnit share: causes of a hang, culprits with errors,
// other ranks, leaks.
#include <string>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// Returns printable lines that end in newlines, not indented, and bounded for any record.
std::string attempt_text(const runner::AttemptRecord& attempt, const Paint& paint);

// Returns the text after the attempt's message (if empty, `otherwise`), which is omitted if the text contains it.
std::string message_and_text(const runner::AttemptRecord& attempt, const std::string& otherwise, const Paint& paint);

// Puts `indent` before each line of `text`; empty lines stay empty.
std::string indented(std::string_view text, std::string_view indent);

}  // namespace distrun::report
