#include <agents/faulty/tally.hpp>

namespace distrun::agents::faulty {

const char* name_of(Done done) noexcept {
  constexpr const char* kNames[kDone] = {"failed",       "delayed",   "dropped",         "duplicated",
                                         "reordered",    "corrupted", "corrupted_wrong", "corrupted_unreadable",
                                         "sent_at_once", "lost_later"};
  return kNames[static_cast<std::size_t>(done)];
}

void Tally::add_debug_info(std::map<std::string, std::string>& info) const {
  for (std::size_t done = 0; done < kDone; ++done) {
    for (std::size_t kind = 0; kind < wire::kFaultKinds; ++kind) {
      const std::uint64_t count = counts_[done][kind];
      if (count == 0) continue;
      info[std::string("faulty.") + name_of(static_cast<Done>(done)) + "." +
           wire::name_of(static_cast<wire::FaultKind>(kind))] = std::to_string(count);
    }
  }
}

}  // namespace distrun::agents::faulty
