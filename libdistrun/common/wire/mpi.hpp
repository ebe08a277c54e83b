#pragma once
// The messages between the coordinator and distrun-pmix, the server by which the ranks of a program find each other and
// form a world of MPI. They are frames on descriptor 3 of distrun-pmix: first one order, then the processes of ranks,
// and what they do. A frame's rank is the rank that did it. The server ends when the coordinator closes the line.
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
  Process = 406,  // to the server: the process of a rank
  Spawned = 407,  // the rank has started processes by MPI_Comm_spawn
  Died = 408,     // one of these has failed
};
inline bool is_known(MpiFrame kind) noexcept { return kind >= MpiFrame::Order && kind <= MpiFrame::Died; }

struct MpiOrder {
  std::string world;       // a name that no other world of this machine has
  std::int32_t ranks = 0;  // from 0 on
  std::string directory;   // an existing one, for the server's files and those of the ranks' MPI
  std::string shared;      // one for memory that ranks share, as they see it
  std::string host;        // the name of this machine
  bool crowded = false;    // there are more ranks than CPUs: those that wait must not spin
  bool may_spawn = false;  // ranks may start others: their processes have all of their environment from the start
};
DISTRUN_FIELDS(MpiOrder, m.world, m.ranks, m.directory, m.shared, m.host, m.crowded, m.may_spawn)

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
  std::string child;  // the process that the rank has spawned, and that has called it: "./worker"; empty: the rank
};
DISTRUN_FIELDS(MpiAborted, m.code, m.child)

struct MpiProcess {
  std::int32_t pid = 0;
};
DISTRUN_FIELDS(MpiProcess, m.pid)

struct MpiSpawned {
  std::string program;
  std::vector<std::int32_t> pids;
  std::string error;  // why not all were started; empty: they were
};
DISTRUN_FIELDS(MpiSpawned, m.program, m.pids, m.error)

struct MpiDied {
  std::string program;
  std::int32_t code = 0;    // its exit code, if it has exited
  std::int32_t signal = 0;  // the signal that has killed it; 0: none
};
DISTRUN_FIELDS(MpiDied, m.program, m.code, m.signal)

struct MpiRefused {
  std::string call;  // "MPI_Comm_spawn"
};
DISTRUN_FIELDS(MpiRefused, m.call)

}  // namespace distrun::wire
