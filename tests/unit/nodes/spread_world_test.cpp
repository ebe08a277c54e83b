#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runner/nodes/node_set.hpp>

namespace distrun::nodes {
namespace {

class NoEvents final : public launch::WorldEvents {
 public:
  void on_rank_started(int, int) override {}
  void on_frame(int, const wire::Frame&) override {}
  void on_connection_lost(int, const std::string&) override {}
  void on_rank_ended(int, proc::ExitStatus, int) override {}
  void on_spawn_failed(const std::string&) override {}
};

// Two nodes with two ranks each. The test reads and answers their frames.
class TwoNodes {
 private:
  std::map<int, wire::FrameSplitter> splitters_{{0, wire::FrameSplitter(wire::kProtocol<wire::NodeFrame>)},
                                                {1, wire::FrameSplitter(wire::kProtocol<wire::NodeFrame>)}};

 public:
  TwoNodes() {
    for (int i = 0; i < 2; ++i) {
      RemoteNode::Link link{[this, i](wire::Bytes packed) { splitters_.at(i).feed(wire::view_of(packed)); },
                            [] { return base::Nanoseconds::zero(); }};
      nodes.push_back(std::make_unique<RemoteNode>(loop, i, "node0" + std::to_string(i), "10.0.0.1", std::move(link)));
    }
    std::vector<SpreadWorld::Part> parts{{nodes[0].get(), 0, 2}, {nodes[1].get(), 2, 2}};
    world = std::make_shared<SpreadWorld>(loop, events, 1, std::move(parts), "tcp://10.0.0.1:4000", nullptr);
  }
  // Returns the last message of that kind to the node.
  template <class Message>
  Message told(int node, wire::NodeFrame kind) {
    Message message;
    while (const auto frame = splitters_.at(node).next()) {
      if (frame->is(kind)) message = payload<Message>(*frame);
    }
    return message;
  }
  template <class Message>
  void answer(int node, wire::NodeFrame kind, const Message& message) {
    nodes[static_cast<std::size_t>(node)]->take({kind, 0, wire::encode(message)});
  }
  void run_loop() {
    loop.post([this] { loop.stop(); });
    loop.run();
  }

  io::Loop loop;
  NoEvents events;
  std::vector<std::unique_ptr<RemoteNode>> nodes;
  std::shared_ptr<SpreadWorld> world;
};

// The answer to a request: each process has a thread with the given name.
Collected named(const NameRequest& request, const std::vector<std::string>& names) {
  Collected collected;
  collected.id = request.id;
  for (std::size_t i = 0; i < names.size(); ++i) {
    evidence::Process process;
    process.index = static_cast<int>(i);
    process.threads.emplace_back().task.name = names[i];
    collected.stacks.processes.push_back(std::move(process));
  }
  return collected;
}

std::map<int, std::string> names_by_index(const evidence::Stacks& stacks) {
  std::map<int, std::string> names;
  for (const evidence::Process& process : stacks.processes) names[process.index] = process.threads.front().task.name;
  return names;
}

}  // namespace

TEST_CASE("stacks named by several hosts keep their positions, in any order of the hosts' answers") {
  TwoNodes two;
  evidence::Stacks got;
  // Two of rank 1, since it may have thrown twice, with one of another host between them.
  two.world->name_stacks("exception", {{1, {}}, {3, {}}, {1, {}}, {2, {}}}, std::chrono::seconds(1),
                         [&](evidence::Stacks stacks) { got = std::move(stacks); });
  const auto first = two.told<NameRequest>(0, wire::NodeFrame::NameStacks);
  const auto second = two.told<NameRequest>(1, wire::NodeFrame::NameStacks);
  REQUIRE(first.stacks.size() == 2);
  REQUIRE(second.stacks.size() == 2);
  CHECK(second.stacks[0].rank == 3);
  two.answer(1, wire::NodeFrame::Collected, named(second, {"of 3", "of 2"}));
  two.answer(0, wire::NodeFrame::Collected, named(first, {"first of 1", "second of 1", "more than was asked for"}));
  two.run_loop();
  CHECK(names_by_index(got) ==
        std::map<int, std::string>{{0, "first of 1"}, {1, "of 3"}, {2, "second of 1"}, {3, "of 2"}});
}

TEST_CASE("a signal goes to the node of the rank") {
  TwoNodes two;
  two.world->signal(1, 15);
  two.world->signal(2, 9);
  CHECK(two.told<SignalOrder>(0, wire::NodeFrame::Signal).rank == 1);
  CHECK(two.told<SignalOrder>(1, wire::NodeFrame::Signal).rank == 2);
}

}  // namespace distrun::nodes
