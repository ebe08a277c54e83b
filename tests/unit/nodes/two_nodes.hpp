#pragma once
// A world of four ranks on two nodes that a test plays: it reads and answers their frames.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runner/nodes/node_set.hpp>

namespace distrun::nodes {

// Writes down what happens to the ranks: "began 1", "output 2 text", "failed why".
class NotedEvents final : public launch::WorldEvents {
 public:
  void on_rank_started(int rank, int /*pid*/) override { notes.push_back("started " + std::to_string(rank)); }
  void on_frame(int /*rank*/, const wire::Frame& /*frame*/) override {}
  void on_connection_lost(int /*rank*/, const std::string& /*why*/) override {}
  void on_rank_ended(int rank, proc::ExitStatus /*status*/, int /*because_of*/) override {
    notes.push_back("ended " + std::to_string(rank));
  }
  void on_spawn_failed(const std::string& why) override { notes.push_back("failed " + why); }
  void on_program(int rank) override { notes.push_back("began " + std::to_string(rank)); }
  void on_output(int rank, launch::Stream /*stream*/, std::string_view bytes) override {
    notes.push_back("output " + std::to_string(rank) + " " + std::string(bytes));
  }

  std::vector<std::string> notes;
};

class TwoNodes {
 private:
  std::array<std::vector<wire::Frame>, 2> frames_;  // first, since the end of the world sends more

 public:
  // Begins ranks of a plugin, unless the test begins others.
  explicit TwoNodes(bool begins = true) {
    for (int i = 0; i < 2; ++i) {
      RemoteNode::Link link{[this, i](wire::Bytes packed) { receive(i, packed); }, [this] { return offset; }};
      nodes.push_back(std::make_unique<RemoteNode>(loop, i, "node0" + std::to_string(i), "10.0.0.1", std::move(link)));
    }
    std::vector<SpreadRanks::Part> parts{{nodes[0].get(), 0, 2}, {nodes[1].get(), 2, 2}};
    const auto make_store = [this] {
      auto store = std::make_shared<const WorldStore>(loop, "127.0.0.1", "secret");
      stores.push_back(store);
      return store;
    };
    world = std::make_shared<SpreadWorld>(loop, events, 1, std::move(parts),
                                          begins ? SpreadWorld::MakeStore(make_store) : SpreadWorld::MakeStore());
    if (begins) world->begin({});
  }

  // Returns the messages of that kind that the node has been sent, and forgets them.
  template <class Message>
  std::vector<Message> all_told(int node, wire::NodeFrame kind) {
    std::vector<Message> messages;
    std::erase_if(frames_[static_cast<std::size_t>(node)], [&](const wire::Frame& frame) {
      if (!frame.is(kind)) return false;
      messages.push_back(payload<Message>(frame));
      return true;
    });
    return messages;
  }
  // Returns the last of them.
  template <class Message>
  Message told(int node, wire::NodeFrame kind) {
    std::vector<Message> messages = all_told<Message>(node, kind);
    return messages.empty() ? Message() : std::move(messages.back());
  }
  template <class Message>
  void answer(int node, wire::NodeFrame kind, const Message& message) {
    nodes[static_cast<std::size_t>(node)]->take({kind, 0, wire::encode(message)});
  }
  void run_loop() {
    loop.post([this] { loop.stop(); });
    loop.run();
    loop.context().restart();
  }

  io::Loop loop;
  NotedEvents events;
  std::optional<Offset> offset = Offset{};
  std::vector<std::unique_ptr<RemoteNode>> nodes;
  std::vector<std::weak_ptr<const WorldStore>> stores;  // all that the world has had
  std::shared_ptr<SpreadWorld> world;

 private:
  void receive(int node, const wire::Bytes& packed) {
    wire::FrameSplitter splitter(wire::kProtocol<wire::NodeFrame>);
    splitter.feed(wire::view_of(packed));
    while (auto frame = splitter.next()) frames_[static_cast<std::size_t>(node)].push_back(std::move(*frame));
  }
};

}  // namespace distrun::nodes
