#pragma once
// The tables of the history, and how a file is known to hold them: by the application id and the version in its head.
// A file that holds something else is refused as it is, whatever it holds.
//
//   run      one run: when it began, how long it took, where, and how it ended
//   test     a test, by its project, plugin and id; with what the next run wants to know of it at once: the verdict of
//            its newest result that counts (statistics.hpp), and its median duration
//   variant  in how many ranks and with which settings a test ran
//   result   what came of one test in one run; a test's results lie together, oldest first
#include <distrun/runner/history/database.hpp>

namespace distrun::history {

inline constexpr int kSchemaVersion = 2;

// How a change becomes whole. With a log, readers and the writer do not wait for each other, and a change does not wait
// for the disk; but it needs memory that all who use the file share, so they have to be on one host.
enum class Journal { Log, Rollback };

enum class State { Empty, Old, Current };

// An empty file becomes a history, and one of an older distrun one of this: what was known of a test before there were
// projects is taken over by the first that has such a test. Any other file has to be one that this program understands.
// Throws Error{Failed} that says what was found, and what to do.
void prepare(Database& database, Journal journal);
// The same, but the file is left as it is.
State check(Database& database);

}  // namespace distrun::history
