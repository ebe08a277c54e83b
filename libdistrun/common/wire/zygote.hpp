#pragma once
// The messages on descriptor 3 between the coordinator and the lister or zygote that it starts from distrun-rank: with
// a lister, one message each way on a stream socket, ended by closing; with a zygote, packets (common/wire/packet.hpp).
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/wire/codec.hpp>

namespace distrun::wire {

// A request carries 3 descriptors per rank (control socket, stdout, stderr) and the board. SCM_RIGHTS takes 253.
inline constexpr std::int32_t kRanksPerRequest = 80;
inline constexpr std::size_t kPacketSizeMax = 16 << 10;

// Set in a zygote's environment (unless the user has set the variable): large blocks of the plugin's heap become huge
// pages, which a fork copies hundreds of times faster. Ranks remove it again.
inline constexpr char kTunablesVariable[] = "GLIBC_TUNABLES";
inline constexpr char kZygoteTunables[] = "glibc.malloc.hugetlb=1";

// The error type of a rank that the machine denies what it needs before its test, such as a thread. Not a C++ type.
inline constexpr char kCannotBegin[] = "distrun: cannot begin";

// Lister to coordinator.
struct ListReply {
  std::string error;  // why there is no table; empty: there is
  std::string table;  // an encoded PluginTable, not yet checked
};
DISTRUN_FIELDS(ListReply, m.error, m.table)

// Paths of the namespaces with the ranks' own mounts. Empty: ranks have none.
struct MountSpace {
  std::string mounts;
  std::string users;  // empty: ranks keep their user namespace
};
DISTRUN_FIELDS(MountSpace, m.mounts, m.users)

// Sent by the helper that creates them, with descriptors of the mount namespace and, if there is one, of the user
// namespace.
struct MountsMade {
  std::string error;  // why they are missing; empty: success
};
DISTRUN_FIELDS(MountsMade, m.error)

// Zygote to coordinator, once its plugin is loaded. If `unsafe` has a reason, ranks must be started by exec.
struct ZygoteReady {
  std::string error;   // why the plugin could not be loaded; empty: it is
  std::string unsafe;  // "the plugin started 1 thread while loading"
};
DISTRUN_FIELDS(ZygoteReady, m.error, m.unsafe)

struct ForkOrder {
  std::uint64_t tag = 0;  // soft RLIMIT_LOCKS of the ranks, which identifies their descendants
  std::int32_t ranks = 0;
  std::uint64_t files_max = 0;  // soft RLIMIT_NOFILE that the ranks get back; 0: the zygote's
  MountSpace space;
};
DISTRUN_FIELDS(ForkOrder, m.tag, m.ranks, m.files_max, m.space)

struct ForkAnswer {
  std::vector<std::int32_t> pids;  // fewer than requested if a fork failed
  std::int32_t error = 0;          // the errno of that fork
};
DISTRUN_FIELDS(ForkAnswer, m.pids, m.error)

}  // namespace distrun::wire
