#pragma once
// What NCCL itself knows of a job. Since 2.24 each process that has communicators has a thread for that, its RAS
// (reliability, availability, serviceability): those of all processes talk to each other, beside the GPUs, and whoever
// connects to one of them is told of all ranks. It is asked in lines of text; from 2.28.7 on it can answer in JSON, and
// only that is read here.
//
// Any process of the machine may listen there. So nothing of its answer is trusted: it has a limit in time and in size,
// and what is not a report as NCCL writes it is no answer.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>

namespace distrun::collectives {

struct RasRank {
  int place = 0;     // in the communicator
  int process = -1;  // -1: it is not known
  int start = 0;     // an ncclResult_t: what has become of its start
  int error = 0;     // an ncclResult_t: what has gone wrong since
  bool is_aborted = false;
  std::map<std::string, std::uint64_t> calls;  // begun, by the operation: "AllReduce"
};

// Whose process has not told anything of the communicator.
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

// Of the RAS that listens at "localhost:28028", "[::1]:28028"; hosts other than localhost are numbers, since to look up
// a name has no limit in time. Nothing, and why, if there is no report within the limit. Any thread.
std::optional<RasReport> ask_ras(const std::string& address, base::Nanoseconds limit, std::string& why_none);

}  // namespace distrun::collectives
