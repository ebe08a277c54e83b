#pragma once
// Whether this is a build with the thread sanitizer, which has a thread of its own in every process and handles faults
// itself. Tests that cannot hold then say so with WARN and return.

namespace distrun::testing {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
inline constexpr bool kThreadSanitizer = false;
#endif

inline constexpr char kOwnThread[] = "skipped: the thread sanitizer has a thread of its own in every process";
inline constexpr char kOwnFaults[] = "skipped: the thread sanitizer handles faults of forked children itself";

}  // namespace distrun::testing
