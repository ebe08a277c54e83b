// distrun_gloo.so: gloo's collectives over TCP, behind gloo_line.hpp.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/types.h>

#include <signal.h>

#include <array>
#include <ctime>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/runtime/collectives/gloo/gloo_line.hpp>

namespace {

using namespace distrun::collectives::gloo_line;

class MeetingStore final : public ::gloo::rendezvous::Store {
 public:
  explicit MeetingStore(Meeting& meeting) : meeting_(meeting) {}
  void set(const std::string& key, const std::vector<char>& value) override { meeting_.set(key, value); }
  std::vector<char> get(const std::string& key) override { return meeting_.get(key); }
  void wait(const std::vector<std::string>& keys) override { meeting_.wait(keys); }
  // The meeting has its own deadline.
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override { meeting_.wait(keys); }

 private:
  Meeting& meeting_;
};

// Blocks SIGPIPE for a scope, in the thread and those that it starts: gloo writes without MSG_NOSIGNAL, so a rank that
// has died would end this one.
class NoSigpipe {
 public:
  NoSigpipe() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    const timespec at_once{};
    while (!was_pending_ && ::sigtimedwait(&pipe_, nullptr, &at_once) == SIGPIPE) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

constexpr std::string_view kLoopback = "127.0.0.1";

std::shared_ptr<::gloo::transport::Device> make_device(const char* address) {
  const NoSigpipe of_its_thread;
  try {
    return ::gloo::transport::tcp::CreateDevice(address);
  } catch (const std::exception&) {
    if (address != kLoopback) throw;
    return ::gloo::transport::tcp::CreateDevice("::1");  // a machine or container without IPv4
  }
}

// gloo's options ask for an element type, but only use its size.
template <std::size_t Size>
using Raw = std::array<std::byte, Size>;

template <class Body>
void with_element(std::size_t size, const Body& body) {
  switch (size) {
    case 1: return body(Raw<1>());
    case 2: return body(Raw<2>());
    case 4: return body(Raw<4>());
    case 8: return body(Raw<8>());
    case 16: return body(Raw<16>());
    default: throw std::invalid_argument("gloo: elements of " + std::to_string(size) + " bytes");
  }
}

// gloo takes non-const pointers also to bytes that it only reads.
std::byte* read_only(const std::byte* bytes) { return const_cast<std::byte*>(bytes); }

template <class Options>
Options of_turn(const std::shared_ptr<::gloo::Context>& context, const Turn& turn) {
  Options options(context);
  options.setTag(turn.tag);
  options.setTimeout(turn.timeout);
  return options;
}

class TcpMesh final : public Mesh {
 public:
  TcpMesh(int rank, int ranks, const char* address, Timeout timeout, Meeting& meeting) : device_(make_device(address)) {
    const NoSigpipe quiet;
    auto context = std::make_shared<::gloo::rendezvous::Context>(rank, ranks);
    context->setTimeout(timeout);
    MeetingStore store(meeting);
    context->connectFullMesh(store, device_);
    context_ = std::move(context);
  }
  ~TcpMesh() override { close(); }

  void barrier(const Turn& turn) override {
    const NoSigpipe quiet;
    auto options = of_turn<::gloo::BarrierOptions>(context_, turn);
    ::gloo::barrier(options);
  }
  void broadcast(const Turn& turn, int root, std::byte* bytes, std::size_t size) override {
    const NoSigpipe quiet;
    auto options = of_turn<::gloo::BroadcastOptions>(context_, turn);
    options.setRoot(root);
    options.setOutput(bytes, size);
    ::gloo::broadcast(options);
  }
  void all_reduce(const Turn& turn, const Reducing& reducing, const std::byte* in, std::byte* out,
                  std::size_t size) override {
    const NoSigpipe quiet;
    with_element(reducing.element, [&]<class Element>(Element) {
      auto options = of_turn<::gloo::AllreduceOptions>(context_, turn);
      options.setReduceFunction(reducing.combine);
      const std::size_t count = size / sizeof(Element);
      if (in != out) options.setInput(reinterpret_cast<Element*>(read_only(in)), count);
      options.setOutput(reinterpret_cast<Element*>(out), count);
      ::gloo::allreduce(options);
    });
  }
  void reduce(const Turn& turn, int root, const Reducing& reducing, const std::byte* in, std::byte* out,
              std::size_t size) override {
    const NoSigpipe quiet;
    with_element(reducing.element, [&]<class Element>(Element) {
      auto options = of_turn<::gloo::ReduceOptions>(context_, turn);
      options.setRoot(root);
      options.setReduceFunction(reducing.combine);
      const std::size_t count = size / sizeof(Element);
      if (in != out) options.setInput(reinterpret_cast<Element*>(read_only(in)), count);
      options.setOutput(reinterpret_cast<Element*>(out), count);
      ::gloo::reduce(options);
    });
  }
  void all_gather(const Turn& turn, const std::byte* in, std::byte* out, std::size_t size) override {
    const NoSigpipe quiet;
    auto options = of_turn<::gloo::AllgatherOptions>(context_, turn);
    options.setInput(read_only(in), size);
    options.setOutput(out, size * ranks());
    ::gloo::allgather(options);
  }
  void gather(const Turn& turn, int root, const std::byte* in, std::byte* out, std::size_t size) override {
    const NoSigpipe quiet;
    auto options = of_turn<::gloo::GatherOptions>(context_, turn);
    options.setRoot(root);
    options.setInput(read_only(in), size);
    if (context_->rank == root) options.setOutput(out, size * ranks());
    ::gloo::gather(options);
  }
  void scatter(const Turn& turn, int root, const std::vector<const std::byte*>& in, std::byte* out,
               std::size_t size) override {
    const NoSigpipe quiet;
    auto options = of_turn<::gloo::ScatterOptions>(context_, turn);
    options.setRoot(root);
    std::vector<std::byte*> parts;
    for (const std::byte* each : in) parts.push_back(read_only(each));
    if (context_->rank == root) options.setInputs(parts, size);
    options.setOutput(out, size);
    ::gloo::scatter(options);
  }
  void all_to_all(const Turn& turn, const std::vector<Piece>& in, const std::vector<Piece>& out) override;

  void close() noexcept override {
    const NoSigpipe quiet;
    const std::lock_guard lock(closing_);
    if (std::exchange(closed_, true)) return;
    try {
      context_->closeConnections();
    } catch (const std::exception&) {  // they are closed already
    }
  }

 private:
  std::size_t ranks() const { return static_cast<std::size_t>(context_->size); }

  std::shared_ptr<::gloo::transport::Device> device_;
  std::shared_ptr<::gloo::Context> context_;
  std::mutex closing_;
  bool closed_ = false;  // guarded by closing_
};

// gloo's own version needs all pieces in one buffer, and also sends empty ones.
void TcpMesh::all_to_all(const Turn& turn, const std::vector<Piece>& in, const std::vector<Piece>& out) {
  const NoSigpipe quiet;
  using Buffer = std::unique_ptr<::gloo::transport::UnboundBuffer>;
  const std::uint64_t slot = ::gloo::Slot::build(::gloo::kAlltoallSlotPrefix, turn.tag);
  std::vector<Buffer> sent, received;
  for (int step = 1; step < context_->size; ++step) {
    const int to = (context_->rank + step) % context_->size;
    const int from = (context_->rank + context_->size - step) % context_->size;
    const Piece& coming = out[static_cast<std::size_t>(from)];
    const Piece& going = in[static_cast<std::size_t>(to)];
    if (coming.size != 0) {
      received.push_back(context_->createUnboundBuffer(coming.bytes, coming.size));
      received.back()->recv(from, slot);
    }
    if (going.size != 0) {
      sent.push_back(context_->createUnboundBuffer(going.bytes, going.size));
      sent.back()->send(to, slot);
    }
  }
  const auto until =
      distrun::base::deadline_after(distrun::base::nanoseconds_of(turn.timeout), std::chrono::steady_clock::now());
  const auto left = [&] {
    const auto time = std::chrono::duration_cast<Timeout>(until - std::chrono::steady_clock::now());
    return std::max(time, Timeout(1));
  };
  for (const Buffer& each : received) each->waitRecv(left());
  for (const Buffer& each : sent) each->waitSend(left());
}

std::unique_ptr<Mesh> connect(int rank, int ranks, const char* address, Timeout timeout, Meeting& meeting) {
  return std::make_unique<TcpMesh>(rank, ranks, address, timeout, meeting);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const Module distrun_gloo_module{kVersion, &connect};
