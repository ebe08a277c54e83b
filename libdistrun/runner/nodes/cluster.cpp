#include <distrun/runner/nodes/cluster.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::nodes {
namespace {

constexpr auto kCloseBound = std::chrono::seconds(5);
// A connection closes before the engine of its node has ended, which then says why.
constexpr auto kWordsPatience = std::chrono::milliseconds(300);
constexpr const char* kClosed = "closed";  // as a link says it

std::vector<std::string> names_of(const std::vector<HostSlot>& hosts) {
  std::vector<std::string> names;
  for (const HostSlot& host : hosts) names.push_back(host.name);
  return names;
}

int jobs_for(const std::vector<launch::Resources>& hosts) {
  int cpus = 0;
  for (const launch::Resources& host : hosts) cpus += host.cpus;
  return std::clamp(cpus, 1, static_cast<int>(kJobsMax));
}

// Nodes on this machine need no other address than loopback.
std::vector<std::string> addresses_for(const Engine& engine) {
  if (engine.kind == EngineKind::Local) return {"127.0.0.1"};
  std::vector<std::string> addresses = addresses_of_this_machine();
  if (addresses.empty()) addresses.emplace_back("127.0.0.1");
  return addresses;
}

std::vector<std::string> texts_of(const std::vector<Place>& places) {
  std::vector<std::string> texts;
  for (const Place& place : places) texts.push_back(text_of(place));
  return texts;
}

}  // namespace

Cluster::Cluster(io::Loop& loop, Settings settings, std::function<void(const std::string& why)> on_ending)
    : loop_(loop),
      settings_(std::move(settings)),
      on_ending_(std::move(on_ending)),
      secret_(base::random_hex(64)),
      nodes_(loop, settings_.per_host,
             [this] {
               return std::make_shared<WorldStore>(loop_, links_.front()->local_address(), settings_.store_secret);
             }),
      links_(settings_.hosts.size()),
      addresses_(settings_.hosts.size()),
      resources_(settings_.hosts.size()),
      losses_due_(loop, [this] { tell_losses(true); }),
      assembled_(loop),
      engines_over_(loop) {
  Listener::Settings listening;
  listening.addresses = addresses_for(settings_.engine);
  listening.secret = secret_;
  listening.version = settings_.version;
  listening.hosts = names_of(settings_.hosts);
  listening.link = settings_.link;
  listener_ = std::make_unique<Listener>(
      loop, std::move(listening),
      Listener::Handlers{[this](const Join& join, std::unique_ptr<Link> link) { on_joined(join, std::move(link)); },
                         [this](const std::string& why) { fail(why); }});
  Launcher::Settings launching;
  launching.engine = settings_.engine;
  launching.hosts = names_of(settings_.hosts);
  launching.node = {settings_.program, texts_of(listener_->places()), settings_.directory};
  launching.secret = secret_ + " " + settings_.welcome.run_id;
  launching.join_timeout = settings_.join_timeout;
  launcher_ = std::make_unique<Launcher>(
      loop, std::move(launching),
      Launcher::Handlers{[this](const std::vector<Launcher::Failure>& failures) {
                           for (const auto& each : failures) fail(each.why);
                         },
                         [this] { engines_over_.set(true); }, [this] { tell_losses(false); }});
}

Cluster::~Cluster() = default;

std::size_t Cluster::index_of(const std::string& host) const {
  const auto found = std::find_if(settings_.hosts.begin(), settings_.hosts.end(),
                                  [&host](const HostSlot& slot) { return slot.name == host; });
  return static_cast<std::size_t>(found - settings_.hosts.begin());
}

void Cluster::on_joined(const Join& join, std::unique_ptr<Link> link) {
  const std::size_t host = index_of(join.host);
  addresses_[host] = link->peer_address();
  resources_[host] = join.resources;
  link->follow({[this, host](const wire::Frame& frame) { take(host, frame); },
                [this, host](const std::string& why) { on_lost(host, why); }});
  links_[host] = std::move(link);
  launcher_->joined(join.host);
  if (++joined_ == links_.size()) complete();
}

// The nodes get their places in the order of the hosts, which is that of the ranks.
void Cluster::complete() {
  for (std::size_t i = 0; i < links_.size(); ++i) nodes_.add(make_node(i), settings_.hosts[i], resources_[i]);
  welcome_all();
  if (!assembled_.is_set()) assembled_.set(true);
}

// How many tests run at the same time may depend on what all hosts have.
void Cluster::welcome_all() {
  Welcome welcome = settings_.welcome;
  if (welcome.jobs == 0) welcome.jobs = jobs_for(resources_);
  welcome.in_job = settings_.engine.kind == EngineKind::Slurm;
  jobs_ = welcome.jobs;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    nodes_.at(static_cast<int>(i)).tell(wire::NodeFrame::Welcome, welcome);
}

std::unique_ptr<RemoteNode> Cluster::make_node(std::size_t host) {
  // A world may outlive its link, which end() destroys.
  const auto send = [this, host](wire::Bytes packed) {
    try {
      if (links_[host]) links_[host]->send(std::move(packed));
    } catch (const Error&) {
      on_lost(host, "its node does not read what it is sent");
    }
  };
  const auto offset = [this, host] {
    std::optional<Offset> ahead = links_[host] ? links_[host]->offset() : std::nullopt;
    if (ahead) ahead->offset = -ahead->offset;  // of this machine's clock
    return ahead;
  };
  RemoteNode::Link ends{send, offset};
  return std::make_unique<RemoteNode>(loop_, static_cast<int>(host), settings_.hosts[host].name, addresses_[host],
                                      std::move(ends));
}

void Cluster::take(std::size_t host, const wire::Frame& frame) {
  if (!frame.is(wire::NodeFrame::Ending)) return nodes_.at(static_cast<int>(host)).take(frame);
  const int signal = payload<Ending>(frame).signal;
  if (!on_ending_) return;
  on_ending_(settings_.hosts[host].name + " got signal " + std::to_string(signal) + " (" + base::signal_name(signal) +
             ") from Slurm");
}

// Told later, never in a call: an attempt may be in the middle of an order to the node.
void Cluster::on_lost(std::size_t host, std::string why) {
  const bool may_say_more = why == kClosed && !launcher_->has_ended(settings_.hosts[host].name);
  launcher_->lost(settings_.hosts[host].name);
  losses_.emplace(host, std::move(why));
  if (!may_say_more) {
    losses_due_.set(loop_.clock().now());
  } else if (losses_.size() == 1) {
    losses_due_.set_after(kWordsPatience);
  }
}

void Cluster::tell_losses(bool all) {
  for (const auto& [host, why] : std::map(losses_)) {
    if (!all && !launcher_->has_ended(settings_.hosts[host].name)) continue;
    losses_.erase(host);
    tell_loss(host, why == kClosed ? "its node ended" : why);
  }
}

void Cluster::tell_loss(std::size_t host, const std::string& why) {
  const std::string& name = settings_.hosts[host].name;
  const std::string words = launcher_->words_about(name);
  const std::string text = words.empty() ? why : why + "; " + words;
  if (nodes_.size() == 0) return fail(name + " was lost before the run began: " + text);
  nodes_.at(static_cast<int>(host)).lose(text);
}

void Cluster::fail(const std::string& why) {
  failures_.push_back(why);
  if (!assembled_.is_set()) assembled_.set(false);
}

void Cluster::cancel() {
  if (!assembled_.is_set()) fail("the run was stopped before all hosts had joined");
}

io::Task<void> Cluster::assemble() {
  const bool is_complete = co_await assembled_.wait();
  if (is_complete) co_return;
  std::string text;
  for (const std::string& each : failures_) text += (text.empty() ? "" : "\n") + each;
  throw Error(ErrorKind::Failed, text);
}

io::Task<std::vector<std::pair<std::string, Closed>>> Cluster::end() {
  std::vector<std::pair<std::string, Closed>> found;
  if (nodes_.size() > 0) {
    std::vector<Closed> closed = co_await nodes_.close_all(kCloseBound);
    for (std::size_t i = 0; i < closed.size(); ++i) {
      found.emplace_back(settings_.hosts[i].name, std::move(closed[i]));
    }
  }
  listener_.reset();  // a node that has not joined yet is not wanted any more
  for (std::unique_ptr<Link>& link : links_) link.reset();
  launcher_->end();
  if (!launcher_->has_ended()) co_await engines_over_.wait();
  co_return found;
}

}  // namespace distrun::nodes
