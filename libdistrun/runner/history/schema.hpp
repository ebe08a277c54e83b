#pragma once
// The tables of the history. The application id and the version in the file's header identify them. A file with other
// contents is refused and left unchanged.
//
//   run      one run: its start, duration, host and exit code
//   test     a test, by its project, plugin and id, with the data that the next run needs: the verdict of its newest
//            result that counts (statistics.hpp), and its median duration
//   variant  the number of ranks and the settings with which a test ran
//   result   the result of one test in one run; a test's results are stored together, oldest first
#include <distrun/runner/history/database.hpp>

namespace distrun::history {

inline constexpr int kSchemaVersion = 2;

// How changes become atomic. With a log, readers and the writer do not wait for each other, and a change does not wait
// for the disk; but the log needs memory shared by all users of the file, so they must be on one host.
enum class Journal { Log, Rollback };

enum class State { Empty, Old, Current };

// Makes a history of an empty file, and updates one of an older distrun: tests recorded before projects existed are
// assigned to the first project that has such a test. Throws Error{Failed} for any other file, saying what was found
// and what to do.
void prepare(Database& database, Journal journal);
// Checks in the same way, but does not change the file.
State check(Database& database);

}  // namespace distrun::history
