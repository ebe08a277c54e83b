#pragma once
// Catch2 with its implementation, which one source of a plugin must include. Without Catch2's signal handlers: the
// rank's own handle crashes.
#ifndef CATCH_CONFIG_RUNNER
#define CATCH_CONFIG_RUNNER
#endif
#ifndef CATCH_CONFIG_NO_POSIX_SIGNALS
#define CATCH_CONFIG_NO_POSIX_SIGNALS
#endif
#include <catch2/catch.hpp>
