#pragma once
// NCCL's own view of a job. Since 2.24 each process with communicators has a RAS thread (reliability, availability,
// serviceability). The RAS threads of all processes are connected, beside the GPUs, and each of them reports on all
// ranks. The protocol is lines of text; since 2.28.7 the answer can be JSON, and only that is read here.
//
// Any process of the machine may listen at that address. So the answer is not trusted: it is limited in time and in
// size, and ignored unless it is a report as NCCL writes it.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>

namespace distrun::collectives {

struct RasRank {
  int place = 0;     // in the communicator
  int process = -1;  // -1: unknown
  int start = 0;     // an ncclResult_t: the result of its start
  int error = 0;     // an ncclResult_t: an error since
  bool is_aborted = false;
  std::map<std::string, std::uint64_t> calls;  // number begun, by operation: "AllReduce"
};

// A rank without a report on the communicator from its process.
struct RasMissing {
  int place = 0;
  int process = -1;
  std::string host;
  bool is_silent = false;
  bool is_dead = false;
};

struct RasCommunicator {
  std::string hash;
  int size = 0;
  std::vector<RasRank> ranks;
  std::vector<RasMissing> missing;
};

struct RasReport {
  std::string nccl_version;
  std::vector<RasCommunicator> communicators;
};

// Asks the RAS that listens at an address such as "localhost:28028" or "[::1]:28028". Other hosts than localhost are
// numeric, since a name lookup has no time limit. Returns nothing, and sets the reason, if there is no report within
// the limit. Thread-safe.
std::optional<RasReport> ask_ras(const std::string& address, base::Nanoseconds limit, std::string& why_none);

}  // namespace distrun::collectives
