#pragma once
// What came of an attempt, in words: the only place where they are chosen. One line each, the first cause first.
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// What became of a rank: "killed by signal 11 (SIGSEGV)", "ran past the bound of 1.0 s"; and where: " in body",
// " in exit, after its body had passed".
std::string describe_outcome(const RankRecord& rank);
std::string describe_phase(const RankRecord& rank);

// What a rank did, to follow its name: " failed: token is lost (ring.cpp:41)".
std::string describe_deed(const RankRecord& rank);

// The error that decided: the first that ended the body, else the first; null: it told none.
const RankError* decisive_error(const RankRecord& rank);

// Of an attempt with a cause and culprits, one line: "rank 2 failed: token is lost (ring.cpp:41); rank 3 failed too".
// Empty if it passed.
std::string describe_cause(const AttemptRecord& attempt);
// Whether that says nothing but what the one culprit did: who tells that needs no message.
bool is_one_deed(const AttemptRecord& attempt);
// What a crashed rank's handler has told: "null pointer (address 0x0) in f (x.cpp:7)"; empty if it told nothing.
std::string crash_text(const RankRecord& rank);
// Of ranks that ended badly after they had run several tests: "rank 1 was killed by signal 11 (SIGSEGV) in exit, after
// its body had passed: null pointer (address 0x0) in f (x.cpp:7), and 2 more ranks ended badly". Empty: none did.
std::string describe_bad_ends(const AttemptRecord& attempt);
// "left behind: process 4711 (sleep 100), file /tmp/x".
std::string describe_leaks(const std::vector<Leak>& leaks);

}  // namespace distrun::runner
