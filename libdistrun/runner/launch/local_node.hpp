#pragma once
// This machine as a node: listers, a zygote per plugin, worlds. Lives on: the coordinator's loop, on the thread that
// lives as long as the process, because ranks die with the thread that is their parent.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <distrun/runner/launch/local_world.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/launch/tracee_watch.hpp>
#include <distrun/runner/launch/zygote_handle.hpp>

namespace distrun::launch {

struct LocalNodeOptions {
  std::string rank_program;   // path of distrun-rank
  std::string probe_program;  // path of distrun-probe
  std::string run_id;
  std::size_t output_cap = std::size_t{1} << 20;  // bytes kept of each stream of each rank
  std::uint64_t files_max = 0;                    // soft RLIMIT_NOFILE that ranks get back; 0: unchanged
};

class LocalNode final : public Node {
 public:
  LocalNode(io::Loop& loop, LocalNodeOptions options);
  ~LocalNode() override;

  io::Task<wire::PluginTable> list(std::string plugin, wire::ListOrder order, base::Nanoseconds bound) override;
  io::Task<Prepared> prepare(std::string plugin, Isolation isolation, base::Nanoseconds bound) override;
  io::Task<std::shared_ptr<MountSpace>> make_mounts(std::vector<Mount> mounts) override;
  std::shared_ptr<World> spawn(const WorldSpec& spec, WorldEvents& events) override;
  void spare(int pid) override { spared_.insert(pid); }
  void cancel() override;
  void release(const std::string& plugin) override;
  void close() override;

 private:
  void fork_ranks(const std::shared_ptr<LocalWorld>& world, const WorldSpec& spec);
  void fork_some(const std::shared_ptr<LocalWorld>& world, const WorldSpec& spec, ZygoteHandle& zygote, int first,
                 int count);
  void note_silence(const std::string& plugin);
  Probe::Program probe() const { return {options_.probe_program, environment()}; }
  void exec_ranks(const std::shared_ptr<LocalWorld>& world, const WorldSpec& spec);
  void exec_programs(const std::shared_ptr<LocalWorld>& world, const WorldSpec& spec);
  // Returns whether a child is no leftover of the world with this tag: a zygote, or another world's rank or descendant.
  bool is_foreign(std::uint64_t tag, pid_t pid) const;
  ZygoteHandle* find_zygote(const std::string& plugin) const;
  std::vector<std::string> environment() const;

  io::Loop& loop_;
  LocalNodeOptions options_;
  TraceeWatch tracees_;
  std::uint64_t first_tag_;
  std::uint64_t next_tag_;
  std::map<std::string, std::unique_ptr<ZygoteHandle>> zygotes_;
  std::vector<std::weak_ptr<LocalWorld>> worlds_;
  std::set<int> spared_;
  HelperProcess* lister_ = nullptr;               // the current one
  std::map<std::string, int> silences_;           // by plugin: how often its zygotes did not answer
  std::map<std::string, std::string> exec_only_;  // plugins that must not be forked, and why
};

}  // namespace distrun::launch
