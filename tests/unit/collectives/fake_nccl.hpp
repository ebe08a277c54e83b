#pragma once
// A stand-in for NCCL that the test controls: it fails, hangs, or does the call. Like NCCL it does not compare the
// ranks' calls.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>

#include <distrun/runtime/collectives/nccl/nccl_line.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/memory/region.hpp>

namespace distrun::testing {

namespace line = collectives::nccl_line;

// Its behaviour and statistics. Shared by the library, its communicators, and their work on streams.
struct FakeNccl {
  enum class Next { Works, Refuses, Hangs };

  std::atomic<Next> next{Next::Works};
  std::atomic<int> connected{0}, aborted{0}, closed{0}, split{0};
  std::mutex mutex;
  std::condition_variable changed;
  std::string went_wrong;  // asynchronous error; guarded by mutex
  bool lets_go = false;    // releases calls that hang; guarded by mutex
  std::string ras;         // address of its RAS; set before the group is created

  void go_wrong(const std::string& how) {
    const std::lock_guard lock(mutex);
    went_wrong = how;
  }
  void let_go() {
    const std::lock_guard lock(mutex);
    lets_go = true;
    changed.notify_all();
  }
};

class FakeCommunicator final : public line::Communicator {
 public:
  explicit FakeCommunicator(std::shared_ptr<FakeNccl> fake) : fake_(std::move(fake)) {}

  // Copies input to output, for a group of one rank; ordered after work that hangs.
  void put(const collectives::Call& call, device::StreamRef stream) override {
    const FakeNccl::Next next = fake_->next;
    if (next == FakeNccl::Next::Refuses)
      throw std::runtime_error("NCCL says: unhandled system error; its last error: no route");
    device::Driver& driver = device::gpu_driver();
    if (next == FakeNccl::Next::Hangs) {
      driver.call_host(stream, [fake = fake_] {
        std::unique_lock lock(fake->mutex);
        fake->changed.wait(lock, [&] { return fake->lets_go; });
      });
    }
    device::Kernel kernel;
    kernel.name = "fake nccl";
    for (const auto& each : call.in)
      kernel.regions.push_back(device::flat_region(each.data(), each.size(), device::Access::Read));
    for (const auto& each : call.out)
      kernel.regions.push_back(device::flat_region(each.data(), each.size(), device::Access::Write));
    kernel.body = [](const auto&) {};
    driver.launch(stream, std::move(kernel), call.site);
  }
  line::Failure failure() override {
    const std::lock_guard lock(fake_->mutex);
    if (fake_->went_wrong.empty()) return {};
    return {std::make_exception_ptr(std::runtime_error(fake_->went_wrong)), 0};
  }
  void abort(const std::string&) noexcept override {
    ++fake_->aborted;
    fake_->let_go();
  }
  void close() noexcept override { ++fake_->closed; }
  std::unique_ptr<line::Communicator> split(const collectives::GroupInfo& group, int, base::TimePoint) override {
    ++fake_->split;
    return group.size() == 0 ? nullptr : std::make_unique<FakeCommunicator>(fake_);
  }

 private:
  const std::shared_ptr<FakeNccl> fake_;
};

class FakeLibrary final : public line::Library {
 public:
  FakeLibrary(std::shared_ptr<FakeNccl> fake, bool splits) : fake_(std::move(fake)), splits_(splits) {}

  line::Version version() const override { return {2, 28, 9}; }
  line::Id make_id() override { return {'i', 'd'}; }
  std::unique_ptr<line::Communicator> connect(const line::Joining& joining) override {
    if (joining.id[0] != 'i') throw std::runtime_error("the id has not come");
    if (fake_->next == FakeNccl::Next::Refuses) throw std::runtime_error("NCCL says: invalid usage");
    ++fake_->connected;
    return std::make_unique<FakeCommunicator>(fake_);
  }
  bool compares() const noexcept override { return false; }
  bool splits() const noexcept override { return splits_; }
  std::string ras_address() const override { return fake_->ras; }

 private:
  const std::shared_ptr<FakeNccl> fake_;
  const bool splits_;
};

}  // namespace distrun::testing
