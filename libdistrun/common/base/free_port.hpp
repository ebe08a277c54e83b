#pragma once
// A TCP port that nothing listens on.

namespace distrun::base {

// On 127.0.0.1, free when it was asked for: whoever takes it later may find that somebody was faster, and better
// binds port 0 itself where that is possible. Any thread. Throws Error{Failed} if there is none.
int find_free_port();

}  // namespace distrun::base
