#pragma once
// Mounts that only some ranks see. A helper process creates them in a separate mount namespace, passes it to the
// coordinator and exits; ranks enter it at birth, all ranks of a lane the same one, so that they share its mounts.
// Unless the user is root, this requires a user namespace, with the user mapped to itself. Ranks enter that, too: they
// keep their identity and can inspect each other as usual.
#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/zygote.hpp>

namespace distrun::rank {

// Runs the helper: `words` are pairs, FROM TO ..., mounted in this order. Answers on `line`; returns the exit code.
int make_mount_space(char** words, const base::Fd& line);

// Call it while the process has one thread. The working directory stays, by its path. Throws Error{Failed}. Does
// nothing for an empty `space`.
void enter(const wire::MountSpace& space);

}  // namespace distrun::rank
