#include <distrun/runtime/rpc/values/reference.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/message.hpp>

namespace distrun::rpc {
namespace {

thread_local Packing* packing = nullptr;
thread_local Unpacking* unpacking = nullptr;

constexpr std::uint32_t kForkMin = 4;  // bytes on the wire

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorKind::InvalidArgument, "RuntimeError", text); }

std::vector<wire::Bytes> forks_of(const Message& message) {
  std::vector<wire::Bytes> forks;
  const Section* const section = find_section(message, SectionTag::References);
  if (section == nullptr) return forks;
  wire::ByteReader bytes(wire::view_of(section->bytes));
  const std::uint32_t count = bytes.count(kForkMin);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string text = bytes.string();
    const auto* const data = reinterpret_cast<const std::byte*>(text.data());
    forks.emplace_back(data, data + text.size());
  }
  bytes.expect_end();
  return forks;
}

std::vector<ReferencePtr> receive_all(ReferenceService* service, const WorkerInfo& from, const Message& message) {
  std::vector<ReferencePtr> references;
  for (const wire::Bytes& each : forks_of(message)) {
    if (service == nullptr) refuse("a message has references, but this session does not keep any");
    references.push_back(service->receive(from, each));
  }
  return references;
}

}  // namespace

Forks::Forks(Forks&& other) noexcept
    : service_(other.service_), to_(other.to_), forks_(std::exchange(other.forks_, {})) {}

Forks& Forks::operator=(Forks&& other) noexcept {
  if (this == &other) return *this;
  withdraw();
  service_ = other.service_;
  to_ = other.to_;
  forks_ = std::exchange(other.forks_, {});
  return *this;
}

Forks::~Forks() { withdraw(); }

void Forks::withdraw() noexcept {
  for (const wire::Bytes& each : forks_) service_->withdraw(each, to_);
  forks_.clear();
}

std::uint32_t Forks::add(const Reference& reference) {
  forks_.reserve(forks_.size() + 1);
  forks_.push_back(service_->share(reference, to_));
  return static_cast<std::uint32_t>(forks_.size() - 1);
}

Section Forks::section() const {
  wire::ByteWriter bytes;
  bytes.number(static_cast<std::uint32_t>(forks_.size()));
  for (const wire::Bytes& each : forks_) {
    bytes.string({reinterpret_cast<const char*>(each.data()), each.size()});
  }
  return {SectionTag::References, bytes.take()};
}

Packing::Packing(ReferenceService* service, WorkerKey to) noexcept
    : before_(std::exchange(packing, this)), service_(service), forks_(service, to) {}

Packing::~Packing() { packing = before_; }

Packing* Packing::current() noexcept { return packing; }

std::uint32_t Packing::add(const Reference& reference) {
  reference.check_shared();
  if (service_ == nullptr) refuse("a reference can't be sent: this session does not keep any");
  return forks_.add(reference);
}

Unpacking::Unpacking(ReferenceService* service, const WorkerInfo& from, const Message& message)
    : before_(unpacking), service_(service), references_(receive_all(service, from, message)) {
  unpacking = this;
}

Unpacking::~Unpacking() { unpacking = before_; }

Unpacking* Unpacking::current() noexcept { return unpacking; }

const ReferencePtr& Unpacking::at(std::uint32_t place) const {
  if (place >= references_.size()) {
    refuse("a message speaks of its reference " + std::to_string(place) + " and has " +
           std::to_string(references_.size()));
  }
  return references_[place];
}

void Unpacking::wait_confirmed(base::TimePoint deadline) const {
  if (!references_.empty()) service_->wait_confirmed(references_, deadline);
}

bool has_references(const Message& message) noexcept {
  return find_section(message, SectionTag::References) != nullptr;
}

void drop_references(ReferenceService* service, const WorkerInfo& from, const Message& message) noexcept {
  if (service == nullptr || !has_references(message)) return;
  try {
    receive_all(service, from, message);
  } catch (const std::exception&) {
    return;  // an invalid fork holds nothing
  }
}

}  // namespace distrun::rpc
