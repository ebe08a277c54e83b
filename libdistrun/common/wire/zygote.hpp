#pragma once
// What the coordinator and the programs it starts from distrun-rank say to each other on descriptor 3: with
// a lister one message each way on a stream socket, ended by closing; with a zygote packets
// (common/wire/packet.hpp).
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/wire/codec.hpp>

namespace distrun::wire {

// A request carries 3 descriptors per rank, control socket, stdout, stderr, and the board. SCM_RIGHTS takes 253.
inline constexpr std::int32_t kRanksPerRequest = 80;
inline constexpr std::size_t kPacketSizeMax = 16 << 10;

// In a zygote's environment (unless the user has set the variable): large blocks of the plugin's heap become huge
// pages, which a fork copies hundreds of times faster. Ranks drop it again.
inline constexpr char kTunablesVariable[] = "GLIBC_TUNABLES";
inline constexpr char kZygoteTunables[] = "glibc.malloc.hugetlb=1";

// The type of the error that a rank sends if the machine denies what it needs before its test, as a thread. No type of
// C++ is called so.
inline constexpr char kCannotBegin[] = "distrun: cannot begin";

// Lister to coordinator.
struct ListReply {
  std::string error;  // why there is no table; empty: there is
  std::string table;  // an encoded PluginTable, not yet checked
};
DISTRUN_FIELDS(ListReply, m.error, m.table)

// The namespaces in which ranks find mounts of their own: paths that they open. Empty: they have none of their own.
struct MountSpace {
  std::string mounts;
  std::string users;  // empty: they keep the user namespace that they have
};
DISTRUN_FIELDS(MountSpace, m.mounts, m.users)

// From the helper that makes them, with descriptors of the mount namespace and, if there is one, of the users'.
struct MountsMade {
  std::string error;  // why there are none; empty: they are made
};
DISTRUN_FIELDS(MountsMade, m.error)

// Zygote to coordinator, once its plugin is loaded. With a reason in `unsafe`, ranks must be started by exec.
struct ZygoteReady {
  std::string error;   // why the plugin could not be loaded; empty: it is
  std::string unsafe;  // "the plugin started 1 thread while loading"
};
DISTRUN_FIELDS(ZygoteReady, m.error, m.unsafe)

struct ForkOrder {
  std::uint64_t tag = 0;  // soft RLIMIT_LOCKS of the ranks, by which their offspring is known
  std::int32_t ranks = 0;
  std::uint64_t files_max = 0;  // soft RLIMIT_NOFILE that the ranks get back; 0: as the zygote has it
  MountSpace space;
};
DISTRUN_FIELDS(ForkOrder, m.tag, m.ranks, m.files_max, m.space)

struct ForkAnswer {
  std::vector<std::int32_t> pids;  // fewer than asked for when a fork failed
  std::int32_t error = 0;          // the errno of that fork
};
DISTRUN_FIELDS(ForkAnswer, m.pids, m.error)

}  // namespace distrun::wire
