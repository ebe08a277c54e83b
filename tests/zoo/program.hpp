#pragma once
// Programs for `distrun exec` and for plain processes, all in one binary: zoo_programs NAME. The ranks of a program
// meet in files of TEMP_DIR. Each ends after kPatienceS at the latest.
#include <sys/types.h>

#include <string>

namespace zoo {

inline constexpr unsigned kPatienceS = 60;

int me();        // this rank: DISTRUN_RANK
int everyone();  // WORLD_SIZE

// Returns a path that is the same for all ranks.
std::string shared(const std::string& name);
// Creates the file, for await().
void announce(const std::string& name);
// Returns when another rank has created the file.
void await(const std::string& name);

void nap(double seconds);

// Ends the program unless `good`.
void require(bool good, const char* what);

// Creates the file with `size` zero bytes if it does not exist, and maps it shared.
void* map_shared(const std::string& name, std::size_t size);

// Forks a child that ends with its patience, like its parent; 0 in the child.
pid_t fork_child();

using Body = void (*)();

struct Program {
  Program(const char* name, Body body);
};

// ZOO_PROGRAM(name) { body }
#define ZOO_PROGRAM(name)                            \
  static void name();                                \
  static const zoo::Program run_##name(#name, name); \
  static void name()

}  // namespace zoo
