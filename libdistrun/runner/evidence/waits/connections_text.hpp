#pragma once
// All of that as lines for a terminal. First what somebody wants to know who looks at a program that hangs: who waits
// in a circle or for itself, and for whom all others wait; then what every thread waits for, then what connects the
// processes. The same picture gives the same lines.
#include <string>
#include <vector>

#include <distrun/runner/evidence/waits/blocked_on.hpp>
#include <distrun/runner/evidence/waits/connections.hpp>

namespace distrun::evidence {

inline constexpr std::size_t kConnectionLinesMax = 100;

// Without newlines, and without anything that a terminal would obey. At most about `limit` lines; where that is too
// few, a line says what was left out.
std::vector<std::string> connection_lines(const Connections& all, const std::vector<Blocked>& blocked,
                                          std::size_t limit = kConnectionLinesMax);

// "4711 (server) main thread waits in read(5): pipe 8812, whose writing end is held by 4712 (worker) fd 4".
std::string describe(const Connections& all, const Blocked& blocked);

}  // namespace distrun::evidence
