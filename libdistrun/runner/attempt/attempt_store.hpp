#pragma once
// Memory for the store that the ranks of an attempt have by default (runtime/store/rank_store.hpp): an unnamed file of
// this process, initially empty. Ranks open it at $DISTRUN_STORE. It disappears with the attempt and the last rank that
// has it open.
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::runner {

class AttemptStore {
 public:
  // Throws Error{Failed} if no descriptor is available.
  AttemptStore();

  // The path for other processes of this user on this machine.
  std::string path() const;

 private:
  base::Fd memory_;
};

}  // namespace distrun::runner
