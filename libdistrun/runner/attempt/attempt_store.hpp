#pragma once
// The memory in which the ranks of an attempt have a store without asking (runtime/store/rank_store.hpp): a file
// without a name that is this process's, empty at first. Ranks open it where $DISTRUN_STORE says; it goes with the
// attempt and the last rank that has it open, and nothing is left of it.
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::runner {

class AttemptStore {
 public:
  // Throws Error{Failed} if there is no descriptor left for it.
  AttemptStore();

  // For processes of this user and machine.
  std::string path() const;

 private:
  base::Fd memory_;
};

}  // namespace distrun::runner
