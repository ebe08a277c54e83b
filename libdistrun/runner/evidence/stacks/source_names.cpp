#include <distrun/runner/evidence/stacks/source_names.hpp>

#include <algorithm>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/stacks/frame_name.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kPlaceMax = 80;
constexpr std::size_t kPathReadMax = 1024;  // bytes of a path's end

std::string_view folder_of(std::string_view path) { return path.substr(0, path.rfind('/') + 1); }

std::string_view common_folder(std::string_view a, std::string_view b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return folder_of(a.substr(0, static_cast<std::size_t>(end - a.begin())));
}

std::string_view last_two_parts(std::string_view path) {
  const std::size_t last = path.rfind('/');
  if (last == std::string_view::npos || last == 0) return path;
  return path.substr(path.rfind('/', last - 1) + 1);
}

}  // namespace

SourceNames::SourceNames(const StackTree& tree) {
  bool is_first = true;
  for (std::size_t i = 0; i < tree.frames.size(); ++i) {
    const wire::StackFrame& frame = tree.frames[i];
    if (tree.classes[i] != FrameClass::User || frame.file.empty()) continue;
    common_ = is_first ? folder_of(frame.file) : common_folder(common_, frame.file);
    is_first = false;
  }
}

std::string SourceNames::place_of(const wire::StackFrame& frame) const {
  if (frame.file.empty()) {
    const std::string module = base::one_line(file_of_path(frame.module), kPlaceMax);
    const bool says_where = !module.empty() && frame.module != wire::kPythonModule && !frame.function.empty();
    return says_where ? "(" + module + ")" : "";
  }
  std::string_view path = frame.file;
  if (path.starts_with(common_)) path.remove_prefix(common_.size());
  const std::string_view end = last_two_parts(path).substr(0, kPathReadMax);
  const std::string file = shorten_middle(base::one_line(end, 4 * kPathReadMax), kPlaceMax);
  return frame.line == 0 ? file : file + ":" + std::to_string(frame.line);
}

}  // namespace distrun::evidence
