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
// What a rank waits in: the innermost of the waits of its body's own thread, else the longest of another one. Null: in
// nothing.
const ShownWait* main_wait(const Shown& shown);
// "waits in barrier \"x\" for rank 1 at test.cpp:41"; of one that does not wait what it did last; or empty.
std::string doing(const Shown& shown);
// "test.cpp:41"; empty if it is not known
std::string site_of(const ShownWait& wait);

}  // namespace distrun::board
