#pragma once
// References to values on other workers, as values hold them and calls carry them. What one is, and what becomes of it,
// is the business of whoever is the service (the room rref); here is how it gets into a message and out of it.
//
// A value that is packed says only "the reference number 2 of this message". The forks themselves, one for each that
// travels, are a section of the envelope: so a message that nobody reads, since it came too late, or what else is in it
// makes no sense, can still give back what it holds.
//
//   sender     Packing packing(service, to); ...write...; message.sections <- packing.section()
//              what could not be sent is withdrawn (Forks)
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

// Shared by all copies of it in this process.
class Reference {
 public:
  virtual ~Reference() = default;
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  virtual std::string text() const = 0;  // "UserRRef(RRefId = ..., ForkId = ...)"
  // Throws Error{Failed} if it can't be shared any more.
  virtual void check_shared() const = 0;

 protected:
  Reference() = default;
};
using ReferencePtr = std::shared_ptr<const Reference>;
using ReferenceVisitor = std::function<void(const ReferencePtr&)>;

// Where the result of a call goes that makes a reference: its owner keeps it, the caller hears only that it is there.
// One of both, once.
class ResultSink {
 public:
  virtual ~ResultSink() = default;
  virtual void set(const Value& value) noexcept = 0;
  virtual void fail(const base::Error& error) noexcept = 0;
};

// Of one session. Any thread; nothing of it may block, but for wait_confirmed().
class ReferenceService {
 public:
  virtual ~ReferenceService() = default;
  // A new fork of it, on its way to that worker, as it travels. Throws Error{InvalidArgument} for one that was deleted.
  virtual wire::Bytes share(const Reference& reference, WorkerKey to) = 0;
  // It was not sent.
  virtual void withdraw(const wire::Bytes& fork, WorkerKey to) noexcept = 0;
  // One has come. Throws Error{InvalidArgument} for what no share() has written.
  virtual ReferencePtr receive(const WorkerInfo& from, const wire::Bytes& fork) = 0;
  // Until the owners know of all of them: throws Error{Timeout}, and what has become of one that can't be.
  virtual void wait_confirmed(const std::vector<ReferencePtr>& references, base::TimePoint deadline) = 0;
  // A call has come that makes a reference here: `section` is its section Owned. May come twice for one reference.
  virtual std::shared_ptr<ResultSink> begin_result(const WorkerInfo& from, const wire::Bytes& section) = 0;
  // A message of the kind Reference; where it is read, so nothing that users wrote may run.
  virtual void receive_message(const WorkerInfo& from, const wire::Bytes& bytes) = 0;
  // A worker is gone: nothing of it is received after that, but of one that takes its place. Of an incarnation that
  // another has followed already (meet()) nothing happens. As receive_message().
  virtual void lose(const WorkerInfo& peer, const base::Error& why) noexcept = 0;
  // A worker has joined. An earlier one of its id is lost with that, if it was not before.
  virtual void meet(const WorkerInfo& peer) = 0;
};

// Forks that are in a message; withdrawn unless it was sent.
class Forks {
 public:
  Forks() noexcept = default;
  Forks(ReferenceService* service, WorkerKey to) noexcept : service_(service), to_(to) {}
  Forks(Forks&& other) noexcept;
  Forks& operator=(Forks&& other) noexcept;
  ~Forks();

  // Its place in the message.
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

// For a scope: references that this thread packs go to that worker. `service` null: they are refused.
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

// For a scope: what this thread unpacks has come in that message. All its references are there from the beginning, and
// those that nobody takes go with the scope.
class Unpacking {
 public:
  // Throws what receive() throws; Error{InvalidArgument} if there are any and no service.
  Unpacking(ReferenceService* service, const WorkerInfo& from, const Message& message);
  ~Unpacking();
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;
  static Unpacking* current() noexcept;

  // Throws Error{InvalidArgument}: the message has no such reference.
  const ReferencePtr& at(std::uint32_t place) const;
  void wait_confirmed(base::TimePoint deadline) const;

 private:
  Unpacking* const before_;
  ReferenceService* const service_;
  std::vector<ReferencePtr> references_;
};

// Whether the message has any.
bool has_references(const Message& message) noexcept;
// Of a message that nobody reads.
void drop_references(ReferenceService* service, const WorkerInfo& from, const Message& message) noexcept;

}  // namespace distrun::rpc
