#pragma once
// Texts for the contents of the board.
#include <string>

#include <distrun/common/base/rank_hosts.hpp>
#include <distrun/common/board/slot_reader.hpp>

namespace distrun::board {

// Returns "barrier \"meet\" for ranks 1, 3", "handler \"f\" #81 of rank 2", "RPC reply \"f\" #81 for rank 0", "receive
// \"go\" for any of ranks 0, 2"; ranks with their `hosts`: "for rank 1 on node02".
std::string describe(const ShownWait& wait, const base::RankHosts& hosts = {});
// Returns "send \"go\" to rank 2".
std::string describe(const ShownOperation& operation, const base::RankHosts& hosts = {});
// Returns the wait of the body's thread. If waits are nested, this is the innermost that names ranks; if none does, the
// outermost of the innermost's kind, since the inner ones are slices of it. Null if the thread does not wait.
const ShownWait* wait_of_body(const Shown& shown);
// The same for the thread of `its`, which is one of the waits of `shown` or a handler that runs for another rank.
const ShownWait* wait_of_thread(const Shown& shown, const ShownWait& its);
// Returns the wait of the rank: that of the body's thread, else that of the thread that has waited longest and runs no
// handler for another rank. Null if it does not wait.
const ShownWait* main_wait(const Shown& shown);
// Returns "waits in barrier \"x\" for rank 1 at test.cpp:41"; without a wait, its last operation, or "".
std::string doing(const Shown& shown);
// Returns "test.cpp:41"; empty if unknown.
std::string site_of(const ShownWait& wait);

}  // namespace distrun::board
