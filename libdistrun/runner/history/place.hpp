#pragma once
// Where the history is: one file per user, unless somebody says otherwise.
#include <optional>
#include <string>

namespace distrun::history {

// `wish` (of an option; empty: none), else $DISTRUN_HISTORY, each a path or "off"; else
// $XDG_STATE_HOME/distrun/history.db, else ~/.local/state/distrun/history.db. Nothing if the history is off, or if
// neither of these directories is known.
std::optional<std::string> find_place(const std::string& wish = "");

// Makes sure that there is a file at `path`, empty at first, that its owner alone can read; directories on the way to
// it likewise. What is there already is left as it is.
// Throws Error{Failed} if that cannot be, or if something else than a regular file is there.
void make_place(const std::string& path);
// Throws the latter alone: SQLite would wait for the writer of a FIFO.
void check_place(const std::string& path);

// Whether several hosts may see the file at once: it is on a network file system, as home directories of clusters are.
bool is_shared_by_hosts(const std::string& path);

}  // namespace distrun::history
