#pragma once
// Finds the history: one file per user, unless configured otherwise.
#include <optional>
#include <string>

namespace distrun::history {

// Returns `wish` (from an option; empty: not given), else $DISTRUN_HISTORY, each a path or "off"; else
// $XDG_STATE_HOME/distrun/history.db, else ~/.local/state/distrun/history.db. Empty if the history is off, or neither
// directory is known.
std::optional<std::string> find_place(const std::string& wish = "");

// Ensures that a file exists at `path`, and its directories. Creates missing ones readable by the owner only, the file
// empty; does not change existing ones. Throws Error{Failed} if that fails, or if `path` is not a regular file.
void make_place(const std::string& path);
// Throws only if `path` is not a regular file: SQLite would wait for the writer of a FIFO.
void check_place(const std::string& path);

// Returns true if several hosts may use the file: it is on a network file system, as home directories of clusters.
bool is_shared_by_hosts(const std::string& path);

}  // namespace distrun::history
