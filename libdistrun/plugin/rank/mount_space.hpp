#pragma once
// Mounts that only some ranks see. A helper process makes them in a mount namespace of their own, hands it to the
// coordinator and ends; ranks enter it at birth, all those of a lane the same one, so that they share what it shows.
// Who is not root needs a user namespace for that, with the user mapped to itself. Ranks enter that, too: they stay who
// they are, and may look at each other as ever.
#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/zygote.hpp>

namespace distrun::rank {

// The helper: `words` are pairs, FROM TO ..., mounted in this order. Answers on `line`; the exit code.
int make_mount_space(char** words, const base::Fd& line);

// This process has one thread yet. Its directory stays, by its path. Throws Error{Failed}. Does nothing for none.
void enter(const wire::MountSpace& space);

}  // namespace distrun::rank
