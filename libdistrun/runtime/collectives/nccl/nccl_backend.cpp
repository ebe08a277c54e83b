#include <distrun/runtime/collectives/nccl/nccl_backend.hpp>

#include <distrun/runtime/collectives/hosts_of_group.hpp>

#include <distrun/runtime/collectives/nccl/nccl_group.hpp>
#include <distrun/runtime/collectives/nccl/virtual_library.hpp>
#include <distrun/runtime/core/module.hpp>
#include <distrun/runtime/device/gpu.hpp>

namespace distrun::collectives {
namespace {

constexpr core::ModuleName kNccl{"NCCL", nccl_line::kFile, nccl_line::kEntry};

struct OpenedLibrary {
  nccl_line::Library* library = nullptr;
  std::string why_none;
};

// One per process; the module is opened once.
const OpenedLibrary& real_library() {
  static const OpenedLibrary only = [] {
    const core::Module found = core::open_module(kNccl);
    if (found.entry == nullptr) return OpenedLibrary{nullptr, found.why_none};
    const auto* const module = static_cast<const nccl_line::Module*>(found.entry);
    if (module->version != nccl_line::kVersion) {
      return OpenedLibrary{nullptr, found.file + " belongs to another version of distrun"};
    }
    OpenedLibrary opened;
    opened.library = module->open(opened.why_none);
    return opened;
  }();
  return only;
}

bool is_virtual() { return device::gpu_driver().name() == "virtual"; }

std::shared_ptr<nccl_line::Library> library_for(const std::shared_ptr<Store>& store) {
  if (is_virtual()) return make_virtual_library(*store);
  return {std::shared_ptr<void>(), real_library().library};  // lives until the process ends
}

device::Device gpu_of(const GroupInfo& group, const BackendOptions& options) {
  const int rank = group.ranks[static_cast<std::size_t>(group.rank)];
  return options.gpu.value_or(device::cuda(rank % device::gpu_count()));
}

class NcclBackend final : public DeviceBackend {
 public:
  explicit NcclBackend(std::shared_ptr<NcclGroup> group) : group_(std::move(group)) {}
  ~NcclBackend() override { leave(Leaving::Done, ""); }

  void leave(Leaving how, const std::string& why) noexcept override { group_->leave(how, why); }
  void settle(base::TimePoint deadline) noexcept override { group_->settle(deadline); }
  device::Device gpu() const noexcept override { return group_->gpu(); }
  std::string why_not(const Call& call) const override;
  std::shared_ptr<StreamWork> put(StreamCall call) override { return group_->put(std::move(call)); }
  std::string why_over() override { return group_->why_over(); }
  void stay_out(base::TimePoint deadline) override {
    if (group_->splits()) group_->split({}, 0, deadline);
  }
  const std::shared_ptr<NcclGroup>& group() const noexcept { return group_; }

 private:
  const std::shared_ptr<NcclGroup> group_;
};

std::string NcclBackend::why_not(const Call& call) const {
  const bool reduces =
      call.kind == CallKind::AllReduce || call.kind == CallKind::Reduce || call.kind == CallKind::ReduceScatter;
  if (reduces && call.reduce >= ReduceOp::BitAnd) {
    return std::string("cannot use ") + name_of(call.reduce) +
           " with NCCL, which supports sum, product, min, max and avg";
  }
  if (reduces && call.dtype == DType::I16) {
    return "input tensor data type is not supported for NCCL: int16 (it can be copied, but not reduced)";
  }
  if (is_point_to_point(call.kind) && call.root == group_->place()) {
    return "NCCL cannot send to the calling rank; copy the tensor instead";
  }
  return "";
}

}  // namespace

std::string why_no_nccl() {
  const std::string way_out =
      "; shm also accepts GPU tensors, and copies them through the host; nccl also runs on virtual GPUs: --gpu-driver "
      "virtual --gpus 4 gives four ranks one each";
  if (const std::string why = device::why_no_gpu(); !why.empty())
    return "nccl needs a GPU for each rank: " + why + way_out;
  if (is_virtual() || real_library().library != nullptr) return "";
  return real_library().why_none + way_out;
}

std::unique_ptr<DeviceBackend> make_nccl_backend(const GroupInfo& group, Store& store, base::TimePoint deadline,
                                                 const BackendOptions& options) {
  if (is_virtual()) {
    refuse_several_hosts("backend nccl on virtual GPUs", "backend gloo (--backend gloo), or real GPUs", store, group,
                         deadline);
  }
  NcclParts parts;
  parts.store = options.store != nullptr ? options.store : std::shared_ptr<Store>(std::shared_ptr<Store>(), &store);
  parts.library = library_for(parts.store);
  parts.gpu = gpu_of(group, options);
  parts.settings = read_nccl_settings();
  const auto* const parent = dynamic_cast<const NcclBackend*>(options.parent);
  if (parent != nullptr && parent->group()->splits()) {
    parts.split = [from = parent->group(), colour = options.colour](const GroupInfo& of, base::TimePoint until) {
      return from->split(of, colour, until);
    };
  }
  const auto made = std::make_shared<NcclGroup>(group, std::move(parts));
  try {
    made->join(deadline);
  } catch (const std::exception& error) {
    made->leave(Leaving::GaveUp, error.what());
    throw;
  }
  return std::make_unique<NcclBackend>(made);
}

}  // namespace distrun::collectives
