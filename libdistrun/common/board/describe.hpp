#pragma once
// The words for what the board shows.
#include <string>

#include <distrun/common/board/slot_reader.hpp>

namespace distrun::board {

// "barrier \"meet\" for ranks 1, 3", "RPC reply \"f\" #81 for rank 0", "receive \"go\" for any of ranks 0, 2"
std::string describe(const ShownWait& wait);
// "send \"go\" to rank 2"
std::string describe(const ShownOperation& operation);
// "test.cpp:41"; empty if it is not known
std::string site_of(const ShownWait& wait);

}  // namespace distrun::board
