#include <distrun/runtime/symbols/stack_text.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <distrun/common/base/demangle.hpp>
#include <distrun/runtime/symbols/program_file.hpp>

namespace distrun::symbols {
namespace {

constexpr std::size_t kFramesMost = 16;   // shown
constexpr std::size_t kLooksMost = 40;    // looked up, including those not shown
constexpr std::size_t kNameMost = 200;    // of a function or a file
constexpr std::size_t kKnownMost = 4096;  // cached frames

struct Frame {
  std::string function;  // empty: unknown
  std::string place;     // " at file:line"
};

std::string bounded(std::string text) {
  if (text.size() > kNameMost) text.replace(kNameMost - 3, std::string::npos, "...");
  return text;
}

// Removes the compiler's suffixes for split-off cold code and specialized copies.
std::string function_name(const std::string& symbol) {
  std::string name = base::demangled(symbol);
  return name.substr(0, name.find(" [clone"));
}

// One per process; never destroyed, since calls may run until it ends.
class KnownFrames {
 public:
  std::vector<Frame> find(std::span<const std::uint64_t> pcs) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t unloaded = unload_count();
    if (std::exchange(unloaded_, unloaded) != unloaded || by_pc_.size() > kKnownMost) by_pc_.clear();
    learn(pcs);
    std::vector<Frame> frames;
    frames.reserve(pcs.size());
    for (const std::uint64_t pc : pcs) frames.push_back(by_pc_[pc]);
    return frames;
  }

 private:
  void learn(std::span<const std::uint64_t> pcs) {
    std::map<std::uint64_t, std::pair<LoadedFile, std::vector<std::uint64_t>>> files;  // by their bias
    for (const std::uint64_t pc : pcs) {
      if (pc == 0 || by_pc_.count(pc) != 0) continue;
      LoadedFile file = find_loaded(pc);
      if (file.path.empty()) by_pc_.try_emplace(pc);
      if (file.path.empty()) continue;
      auto& [loaded, addresses] = files[file.bias];
      addresses.push_back(pc - file.bias);
      loaded = std::move(file);
    }
    for (const auto& [bias, file] : files) name_all(file.first, file.second);
  }
  void name_all(const LoadedFile& file, const std::vector<std::uint64_t>& addresses) {
    const std::vector<NamedPlace> places = name_places(file, addresses);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const NamedPlace& place = places[i];
      Frame frame{function_name(place.function), {}};
      const SourceLine& source = place.source;
      if (source.line != 0) frame.place = " at " + bounded(source.file) + ":" + std::to_string(source.line);
      by_pc_.try_emplace(addresses[i] + file.bias, std::move(frame));  // known once it is whole
    }
  }

  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Frame> by_pc_;
  std::uint64_t unloaded_ = 0;
};
KnownFrames& known_frames() {
  static auto* const only = new KnownFrames;
  return *only;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool throws(const Frame& frame) {
  return contains(frame.function, "__cxa_throw") || contains(frame.function, "__cxa_rethrow") ||
         contains(frame.function, "_Unwind_R") || contains(frame.function, "std::rethrow_exception");
}
// Returns whether the frame is one that register.hpp puts around a function.
bool is_caller(const Frame& frame) {
  constexpr const char* kParts[] = {"distrun::rpc::detail::make_run<", "distrun::rpc::detail::result_of<",
                                    "distrun::rpc::detail::refuse_argument", "distrun::rpc::RegisterClass<"};
  return std::any_of(std::begin(kParts), std::end(kParts), [&](auto part) { return contains(frame.function, part); });
}
bool is_between(const Frame& frame) {
  return contains(frame.function, "std::__invoke") || contains(frame.function, "std::apply<") ||
         contains(frame.function, "std::__apply_impl<");
}

std::vector<Frame> told_of(std::vector<Frame> frames) {
  frames.erase(std::find_if(frames.begin(), frames.end(), is_caller), frames.end());
  while (!frames.empty() && is_between(frames.back())) frames.pop_back();
  const auto last = std::find_if(frames.rbegin(), frames.rend(), throws);
  frames.erase(frames.begin(), last.base());
  const auto is_named = [](const Frame& frame) { return !frame.function.empty() || !frame.place.empty(); };
  if (std::none_of(frames.begin(), frames.end(), is_named)) frames.clear();
  return frames;
}

}  // namespace

std::string stack_text(std::span<const std::uint64_t> pcs) {
  if (pcs.empty()) return "";
  const std::vector<Frame> frames = told_of(known_frames().find(pcs.first(std::min(pcs.size(), kLooksMost))));
  std::string text;
  for (std::size_t i = 0; i < std::min(frames.size(), kFramesMost); ++i) {
    const Frame& frame = frames[i];
    text += text.empty() ? "  thrown in " : "\n  called by ";
    text += (frame.function.empty() ? "what has no name" : bounded(frame.function)) + frame.place;
  }
  if (frames.size() > kFramesMost) text += "\n  called by others";
  return text;
}

}  // namespace distrun::symbols
