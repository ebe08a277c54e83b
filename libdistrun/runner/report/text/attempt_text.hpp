#pragma once
// Why an attempt came to its verdict, in lines that the console and JUnit share: the culprits with
// their errors, what the other ranks came to, what was left behind.
#include <string>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// Lines that end in newlines, printable, not indented; bounded whatever the record holds.
std::string attempt_text(const runner::AttemptRecord& attempt, const Paint& paint);

// The same after the attempt's message, or after `otherwise` if it has none; left out where it says
// no more than the text does.
std::string message_and_text(const runner::AttemptRecord& attempt, const std::string& otherwise, const Paint& paint);

// Each line of `text` after `indent`; empty lines stay empty.
std::string indented(std::string_view text, std::string_view indent);

}  // namespace distrun::report
