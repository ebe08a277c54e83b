#pragma once
// Values that are owned by this worker.
#include <memory>
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/rpc/calls/worked_on.hpp>
#include <distrun/runtime/rpc/values/reference.hpp>
#include <distrun/runtime/rpc/values/value.hpp>
#include <distrun/runtime/rref/object_streams.hpp>
#include <distrun/runtime/rref/protocol/id.hpp>

namespace distrun::rref {

// A value that is owned here, and exists or is still to be created.
struct OwnedValue final : rpc::WorkedOn {
  OwnedValue(RRefId id_, std::string site_);
  ~OwnedValue() override;

  const RRefId id;
  const std::string site;  // location of the request: "train.cpp:12 (worker0)"
  const base::TimePoint since;
  const future::Future<rpc::Value> future;
  ObjectStreams streams;
  core::RankState& rank;  // the owner

  void end_work(const std::vector<device::Device>& devices) noexcept override;
};

// Called before the calling thread uses an existing value: orders its current streams after the value's creation and
// after the work of earlier calls, and orders later calls after the work of this one.
void begin_work(const std::shared_ptr<OwnedValue>& value);

// Completes a value. Only the first completion has an effect.
class Sink final : public rpc::ResultSink {
 public:
  explicit Sink(std::shared_ptr<OwnedValue> value) : value_(std::move(value)) {}
  void set(const rpc::Value& value) noexcept override;
  void fail(const Error& error) noexcept override;

 private:
  const std::shared_ptr<OwnedValue> value_;
};

// Returns the error for a value that is lost.
Error lost(RRefId r, const std::string& why, int because_of);
// Returns the error for a value if the call that creates it has failed because of `why`: it may exist or not.
Error unconfirmed(const std::string& why);

// Contents of a call's section Owned.
struct OwnedSection {
  RRefId rref;
  ForkId fork;
  std::string site;
};
DISTRUN_FIELDS(OwnedSection, m.rref, m.fork, m.site)

}  // namespace distrun::rref
