#pragma once
// The messages between the coordinator and distrun-pmix, the server by which the ranks of a program find each other and
// form a world of MPI. They are frames on descriptor 3 of distrun-pmix: first one order, then what the ranks do. A
// frame's rank is the rank that did it. The server ends when the coordinator closes the line.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/wire/codec.hpp>

namespace distrun::wire {

enum class MpiFrame : std::uint16_t {
  Order = 400,    // to the server; the others from it
  Ready = 401,    // once: ranks may start
  Joined = 402,   // the rank has begun MPI_Init: it has connected to the server
  Left = 403,     // the rank has ended MPI_Finalize
  Aborted = 404,  // the rank has called MPI_Abort
  Refused = 405,  // the rank has called what the server cannot do
};
inline bool is_known(MpiFrame kind) noexcept { return kind >= MpiFrame::Order && kind <= MpiFrame::Refused; }

struct MpiOrder {
  std::string world;       // a name that no other world of this machine has
  std::int32_t ranks = 0;  // from 0 on
  std::string directory;   // an existing one, for the server's files and those of the ranks' MPI
  std::string shared;      // one for memory that ranks share, as they see it
  std::string host;        // the name of this machine
  bool crowded = false;    // there are more ranks than CPUs: those that wait must not spin
};
DISTRUN_FIELDS(MpiOrder, m.world, m.ranks, m.directory, m.shared, m.host, m.crowded)

struct RankVariables {
  std::vector<std::string> variables;  // "KEY=value"
};
DISTRUN_FIELDS(RankVariables, m.variables)

struct MpiReady {
  std::string error;                 // why there is no world; empty: there is
  std::vector<RankVariables> ranks;  // by rank: what it needs in its environment to join
};
DISTRUN_FIELDS(MpiReady, m.error, m.ranks)

struct MpiAborted {
  std::int32_t code = 0;
};
DISTRUN_FIELDS(MpiAborted, m.code)

struct MpiRefused {
  std::string call;  // "MPI_Comm_spawn"
};
DISTRUN_FIELDS(MpiRefused, m.call)

}  // namespace distrun::wire
