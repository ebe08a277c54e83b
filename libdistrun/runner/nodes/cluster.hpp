#pragma once
// The hosts of a run, from their start to their end: a launcher starts a node on each, the nodes join over links, and
// are then one launch::Node. A host is lost for the rest of the run when its link breaks. Lives on: the coordinator's
// loop.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/io/one_shot.hpp>
#include <distrun/runner/nodes/launcher.hpp>
#include <distrun/runner/nodes/listener.hpp>
#include <distrun/runner/nodes/node_set.hpp>

namespace distrun::nodes {

class Cluster {
 public:
  struct Settings {
    Engine engine;
    std::vector<HostSlot> hosts;
    int per_host = 0;  // as for split_world()
    base::Nanoseconds join_timeout = std::chrono::seconds(30);
    std::string program;    // path of distrun, as the hosts see it
    std::string directory;  // in which ranks run, as the hosts see it
    std::string version;
    Welcome welcome;           // jobs: 0 stands for one per CPU of the hosts
    std::string store_secret;  // of the ranks' stores
    LinkSettings link;
  };

  // `on_ending` is called, from the loop, when the hosts' job ends: "node01 got signal 15 (SIGTERM) from Slurm". May
  // be called for each host. Throws Error{Failed} if it can listen nowhere, or an engine cannot be started.
  Cluster(io::Loop& loop, Settings settings, std::function<void(const std::string& why)> on_ending = {});
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Completes when all hosts have joined. Throws Error{Failed} with a line for each that has not, and the reason.
  io::Task<void> assemble();
  // Makes assemble() fail soon. Does nothing once it is complete.
  void cancel();
  // Usable once assemble() is complete, as is the next.
  NodeSet& nodes() noexcept { return nodes_; }
  // Returns how many tests the hosts expect at the same time.
  int jobs() const noexcept { return jobs_; }
  // Ends the nodes and what has started them. Returns by host what the nodes have found at the end. Bounded.
  io::Task<std::vector<std::pair<std::string, Closed>>> end();

 private:
  std::size_t index_of(const std::string& host) const;
  void on_joined(const Join& join, std::unique_ptr<Link> link);
  void take(std::size_t host, const wire::Frame& frame);
  void on_lost(std::size_t host, std::string why);
  void tell_losses(bool all);
  void tell_loss(std::size_t host, const std::string& why);
  void fail(const std::string& why);
  void complete();
  void welcome_all();
  std::unique_ptr<RemoteNode> make_node(std::size_t host);

  io::Loop& loop_;
  const Settings settings_;
  std::function<void(const std::string& why)> on_ending_;
  const std::string secret_;
  NodeSet nodes_;
  std::vector<std::unique_ptr<Link>> links_;  // by host; null: not joined
  std::vector<std::string> addresses_;        // by host
  std::vector<launch::Resources> resources_;  // by host
  std::size_t joined_ = 0;
  int jobs_ = 1;
  std::vector<std::string> failures_;
  std::map<std::size_t, std::string> losses_;  // by host: not told yet, since its engine may say why
  io::Alarm losses_due_;
  io::OneShot<bool> assembled_;
  io::OneShot<bool> engines_over_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Launcher> launcher_;
};

}  // namespace distrun::nodes
