#pragma once
// Describes the result of an attempt; the words are chosen only here. One line each, the first cause first.
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// Describes the outcome of a rank, "killed by signal 11 (SIGSEGV)" or "timed out after 1.0 s"; and its phase, " in the
// test body" or " in exit, after its body had passed".
std::string describe_outcome(const RankRecord& rank);
std::string describe_phase(const RankRecord& rank);
// Returns "in the test body" or "in set-up".
std::string in_phase(wire::Phase phase);

// Describes what a rank did, to follow its name: " failed: token is lost (ring.cpp:41)".
std::string describe_action(const RankRecord& rank);

// Returns the error that decided the outcome: the first that ended the body, else the first; null without errors.
const RankError* decisive_error(const RankRecord& rank);

// Describes the cause of an attempt that has culprits, in one line: "rank 2 failed: token is lost (ring.cpp:41); rank 3
// failed too". Empty if the attempt passed.
std::string describe_cause(const AttemptRecord& attempt);
// Returns whether it is known why the attempt hung: attempt.hang is its cause then.
bool is_explained_hang(const AttemptRecord& attempt);
// Returns whether the cause is just what the only culprit did: a report that shows it needs no message.
bool is_one_action(const AttemptRecord& attempt);
// Returns what the handler of a crashed rank has reported: "null pointer (address 0x0) in f (x.cpp:7)"; or a sanitizer:
// "AddressSanitizer: heap-buffer-overflow, WRITE of size 4 (x.cpp:7)"; or empty.
std::string crash_text(const RankRecord& rank);
// Describes ranks that ended badly after several tests: "rank 1 was killed by signal 11 (SIGSEGV) in exit, after its
// body had passed: null pointer (address 0x0) in f (x.cpp:7), and 2 more ranks ended badly"; or empty.
std::string describe_bad_ends(const AttemptRecord& attempt);
// Describes leaks: "left behind: process 4711 (sleep 100), file /tmp/x".
std::string describe_leaks(const std::vector<Leak>& leaks);

}  // namespace distrun::runner
