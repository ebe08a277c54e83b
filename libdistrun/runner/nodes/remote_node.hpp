#pragma once
// One node as the coordinator sees it: requests and their answers by id, and the frames of its worlds, which it passes
// on. It does not own the link below it (cluster.hpp). Lives on: the coordinator's loop.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <distrun/common/io/one_shot.hpp>
#include <distrun/runner/nodes/clock_offset.hpp>
#include <distrun/runner/nodes/messages.hpp>

namespace distrun::nodes {

class RemoteNode {
 public:
  struct Link {
    // Queues a packed frame. Throws Error{Overloaded} if the node does not read.
    std::function<void(wire::Bytes packed)> send;
    // Returns how far this machine's monotonic clock is ahead of the node's; nothing: not known yet.
    std::function<std::optional<Offset>()> offset;
  };
  // Takes the frames of a world of this node, and its loss.
  class WorldPart {
   public:
    virtual ~WorldPart() = default;
    // Throws Error{InvalidArgument} for nonsense.
    virtual void take(int node, const wire::Frame& frame) = 0;
    virtual void lose(int node, const std::string& why) = 0;
  };
  template <class Answer>
  using Reply = std::shared_ptr<io::OneShot<Answer>>;
  using OnStacks = std::function<void(Collected)>;

  // `address` is that of the host, as other hosts reach it.
  RemoteNode(io::Loop& loop, int number, std::string host, std::string address, Link link)
      : loop_(loop), number_(number), host_(std::move(host)), address_(std::move(address)), link_(std::move(link)) {}

  int number() const noexcept { return number_; }
  const std::string& host() const noexcept { return host_; }
  const std::string& address() const noexcept { return address_; }
  // Why it is lost: "node02 was lost: silent for 1.0 s"; empty: it is not.
  const std::string& lost() const noexcept { return lost_; }
  // Returns how far this machine's clock is ahead of the node's; nothing: not known yet, or any more.
  std::optional<Offset> ahead() const { return link_.offset(); }
  base::Nanoseconds offset() const;
  // Returns a time of the node's clock by this machine's; nothing if it cannot be.
  std::optional<launch::Moment> moment(std::int64_t at_ns) const;

  template <class Message>
  void tell(wire::NodeFrame kind, const Message& message) {
    if (lost_.empty()) link_.send(wire::pack(kind, 0, message));
  }
  // Send the request at once; the answer has an error if the node is lost meanwhile.
  Reply<Listed> list(const std::string& plugin, const wire::ListOrder& order, base::Nanoseconds bound);
  Reply<PreparedAnswer> prepare(const std::string& plugin, Isolation isolation, base::Nanoseconds bound);
  // Asks whether ranks there can have a private /tmp.
  Reply<PreparedAnswer> try_private_tmp();
  // Makes the host busy.
  Reply<PreparedAnswer> begin_load(const launch::LoadPlan& plan);
  Reply<Closed> close();
  // `on_stacks` is called once; with nothing if the node is lost.
  void collect(std::uint32_t world, const launch::StackOrder& order, OnStacks on_stacks);
  void name_stacks(NameRequest request, OnStacks on_stacks);
  void add_world(std::uint32_t number, std::weak_ptr<WorldPart> part);

  // Takes a frame of the node. Throws Error{InvalidArgument} for nonsense: the link must be ended then.
  void take(const wire::Frame& frame);
  // The link is lost: nothing more comes.
  void lose(const std::string& why);

 private:
  template <class Request>
  Reply<PreparedAnswer> ask(wire::NodeFrame kind, Request request);
  std::shared_ptr<WorldPart> find(const wire::Frame& frame);

  io::Loop& loop_;
  const int number_;
  const std::string host_, address_;
  Link link_;
  std::string lost_;
  std::uint32_t last_id_ = 0;
  std::map<std::uint32_t, Reply<Listed>> listings_;
  std::map<std::uint32_t, Reply<PreparedAnswer>> preparations_;
  std::map<std::uint32_t, OnStacks> collections_;
  Reply<Closed> closing_;
  std::map<std::uint32_t, std::weak_ptr<WorldPart>> worlds_;
};

}  // namespace distrun::nodes
