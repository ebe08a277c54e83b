#pragma once
// A rank's endpoint. Delivers messages between the workers that it knows: once, in the order in which a thread has sent
// them, or reports that it cannot. It does not interpret messages.
//
//   created -> started -> closed
//
// Thread-safe, unless a function says otherwise.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/base/process_mark.hpp>
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

// Receives what arrives. The agent calls it on any thread, one call at a time for each peer; messages of this worker to
// itself, if the agent carries them, come side by side. Implementations must not block, and must not run users' code.
class Receiver {
 public:
  // Returns the rest of the work, for a thread that may block; null if nothing is left. A task that finds no thread, or
  // no memory, is destroyed without having run: its destructor must see to it that no worker waits in vain.
  virtual std::unique_ptr<future::HandlerTask> receive(const WorkerInfo& from, Message message) noexcept = 0;
  // Called once, when no message can come from that worker or reach it any more.
  virtual void lose(const WorkerInfo& peer, const base::Error& why) noexcept = 0;

 protected:
  ~Receiver() = default;
};

// Describes how to reach a worker. Its agent creates the address; other workers' agents read it.
struct WorkerRecord {
  WorkerInfo worker;
  std::string address;
};

// How soon the sender needs the answer. An agent uses it to save a wake-up of a peer that is still awake.
enum class Urgency : std::uint8_t {
  Answer,  // at once, by progress()
  Later,
  Whenever,  // no thread waits for it: it is sent with the next message, or when this side is idle
};

class Agent {
 public:
  virtual ~Agent() = default;
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  virtual const WorkerInfo& worker_info() const noexcept = 0;
  // Returns all workers that it knows, its own included, sorted by id.
  virtual std::vector<WorkerInfo> worker_infos() const = 0;

  // Returns this worker's address, for WorkerRecord.
  virtual std::string address() const = 0;
  // Makes a worker known. Replaces one of that id that was lost, has left, or is of an earlier incarnation; the loss of
  // the latter is reported first. Connects when there is something to send. Throws Error{InvalidArgument} for an
  // address that it can't read, and for a worker of an earlier incarnation than the known one.
  virtual void add_worker(const WorkerRecord& record) = 0;
  // The worker has left: messages in flight to it fail, and its end is not reported as a loss. Does nothing if another
  // incarnation has the id.
  virtual void remove_worker(WorkerKey worker) noexcept = 0;
  // Returns whether no agent listens at that address any more: the session of that worker is over, however it ended.
  // False if the worker is there, does not answer, or can't be asked. Must not block for more than a moment. Throws
  // Error{Overloaded} if this process has no descriptors or memory to find out.
  virtual bool is_gone(const WorkerRecord& /*record*/) const { return false; }

  // Call once, before anything else that moves messages. `receiver` must live until close() has returned.
  virtual void start(Receiver& receiver) = 0;
  // Takes the message, which may still be in flight on return. If it cannot be delivered later, lose() reports that.
  // Throws Error{Disconnected} if the worker is lost, can't be reached, or is another incarnation than `to`;
  // Error{Overloaded} if too much is in flight to it; Error{InvalidArgument} for a worker that it does not know, and
  // for tensors that it can't carry.
  virtual void send(WorkerKey to, Message message, Urgency urgency) = 0;
  // Returns whether send() would take a call to that worker now; false while too much is in flight to it.
  virtual bool has_room(WorkerKey /*to*/) const noexcept { return true; }
  // Connects to a worker that the agent has not met, so that its loss is reported, maybe on this thread. Called when
  // the worker's process is reported gone, when the worker has not arrived, and when it was added after it has joined.
  // Must not block; does not affect a live worker.
  virtual void look_after(WorkerKey /*peer*/) noexcept {}
  // Ends the connection to a worker, because memory or threads are missing to take a message of it, or to answer one.
  // Both ends lose each other: lose() reports `why`. Any thread, also from within receive().
  virtual void give_up(WorkerKey /*peer*/, const base::Error& /*why*/) noexcept {}
  // Returns null if messages move without help of waiting threads.
  virtual std::shared_ptr<future::Progress> progress() const noexcept = 0;

  // Sets the reason that peers report when this worker leaves: "worker1 has left: ...", and the rank that caused it
  // (-1: this one). Call it before close(). At most 1 KiB is sent; an agent may ignore it.
  virtual void set_end(const std::string& /*why*/, int /*because_of*/) noexcept {}
  // Delivers messages that were sent before, for at most `limit`, and notifies the peers that this worker leaves.
  // Afterwards nothing is received, and the agent has no thread. Idempotent.
  virtual void close(base::Nanoseconds limit) noexcept = 0;

  // Returns whether send() takes calls of this worker to itself, and all that belongs to them. Otherwise the session
  // passes these on without the agent.
  virtual bool carries_own() const noexcept { return false; }
  // Returns whether messages are passed within the process, with their parcels.
  virtual bool is_by_hand() const noexcept { return false; }

  // Returns "pipe.worker1.transport": "shm", and why other transports were not used.
  virtual std::map<std::string, std::string> debug_info() const = 0;

 protected:
  Agent() = default;
};

// Throws Error{Failed}, with a remedy, if `mark`, of an object of an RPC session, says that this process was forked
// from the session's.
void refuse_forked(const base::ProcessMark& mark, base::Location site);

}  // namespace distrun::rpc
