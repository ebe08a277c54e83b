#include "reach.hpp"

#include <cstdlib>

#include <distrun/common/base/text.hpp>

namespace distrun::cli {
namespace {

constexpr char kHost[] = "{host}";

std::string with_host(std::string reach, const std::string& host) {
  const std::size_t at = reach.find(kHost);
  return at == std::string::npos ? reach : reach.replace(at, sizeof kHost - 1, base::shell_quoted(host));
}

}  // namespace

std::string reach_of(const nodes::Engine& engine, const std::string& slurm_job) {
  switch (engine.kind) {
    case nodes::EngineKind::Local:
    case nodes::EngineKind::Command: return "";
    case nodes::EngineKind::Ssh: return "ssh -t {host}";
    case nodes::EngineKind::Slurm: break;
  }
  const std::string job = slurm_job.empty() ? "" : " --jobid=" + base::shell_quoted(slurm_job);
  return "srun" + job + " --overlap --nodes=1 --ntasks=1 --nodelist={host} --pty";
}

std::string reach_of(const nodes::Engine& engine) {
  const char* const job = std::getenv("SLURM_JOB_ID");
  return reach_of(engine, job == nullptr ? "" : job);
}

std::string attach_text(const std::string& reach, const wire::RankStatus& rank) {
  const std::string pid = std::to_string(rank.pid);
  const std::string host = base::one_line(rank.host);
  const std::string gdb = "gdb -q -p " + pid;
  const std::string command = reach.empty() ? gdb + " on " + host : base::one_line(with_host(reach, host)) + " " + gdb;
  return "rank " + std::to_string(rank.rank) + " runs on " + host + " (pid " + pid + "), not on this machine; run " +
         command + "; timeouts are suspended while gdb is attached";
}

}  // namespace distrun::cli
