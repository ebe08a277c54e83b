#include <distrun/runner/record/wrapper.hpp>

#include <distrun/common/base/shell_words.hpp>

namespace distrun::runner {
namespace {

constexpr char kWorkDir[] = "{work_dir}";

const Wrapper* find(const std::vector<Wrapper>& all, int rank) {
  const Wrapper* found = nullptr;
  for (const Wrapper& each : all) {
    if (each.rank == rank) return &each;
    if (each.rank < 0) found = &each;
  }
  return found;
}

}  // namespace

std::vector<std::string> wrapper_of(const std::vector<Wrapper>& all, int rank, int world_size,
                                    const std::string& work_dir) {
  const Wrapper* wrapper = find(all, rank);
  if (wrapper == nullptr) return {};
  std::vector<std::string> words = base::shell_words(wrapper->command);
  for (std::string& word : words) {
    base::replace_all(word, "{rank}", std::to_string(rank));
    base::replace_all(word, "{world_size}", std::to_string(world_size));
    base::replace_all(word, kWorkDir, work_dir);
  }
  return words;
}

bool wrapper_uses_work_dir(const std::vector<Wrapper>& all, int rank) {
  const Wrapper* wrapper = find(all, rank);
  return wrapper != nullptr && wrapper->command.find(kWorkDir) != std::string::npos;
}

}  // namespace distrun::runner
