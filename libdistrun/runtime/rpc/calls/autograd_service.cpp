#include <distrun/runtime/rpc/calls/autograd_service.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>

namespace distrun::rpc {

std::int64_t context_of(const Message& message) noexcept {
  const Section* const section = find_section(message, SectionTag::Autograd);
  if (section == nullptr || section->bytes.size() < sizeof(std::int64_t)) return kNoContext;
  wire::ByteReader bytes(wire::view_of(section->bytes));
  return std::max(bytes.number<std::int64_t>(), kNoContext);
}

std::unique_ptr<Arrival> arrival_of(AutogradService* service, const WorkerInfo& from, const Message& message,
                                    const DeviceMap& back) {
  const Section* const section = find_section(message, SectionTag::Autograd);
  if (section == nullptr) return nullptr;
  if (service == nullptr) {
    throw Error(ErrorKind::InvalidArgument,
                "a message belongs to an autograd context, but this session does not keep any");
  }
  return service->arrive(from, section->bytes, message.tensors, back);
}

}  // namespace distrun::rpc
