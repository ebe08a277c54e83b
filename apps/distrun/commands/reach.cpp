#include "reach.hpp"

#include <cstdlib>
#include <string_view>

#include <distrun/common/base/shell_words.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::cli {
namespace {

constexpr std::string_view kHost = "{host}";
constexpr std::string_view kNode = "{node}";

std::string gdb_on(const wire::RankStatus& rank) { return "gdb -q -p " + std::to_string(rank.pid); }

}  // namespace

std::string reach_of(const nodes::Engine& engine, const std::string& slurm_job) {
  switch (engine.kind) {
    case nodes::EngineKind::Local: return std::string(kNode);
    case nodes::EngineKind::Command: return engine.command;
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

bool is_here(const std::string& reach) noexcept { return reach == kNode; }

std::string attach_command(const std::string& reach, const wire::RankStatus& rank) {
  if (reach.empty()) return "";
  std::string command = reach.find(kNode) == reach.npos ? reach + " " + std::string(kNode) : reach;
  base::replace_all(command, kHost, base::shell_quoted(rank.host));
  base::replace_all(command, kNode, gdb_on(rank));
  return command;
}

std::string attach_text(const std::string& reach, const wire::RankStatus& rank) {
  const std::string host = base::one_line(rank.host);
  const std::string command = attach_command(reach, rank);
  return "rank " + std::to_string(rank.rank) + " runs on " + host + " (pid " + std::to_string(rank.pid) +
         "), not on this machine, and gdb needs a terminal there; in one, run " +
         (command.empty() ? gdb_on(rank) + " on " + host : base::one_line(command)) +
         "; timeouts are suspended while gdb is attached";
}

}  // namespace distrun::cli
