#pragma once
// Process state that a program inherits and must not depend on. Supervisors, cron jobs and CI agents start programs
// with signals ignored or blocked, standard streams closed, or a umask that takes rights from the owner. All of these
// survive exec, and would lose an exit status, turn a file into a standard stream, or lock distrun out of its
// directories.

namespace distrun::base {

// Call it first in main(), before any thread starts. Unblocks all signals, and resets ignored signals except those that
// users and shells ignore on purpose: SIGHUP (nohup), SIGINT and SIGQUIT (background jobs of scripts), SIGTSTP, SIGTTIN
// and SIGTTOU (a shell without job control). Opens descriptors 0 to 2. Gives the owner access to new files.
void mend_inherited_state();

// Returns whether the signal is ignored. Code that would handle it asks first, and leaves it ignored.
bool is_ignored(int signal) noexcept;

}  // namespace distrun::base
