// The only main of all test binaries: compiling it takes longer than most of them. A crash stays a
// crash: Catch's own signal handlers would answer in forked children too.
#define CATCH_CONFIG_MAIN
#define CATCH_CONFIG_NO_POSIX_SIGNALS
#include <catch2/catch.hpp>
