#include <catch2/catch.hpp>

#include <map>
#include <mutex>
#include <thread>

#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/thread_state.hpp>

#include "agent_contract.hpp"

namespace distrun::rpc::testing {

using namespace std::chrono_literals;

namespace {

// Rank states live until the process ends, so all rounds of a case share them.
core::RankState& rank_of(WorkerId id) {
  static std::mutex mutex;
  static auto* const all = new std::map<WorkerId, core::RankState>;
  const std::lock_guard lock(mutex);
  return (*all)[id];
}

std::shared_ptr<Agent> make_agent_of(core::RankState& rank, const AgentSetting& setting) {
  core::ThreadState state;
  state.rank = &rank;
  const core::ThreadStateGuard as_rank(state);
  return make_agent(setting);
}

std::byte byte_of(std::uint64_t id, std::size_t place) { return static_cast<std::byte>(id * 7 + place * 13); }

}  // namespace

AgentSetting setting_of(WorkerId id, int world_size) {
  return {WorkerInfo("worker" + std::to_string(id), id), world_size, "open sesame", 30s};
}

Worker::Worker(const AgentSetting& setting) : Worker(setting, rank_of(setting.worker.id())) {}
Worker::Worker(const AgentSetting& setting, core::RankState& rank)
    : rank_(rank), agent_(make_agent_of(rank_, setting)) {}

Worker::~Worker() {
  inbox_.let_go();
  close();
  INFO(agent_->worker_info().name() << ": " << inbox_.complaints());
  CHECK(inbox_.complaints().empty());
}

void Worker::close(base::Nanoseconds limit) noexcept {
  agent_->close(limit);
  inbox_.is_closed();
}

World::World(int size) {
  for (int id = 0; id < size; ++id) workers_.push_back(std::make_unique<Worker>(id, size));
  for (const auto& worker : workers_) {
    worker->agent().start(worker->inbox());
    for (const auto& other : workers_) worker->agent().add_worker(other->record());
  }
}

void World::replace(int id) {
  auto& place = workers_[static_cast<std::size_t>(id)];
  place = std::make_unique<Worker>(id, static_cast<int>(workers_.size()));
  place->agent().start(place->inbox());
  for (const auto& worker : workers_) {
    place->agent().add_worker(worker->record());
    if (worker == place) continue;
    worker->inbox().forget(id);
    worker->agent().add_worker(place->record());
  }
}

Message message_of(std::uint64_t id, std::size_t payload_size, TensorList tensors) {
  Message message;
  message.id = id;
  message.left = 60s;
  message.sections.push_back({SectionTag::TraceParent, wire::Bytes(id % 50, byte_of(id, 1))});
  message.payload.resize(payload_size);
  for (std::size_t i = 0; i < payload_size; ++i) message.payload[i] = byte_of(id, i);
  message.tensors = std::move(tensors);
  return message;
}

std::string what_is_wrong(const Message& got, std::uint64_t id, std::size_t payload_size) {
  if (got.id != id) return "it is number " + std::to_string(got.id) + ", not " + std::to_string(id);
  if (got.kind != MessageKind::Call) return std::string("it is a ") + name_of(got.kind);
  if (!got.left || *got.left > 60s || *got.left < 10s) return "its time is not what was left";
  const Message sent = message_of(id, payload_size);
  if (got.sections.size() != 1 || got.sections[0].tag != SectionTag::TraceParent ||
      got.sections[0].bytes != sent.sections[0].bytes) {
    return "its section is another";
  }
  if (got.payload.size() != payload_size) return "it has " + std::to_string(got.payload.size()) + " bytes";
  return got.payload == sent.payload ? "" : "its bytes are others";
}

std::string why_gone(Worker& from, WorkerId to) {
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (std::chrono::steady_clock::now() < deadline) {
    try {
      from.send(to, message_of(1, 10));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Disconnected) return error.what();
      if (error.kind() != ErrorKind::Overloaded) throw;
    }
    std::this_thread::yield();
  }
  return "";
}

}  // namespace distrun::rpc::testing
