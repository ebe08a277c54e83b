#pragma once
// References to values on other workers, as values contain them and calls carry them. The ReferenceService (rref)
// defines what a reference is and how long it lives; this file puts references into messages and takes them out.
//
// An encoded value contains only "reference number 2 of this message". The forks themselves, one for each sent
// reference, are a section of the envelope. So a message that is not decoded, because it is late or malformed, can
// still release the references in it.
//
//   sender     Packing packing(service, to); ...write...; message.sections <- packing.section()
//              withdraws what could not be sent (Forks)
//   receiver   Unpacking unpacking(service, from, message); ...read...
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/wire/buffer.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::base {
class Error;
}

namespace distrun::rpc {

class Value;
struct Section;
struct Message;

// Shared by all copies of the reference in this process.
class Reference {
 public:
  virtual ~Reference() = default;
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  virtual std::string text() const = 0;  // "UserRRef(RRefId = ..., ForkId = ...)"
  // Throws Error{Failed} if the reference can no longer be shared.
  virtual void check_shared() const = 0;

 protected:
  Reference() = default;
};
using ReferencePtr = std::shared_ptr<const Reference>;
using ReferenceVisitor = std::function<void(const ReferencePtr&)>;

// Receives the result of a call that creates a reference: the owner keeps the value, and the caller is only notified.
// Either set() or fail() is called, once.
class ResultSink {
 public:
  virtual ~ResultSink() = default;
  virtual void set(const Value& value) noexcept = 0;
  virtual void fail(const base::Error& error) noexcept = 0;
};

// The references of one session. Thread-safe. Nothing blocks except wait_confirmed().
class ReferenceService {
 public:
  virtual ~ReferenceService() = default;
  // Creates a fork for that worker and returns its encoding. Throws Error{InvalidArgument} for a deleted reference.
  virtual wire::Bytes share(const Reference& reference, WorkerKey to) = 0;
  // Called if the fork was not sent.
  virtual void withdraw(const wire::Bytes& fork, WorkerKey to) noexcept = 0;
  // Called for a received fork. Throws Error{InvalidArgument} for bytes that share() has not written.
  virtual ReferencePtr receive(const WorkerInfo& from, const wire::Bytes& fork) = 0;
  // Waits until the owners have confirmed all references. Throws Error{Timeout}, or the error of a failed reference.
  virtual void wait_confirmed(const std::vector<ReferencePtr>& references, base::TimePoint deadline) = 0;
  // Called when a call arrives that creates a reference here; `section`: its section Owned. May be called twice.
  virtual std::shared_ptr<ResultSink> begin_result(const WorkerInfo& from, const wire::Bytes& section) = 0;
  // Handles a message of the kind Reference. Runs on the thread that reads messages, so it must not run user code.
  virtual void receive_message(const WorkerInfo& from, const wire::Bytes& bytes) = 0;
  // Called when a worker is gone. Afterwards nothing is received from it, only from a successor. Has no effect for an
  // incarnation that a successor has already replaced (meet()). Runs like receive_message().
  virtual void lose(const WorkerInfo& peer, const base::Error& why) noexcept = 0;
  // Called when a worker has joined. An earlier worker of its id is lost then, if it was not before.
  virtual void meet(const WorkerInfo& peer) = 0;
};

// The forks in a message; withdraws them unless the message was sent.
class Forks {
 public:
  Forks() noexcept = default;
  Forks(ReferenceService* service, WorkerKey to) noexcept : service_(service), to_(to) {}
  Forks(Forks&& other) noexcept;
  Forks& operator=(Forks&& other) noexcept;
  ~Forks();

  // Returns the position in the message.
  std::uint32_t add(const Reference& reference);
  bool is_empty() const noexcept { return forks_.empty(); }
  Section section() const;
  void sent() noexcept { forks_.clear(); }

 private:
  void withdraw() noexcept;

  ReferenceService* service_ = nullptr;
  WorkerKey to_;
  std::vector<wire::Bytes> forks_;
};

// Sets, within a scope, the worker to which this thread packs references. `service` null: references are rejected.
class Packing {
 public:
  Packing(ReferenceService* service, WorkerKey to) noexcept;
  ~Packing();
  Packing(const Packing&) = delete;
  Packing& operator=(const Packing&) = delete;
  static Packing* current() noexcept;

  // Throws Error{InvalidArgument} if there is no service, and what share() throws.
  std::uint32_t add(const Reference& reference);
  Forks take() noexcept { return std::move(forks_); }

 private:
  Packing* const before_;
  ReferenceService* const service_;
  Forks forks_;
};

// Sets, within a scope, the message that this thread unpacks. It receives all references of the message at once;
// references that the decoded value does not take are released with the scope.
class Unpacking {
 public:
  // Throws what receive() throws, and Error{InvalidArgument} if there are references but no service.
  Unpacking(ReferenceService* service, const WorkerInfo& from, const Message& message);
  ~Unpacking();
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;
  static Unpacking* current() noexcept;

  // Throws Error{InvalidArgument} if the message has no such reference.
  const ReferencePtr& at(std::uint32_t place) const;
  void wait_confirmed(base::TimePoint deadline) const;

 private:
  Unpacking* const before_;
  ReferenceService* const service_;
  std::vector<ReferencePtr> references_;
};

// Returns whether the message contains references.
bool has_references(const Message& message) noexcept;
// Releases the references of a message that is not decoded.
void drop_references(ReferenceService* service, const WorkerInfo& from, const Message& message) noexcept;

}  // namespace distrun::rpc
