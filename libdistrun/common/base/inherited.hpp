#pragma once
// What a program gets from whoever started it and must not depend on. Supervisors, cron jobs and agents of a CI start
// programs with signals ignored or blocked, standard streams closed, a file mask that takes rights from the owner: each
// of these survives exec, and would lose an exit status, make a file of ours somebody's output, or lock us out of our
// own directories.

namespace distrun::base {

// First of all in main, before there is a thread. No signal is blocked any more, and none ignored but those that users
// and shells ignore on purpose: SIGHUP (nohup), SIGINT and SIGQUIT (what a script starts in the background), SIGTSTP,
// SIGTTIN and SIGTTOU (a shell without job control). Descriptors 0 to 2 are open. The owner of new files may use them.
void mend_inherited_state();

// Whoever listens to such a signal asks first, and leaves it alone if so.
bool is_ignored(int signal) noexcept;

}  // namespace distrun::base
