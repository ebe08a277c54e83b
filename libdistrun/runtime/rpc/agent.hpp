#pragma once
// A rank's endpoint: carries messages between workers that it knows, each to whom it is for, once, in the order in
// which the calling thread has sent them, or tells that it can't. What messages mean is no business of its own.
//
//   made -> started -> closed
//
// Any thread, unless something else is said.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/future/progress.hpp>
#include <distrun/runtime/rpc/message.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::base {
class Error;
}
namespace distrun::future {
class HandlerTask;
}

namespace distrun::rpc {

// Who gets what arrives. The agent calls it on any thread, one call at a time for each peer, and nothing of it may
// block, or run what users wrote.
class Receiver {
 public:
  // What is left to be done for the message on a thread that may block: empty if it is done with.
  virtual std::unique_ptr<future::HandlerTask> receive(const WorkerInfo& from, Message message) noexcept = 0;
  // Nothing comes from that worker any more, and nothing goes to it; said once.
  virtual void lose(const WorkerInfo& peer, const base::Error& why) noexcept = 0;

 protected:
  ~Receiver() = default;
};

// What others must know of a worker to reach it: made by its agent, understood by theirs.
struct WorkerRecord {
  WorkerInfo worker;
  std::string address;
};

// How soon the sender is going to look for the answer, so that the agent need not ring a peer that is still awake.
enum class Urgency : std::uint8_t {
  Answer,  // at once, by progress()
  Later,
  Whenever,  // nobody waits for it: it goes with what comes next, or when this side rests
};

class Agent {
 public:
  virtual ~Agent() = default;
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  virtual const WorkerInfo& worker_info() const noexcept = 0;
  // All workers that it knows, itself too, by id.
  virtual std::vector<WorkerInfo> worker_infos() const = 0;

  // Of this worker, for the records of others.
  virtual std::string address() const = 0;
  // Makes a worker known. Replaces one of that id that was lost, has left, or is of an earlier incarnation; the loss of
  // the latter is reported first. Connects when there is something to send. Throws Error{InvalidArgument} for an
  // address that it can't read, and for a worker of an earlier incarnation than the one that it knows.
  virtual void add_worker(const WorkerRecord& record) = 0;
  // The worker has left: messages in flight to it fail, and its end is not reported as a loss. Does nothing if another
  // incarnation has the id.
  virtual void remove_worker(WorkerKey worker) noexcept = 0;
  // Returns whether no agent listens at that address any more: the session of that worker is over, however it ended.
  // False if the worker is there, does not answer, or can't be asked. Must not block for more than a moment.
  virtual bool is_gone(const WorkerRecord& /*record*/) const noexcept { return false; }

  // Once, before anything else that moves messages. `receiver` must stay until close() has returned.
  virtual void start(Receiver& receiver) = 0;
  // Takes the message; it may still be on its way when this returns. What can't be brought any more is told by lose().
  // Throws Error{Disconnected} if the worker is lost, can't be reached, or is another incarnation than `to`;
  // Error{Overloaded} if too much is on its way to it; Error{InvalidArgument} for a worker that it does not know, and
  // for tensors that it can't carry.
  virtual void send(WorkerKey to, Message message, Urgency urgency) = 0;
  // Connects to a worker that the agent has not met, so that its loss is reported. Called when the worker's process is
  // said to be gone, or when it has not come. Must not block; a worker that is there stays one.
  virtual void look_after(WorkerKey /*peer*/) noexcept {}
  // Null: messages move without anybody's help.
  virtual std::shared_ptr<future::Progress> progress() const noexcept = 0;

  // Before close(): what its peers are told of why it leaves, "worker1 has left: ..."; at most 1 KiB of it.
  // An agent may keep it to itself.
  virtual void set_end(const std::string& /*why*/) noexcept {}
  // Nothing is received afterwards, and no thread of its own is left; peers are told that it leaves. What was sent
  // before is brought to them, for as long as `limit`. Idempotent.
  virtual void close(base::Nanoseconds limit) noexcept = 0;

  // Whether messages go from hand to hand within the process, parcels and all.
  virtual bool is_by_hand() const noexcept { return false; }

  // "pipe.worker1.transport": "shm", and why others were not taken.
  virtual std::map<std::string, std::string> debug_info() const = 0;

 protected:
  Agent() = default;
};

}  // namespace distrun::rpc
