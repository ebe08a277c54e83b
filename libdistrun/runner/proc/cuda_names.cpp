#include <distrun/runner/proc/cuda_names.hpp>

#include <charconv>

namespace distrun::proc {
namespace {

// Takes a number and the '.' behind it from the front; 0: it begins with something else, and nothing is left of it.
pid_t take_number(std::string_view& text, int base) noexcept {
  pid_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || number < 0 || length >= text.size() || text[length] != '.') return text = {}, 0;
  text.remove_prefix(length + 1);
  return number;
}

}  // namespace

pid_t maker_of_cuda_name(std::string_view path) noexcept {
  constexpr std::string_view kPrefix = "/dev/shm/cuda.shm.";
  if (!path.starts_with(kPrefix)) return 0;
  path.remove_prefix(kPrefix.size());
  take_number(path, 10);
  const pid_t maker = take_number(path, 16);
  return path.empty() || path.find_first_not_of("0123456789abcdef") != std::string_view::npos ? 0 : maker;
}

bool is_cuda_name_of(std::string_view path, const std::set<pid_t>& processes) noexcept {
  const pid_t maker = maker_of_cuda_name(path);
  return maker > 0 && processes.contains(maker);
}

}  // namespace distrun::proc
