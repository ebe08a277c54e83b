#include <distrun/runner/nodes/lane_tmps.hpp>

#include <filesystem>
#include <utility>

namespace distrun::nodes {
namespace {

proc::RunPlaces started_here(proc::RunPlaces places) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (!error) places.start_dir = here.string();
  return places;
}

}  // namespace

LaneTmps::LaneTmps(launch::Node& node, proc::RunPlaces places, std::vector<std::string> plugins, bool keep)
    : tmps_(node, started_here(std::move(places)), std::move(plugins), keep) {}

std::shared_ptr<const runner::PrivateTmp> LaneTmps::find(int lane) const {
  const auto found = lanes_.find(lane);
  return found == lanes_.end() || !found->second->left().empty() ? nullptr : found->second;
}

}  // namespace distrun::nodes
