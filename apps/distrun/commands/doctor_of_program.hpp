#pragma once
// Starts a program for `distrun doctor -- PROGRAM` and examines it if it has not ended in time; and what the forms of
// the command share.
#include "examination.hpp"
#include "options/options.hpp"

namespace distrun::cli {

// Prints the examination, or writes it as JSON. Returns the exit code.
int tell_examination(const ExaminedTest& examined, const DoctorOptions& options);
int exit_code_of(runner::doctor::HangFinding finding) noexcept;

// Ends the program and everything that it has started before it returns the exit code. Throws Error{Failed} if the
// program cannot be started.
int doctor_of_program(const DoctorOptions& options);

}  // namespace distrun::cli
