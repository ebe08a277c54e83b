#include <agents/pipe/seal.hpp>

#include <algorithm>

#include <agents/pipe/transports/cma.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>

namespace distrun::agents::pipe {

Seal::Seal()
    : word_(std::max<std::uint64_t>(base::random_seed(), 1)),
      mark_{reinterpret_cast<std::uintptr_t>(&word_), word_.load()} {}

std::string why_broken(std::int32_t pid, const SealMark& mark) {
  if (mark.nonce == 0) return "it has declared no readable memory";
  std::uint64_t found = 0;
  try {
    read_remote(pid, mark.address, reinterpret_cast<std::byte*>(&found), sizeof found);
  } catch (const Error& why) {
    return why.text();
  }
  return found == mark.nonce ? "" : "the memory does not hold the mark of process " + std::to_string(pid);
}

}  // namespace distrun::agents::pipe
