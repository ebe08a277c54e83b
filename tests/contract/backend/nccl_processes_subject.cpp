// The backend nccl with ranks that are processes, each of which opens its GPUs itself: virtual ones, or this machine's.
// DISTRUN_CONTRACT_GPUS says which.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/store/file_store.hpp>

#include "backend_contract.hpp"
#include "group_of.hpp"
#include "support/scratch.hpp"
#include "support/skip.hpp"

namespace distrun::collectives {
namespace {

const std::string kCannot = "cannot run here: ";

std::string what_rank_throws(const std::string& path, const GroupInfo& group, const Body& body) {
  device::GpuSettings settings;
  settings.driver = DISTRUN_CONTRACT_GPUS;
  settings.seed = static_cast<std::uint64_t>(group.rank) + 1;
  if (settings.driver == "virtual") settings.devices = group.size();
  device::choose_gpu_driver(settings);
  if (const std::string why = why_no_backend("nccl"); !why.empty()) return kCannot + why;
  if (device::gpu_count() < group.size()) return kCannot + std::to_string(group.size()) + " ranks need as many GPUs";
  FileStore store(path);
  return what_it_throws("nccl", group, store, body);
}

[[noreturn]] void be_rank(int pipe, const std::string& path, const GroupInfo& group, const Body& body) {
  const std::string thrown = what_rank_throws(path, group, body);
  const auto written = ::write(pipe, thrown.data(), thrown.size());
  std::_Exit(written == static_cast<ssize_t>(thrown.size()) ? 0 : 1);
}

std::string read_all(int pipe) {
  std::string text;
  char some[512];
  for (ssize_t got = 0; (got = ::read(pipe, some, sizeof some)) > 0;) text.append(some, static_cast<std::size_t>(got));
  return text;
}

}  // namespace

bool letters_have_tags() { return false; }

std::vector<std::string> run_ranks(int ranks, const Body& body) {
  const testing::Scratch folder;
  std::vector<std::pair<pid_t, int>> members;
  for (int rank = 0; rank < ranks; ++rank) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    const pid_t pid = ::fork();
    if (pid == 0) be_rank(ends[1], folder.path() + "/store", group_of(rank, ranks), body);
    ::close(ends[1]);
    members.emplace_back(pid, ends[0]);
  }
  std::vector<std::string> thrown;
  for (const auto& [pid, pipe] : members) {
    thrown.push_back(read_all(pipe));
    ::close(pipe);
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (status != 0) thrown.back() += "it ended with status " + std::to_string(status);
  }
  testing::skip_case_if(thrown.front().starts_with(kCannot), thrown.front());
  return thrown;
}

}  // namespace distrun::collectives
