#include <distrun/runtime/rpc/values/serializer.hpp>

#include <atomic>

#include <distrun/runtime/rpc/compat.hpp>

namespace distrun::rpc {
namespace {

class DefaultSerializer final : public Serializer {
 public:
  Packed pack(const Value& value) const override { return rpc::pack(value); }
  Value unpack(const Packed& packed) const override { return rpc::unpack(packed); }
};

const DefaultSerializer the_default;
constinit std::atomic<const Serializer*> serializer_in_use{nullptr};  // null: the default

}  // namespace

const Serializer& default_serializer() noexcept { return the_default; }
const Serializer& current_serializer() noexcept {
  const Serializer* const set = serializer_in_use.load(std::memory_order_acquire);
  return set != nullptr ? *set : the_default;
}

UseSerializer::UseSerializer(const Serializer& serializer) noexcept
    : before_(serializer_in_use.exchange(&serializer)) {}
UseSerializer::~UseSerializer() { serializer_in_use.store(before_); }

}  // namespace distrun::rpc
