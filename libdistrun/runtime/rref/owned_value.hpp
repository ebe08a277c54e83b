#pragma once
// Values that are owned here.
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

// A value that is owned here: there, or to be made.
struct OwnedValue final : rpc::WorkedOn {
  OwnedValue(RRefId id_, std::string site_);
  ~OwnedValue() override;

  const RRefId id;
  const std::string site;  // where it was asked for: "train.cpp:12 (worker0)"
  const base::TimePoint since;
  const future::Future<rpc::Value> future;
  ObjectStreams streams;
  core::RankState& rank;  // whose it is

  void end_work(const std::vector<device::Device>& devices) noexcept override;
};

// A value that is there, for whoever works with it on the calling thread: its current streams come after what made it
// and what calls have done with it; and what the call of this thread does with it, others come after.
void begin_work(const std::shared_ptr<OwnedValue>& value);

// Completes one, once; whoever comes second changes nothing.
class Sink final : public rpc::ResultSink {
 public:
  explicit Sink(std::shared_ptr<OwnedValue> value) : value_(std::move(value)) {}
  void set(const rpc::Value& value) noexcept override;
  void fail(const Error& error) noexcept override;

 private:
  const std::shared_ptr<OwnedValue> value_;
};

// What became of a value that can't be had any more.
Error lost(RRefId r, const std::string& why, int because_of);

// What the section Owned of a call says.
struct OwnedSection {
  RRefId rref;
  ForkId fork;
  std::string site;
};
DISTRUN_FIELDS(OwnedSection, m.rref, m.fork, m.site)

}  // namespace distrun::rref
