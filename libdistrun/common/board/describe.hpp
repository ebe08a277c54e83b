#pragma once
// The words for what the board shows.
#include <string>

#include <distrun/common/board/slot_reader.hpp>

namespace distrun::board {

// "barrier \"meet\" for ranks 1, 3", "handler \"f\" #81 of rank 2", "RPC reply \"f\" #81 for rank 0",
// "receive \"go\" for any of ranks 0, 2"
std::string describe(const ShownWait& wait);
// "send \"go\" to rank 2"
std::string describe(const ShownOperation& operation);
// What the body's thread waits in. Of waits inside each other that is the innermost that names ranks; where none does,
// the outermost of those that are of the innermost's kind, since the inner ones are slices of it. Null: in nothing.
const ShownWait* wait_of_body(const Shown& shown);
// The same of the thread that shows `its`, one of the waits of `shown` or what is run there for another rank.
const ShownWait* wait_of_thread(const Shown& shown, const ShownWait& its);
// What a rank waits in: its body's own thread, else the one that has waited longest of those that run nothing for
// another rank. Null: in nothing.
const ShownWait* main_wait(const Shown& shown);
// "waits in barrier \"x\" for rank 1 at test.cpp:41"; of one that does not wait what it did last; or empty.
std::string doing(const Shown& shown);
// "test.cpp:41"; empty if it is not known
std::string site_of(const ShownWait& wait);

}  // namespace distrun::board
