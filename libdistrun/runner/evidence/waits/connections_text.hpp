#pragma once
// Formats connections and waits as lines for a terminal. Comes first what explains a hang: cycles of waits, processes
// that wait for themselves, and the processes that all others wait for. Then the wait of every thread, then the
// connections. The same snapshot gives the same lines.
#include <string>
#include <vector>

#include <distrun/runner/evidence/waits/blocked_on.hpp>
#include <distrun/runner/evidence/waits/connections.hpp>

namespace distrun::evidence {

inline constexpr std::size_t kConnectionLinesMax = 100;

// Lines have no newlines and no terminal control characters. Returns at most about `limit`; a line says what was
// omitted.
std::vector<std::string> connection_lines(const Connections& all, const std::vector<Blocked>& blocked,
                                          std::size_t limit = kConnectionLinesMax);

// Returns "4711 (server) main thread waits in read(5): pipe 8812, writing end held by 4712 (worker) fd 4".
std::string describe(const Connections& all, const Blocked& blocked);

}  // namespace distrun::evidence
