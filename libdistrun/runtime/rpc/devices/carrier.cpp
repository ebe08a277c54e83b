#include <distrun/runtime/rpc/devices/carrier.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/devices/packing.hpp>
#include <distrun/runtime/rpc/devices/parcel.hpp>

namespace distrun::rpc {
namespace {

constexpr const char* kChannelNames[] = {"copy", "ipc", "staged"};

// Contents of a message of kind Devices.
struct WasRead {
  std::uint64_t transfer = 0;
};
DISTRUN_FIELDS(WasRead, m.transfer)

// DISTRUN_RPC_DEVICE_HANDLES=0 disables handles: for comparisons, and for machines that cannot open them.
bool are_handles_allowed() {
  const char* const value = std::getenv("DISTRUN_RPC_DEVICE_HANDLES");
  return value == nullptr || std::string(value) != "0";
}

std::shared_ptr<const DeviceParcel> parcel_of(std::vector<Span> spans, std::shared_ptr<LocalReads> reads) {
  auto parcel = std::make_shared<DeviceParcel>();
  parcel->reads = std::move(reads);
  std::set<device::Device> devices;
  for (const Span& each : spans) devices.insert(each.storage->device());
  for (const device::Device device : devices) parcel->made.emplace_back().record(device::current_stream(device));
  parcel->spans = std::move(spans);
  return parcel;
}

// Copies on the current streams of the targets, after the memory is ready.
std::vector<tensor::Ref<tensor::Storage>> copies_of(const DeviceParcel& parcel, const SentDevices& section,
                                                    WorkerKey reader) {
  if (parcel.spans.size() != section.spans.size()) {
    throw Error(ErrorKind::InvalidArgument, "a message has other memory with it than it says");
  }
  std::vector<tensor::Ref<tensor::Storage>> copies;
  for (std::size_t i = 0; i < parcel.spans.size(); ++i) {
    const Span& span = parcel.spans[i];
    const device::Stream stream = device::current_stream(received(section.spans[i].target));
    for (const device::Event& each : parcel.made) each.block(stream);
    copies.push_back(tensor::Storage::make(stream.device(), span.bytes()));
    stream.driver().copy(stream.ref(), copies.back()->data(), span.data(), span.bytes());
    span.storage->record_stream(stream);
    parcel.reads->note(reader, stream);
  }
  return copies;
}

}  // namespace

DeviceCarrier::DeviceCarrier(Settings settings)
    : settings_(std::move(settings)), may_use_handles_(are_handles_allowed()) {}

std::shared_ptr<DeviceCarrier> DeviceCarrier::make(Settings settings) {
  std::shared_ptr<DeviceCarrier> made(new DeviceCarrier(std::move(settings)));
  made->imports_ = std::make_shared<DeviceImports>(
      made->events_,
      [weak = made->weak_from_this(), post = made->settings_.post](WorkerKey from, std::uint64_t number) {
        post([weak, from, number] {
          if (const auto self = weak.lock()) self->tell_read(from, number);
        });
      });
  return made;
}

void DeviceCarrier::set_site(const WorkerInfo& worker, DeviceSite site) {
  const std::lock_guard lock(mutex_);
  std::erase_if(peers_, [&](const auto& each) { return each.first.id == worker.id(); });
  peers_[worker.key()] = {worker.name(), std::move(site), {}};
}

DeviceSite DeviceCarrier::site_of(WorkerKey worker) const {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(worker);
  return found == peers_.end() ? DeviceSite() : found->second.site;
}

void DeviceCarrier::add_devices(const std::vector<device::Device>& devices) {
  const std::lock_guard lock(mutex_);
  for (const device::Device each : devices) {
    if (!each.is_cpu() && std::find(devices_.begin(), devices_.end(), each) == devices_.end()) devices_.push_back(each);
  }
  std::sort(devices_.begin(), devices_.end());
  has_devices_ = !devices_.empty();
}

std::vector<device::Device> DeviceCarrier::devices() const {
  if (!has_devices()) return {};
  const std::lock_guard lock(mutex_);
  return devices_;
}

std::shared_ptr<StreamLease> DeviceCarrier::lease(const std::vector<device::Device>& devices) const {
  return devices.empty() ? nullptr : std::make_shared<StreamLease>(streams_, devices);
}

std::shared_ptr<StreamLease> DeviceCarrier::lease_for(const Message& message) const {
  std::vector<device::Device> wanted = devices();
  for (const device::Device each : devices_named_in(message)) {
    if (std::find(wanted.begin(), wanted.end(), each) == wanted.end()) wanted.push_back(each);
  }
  return lease(wanted);
}

std::string DeviceCarrier::why_no_ipc(const DeviceSite& site) const {
  if (!may_use_handles_) return "DISTRUN_RPC_DEVICE_HANDLES=0";
  return why_no_handles(site_of(settings_.self.key()), site);
}

DeviceCarrier::Channel DeviceCarrier::channel_to(WorkerKey to, const DeviceSite& site) const {
  if (to == settings_.self.key() || settings_.is_by_hand) return Channel::Copy;
  return why_no_ipc(site).empty() ? Channel::Ipc : Channel::Staged;
}

void DeviceCarrier::count(WorkerKey to, Channel channel, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(to);
  if (found != peers_.end()) found->second.bytes_out[static_cast<std::size_t>(channel)] += bytes;
}

DeviceCarrier::Kept DeviceCarrier::pack(Message& message, const DeviceMap& map, const WorkerInfo& to) {
  const auto is_on_gpu = [](const Tensor& each) { return !each.device().is_cpu(); };
  std::vector<SentRead> reads = imports_->reads_of(to.key());
  if (map.empty() && reads.empty() && std::none_of(message.tensors.begin(), message.tensors.end(), is_on_gpu))
    return {};
  const DeviceSite own = site_of(settings_.self.key()), there = site_of(to.key());
  const Channel channel = channel_to(to.key(), there);
  const auto can_read = [&](device::Device device) {
    return channel == Channel::Copy || (channel == Channel::Ipc && own_number_of(there, own, device.index));
  };
  const TensorList tensors = message.tensors;
  PackedTensors packed = pack_tensors(message, map, to.name(), can_read);
  std::uint64_t apart_bytes = 0;
  for (const Span& each : packed.apart) apart_bytes += each.bytes();
  Kept kept;
  if (!packed.apart.empty() && channel == Channel::Copy) {
    message.parcel = parcel_of(std::move(packed.apart), reads_);
  } else if (!packed.apart.empty()) {
    try {
      exports_.keep(to.key(), std::move(packed.apart), packed.section);
      kept = Kept(&exports_, to.key(), packed.section.transfer);
    } catch (const Error& why) {
      if (why.kind() != ErrorKind::Overloaded) throw;
      apart_bytes = 0;  // too many transfers are in flight: stages this one through the host
      message.tensors = tensors;
      packed = pack_tensors(message, map, to.name(), [](device::Device) { return false; });
    }
  }
  count(to.key(), channel, apart_bytes);
  count(to.key(), Channel::Staged, packed.staged_bytes);
  packed.section.reads = std::move(reads);
  message.sections.push_back({SectionTag::Devices, wire::encode(packed.section)});
  return kept;
}

DeviceMap DeviceCarrier::unpack(Message& message, const WorkerInfo& from) {
  DeviceMap back;
  const Section* const found = find_section(message, SectionTag::Devices);
  if (found == nullptr) return back;
  const auto section = wire::decode<SentDevices>(wire::view_of(found->bytes));
  std::vector<tensor::Ref<tensor::Storage>> copies;
  if (message.parcel != nullptr) {
    copies = copies_of(*message.parcel, section, settings_.self.key());
    message.parcel = nullptr;
  } else if (section.transfer != 0) {
    copies = read(section, from);
  }
  unpack_tensors(message, section, copies);
  follow_reads(section, from);
  for (const SentPair& pair : section.map) back.emplace(received(pair.to), received(pair.from));
  std::erase_if(message.sections, [](const Section& each) { return each.tag == SectionTag::Devices; });
  return back;
}

// The event of a finished transfer may have been reused, so only open transfers count.
void DeviceCarrier::follow_reads(const SentDevices& section, const WorkerInfo& from) {
  std::vector<SentEvent> open;
  for (const SentRead& each : section.reads) {
    if (exports_.is_open(from.key(), each.transfer)) open.push_back(each.read);
  }
  imports_->follow_reads(open, site_of(settings_.self.key()), site_of(from.key()), devices());
}

void DeviceCarrier::follow_reads(WorkerKey worker) {
  if (reads_->has(worker)) reads_->follow(worker, devices());
}

// If reading fails, the sender need not keep the memory.
std::vector<tensor::Ref<tensor::Storage>> DeviceCarrier::read(const SentDevices& section, const WorkerInfo& from) {
  imports_->refuse_second(from.key(), section.transfer);
  try {
    return imports_->read(from.key(), section, site_of(settings_.self.key()), site_of(from.key()));
  } catch (Error& why) {
    tell_read(from.key(), section.transfer);
    why.while_doing("reading device memory of " + from.name());
    throw;
  }
}

void DeviceCarrier::discard(const Message& message, const WorkerInfo& from) noexcept {
  try {
    const Section* const found = find_section(message, SectionTag::Devices);
    if (found == nullptr) return;
    const auto section = wire::decode<SentDevices>(wire::view_of(found->bytes));
    if (section.transfer != 0) settings_.tell(from.key(), wire::encode(WasRead{section.transfer}));
  } catch (const std::exception&) {
    return;  // the sender is gone, or has sent an invalid section
  }
}

void DeviceCarrier::tell_read(WorkerKey from, std::uint64_t transfer) noexcept {
  try {
    imports_->settle(from, transfer);
    settings_.tell(from, wire::encode(WasRead{transfer}));
  } catch (const std::exception&) {
    return;  // the sender is gone, and no longer needs its memory
  }
}

void DeviceCarrier::receive(const WorkerInfo& from, const wire::Bytes& bytes) {
  exports_.release(from.key(), wire::decode<WasRead>(wire::view_of(bytes)).transfer);
}

void DeviceCarrier::lose(const WorkerInfo& worker) noexcept {
  exports_.lose(worker.key(), site_of(worker.key()).pid);
  try {
    // The loss is reported to those that wait for the memory. Streams that wait for the lost peer would report it to
    // later users as well, so they are replaced.
    for (const device::Stream stream : imports_->lose(worker.key())) streams_->replace(stream);
  } catch (const Error&) {
    return;  // no streams are available; the next user that asks for one gets the error
  }
}

void DeviceCarrier::finish(base::TimePoint deadline) noexcept {
  const board::WaitInfo info{
      board::WaitKind::RpcReply, "tensors on devices to be read", board::PeerRule::None, {}, 0, {}};
  core::poll_for_peers(info, deadline, std::chrono::milliseconds(5),
                       [&] { return exports_.count() == 0 && imports_->count() == 0; });
}

void DeviceCarrier::add_debug_info(std::map<std::string, std::string>& info) const {
  std::map<WorkerKey, Peer> peers;
  {
    const std::lock_guard lock(mutex_);
    if (devices_.empty()) return;
    peers = peers_;
  }
  for (const auto& [id, peer] : peers) {
    const std::string key = "devices." + peer.name;
    const Channel channel = channel_to(id, peer.site);
    info[key + ".channel"] = kChannelNames[static_cast<std::size_t>(channel)];
    const std::string why = why_no_ipc(peer.site);
    if (channel == Channel::Staged) info[key + ".not_taken.ipc"] = why;
    for (std::size_t i = 0; i < kChannels; ++i) {
      if (peer.bytes_out[i] != 0) info[key + ".bytes_out." + kChannelNames[i]] = std::to_string(peer.bytes_out[i]);
    }
  }
}

bool is_packed(const Message& message) noexcept { return find_section(message, SectionTag::Devices) != nullptr; }

bool has_packed_tensors(const Message& message) noexcept {
  const Section* const found = find_section(message, SectionTag::Devices);
  if (found == nullptr) return false;
  try {
    return !wire::decode<SentDevices>(wire::view_of(found->bytes)).tensors.empty();
  } catch (const Error&) {
    return true;  // the receiver reports the error
  }
}

std::vector<device::Device> devices_named_in(const Message& message) {
  std::vector<device::Device> devices;
  const auto add = [&](const SentDevice& each) {
    const device::Device device = received(each);
    if (!device.is_cpu() && std::find(devices.begin(), devices.end(), device) == devices.end()) {
      devices.push_back(device);
    }
  };
  const Section* const found = find_section(message, SectionTag::Devices);
  if (found == nullptr) return devices;
  const auto section = wire::decode<SentDevices>(wire::view_of(found->bytes));
  for (const SentTensor& each : section.tensors) add(each.target);
  for (const SentPair& each : section.map) add(each.to);
  return devices;
}

}  // namespace distrun::rpc
