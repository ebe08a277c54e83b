#include "program.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>

namespace zoo {
namespace {

std::map<std::string, Body>& bodies() {
  static std::map<std::string, Body> all;
  return all;
}

int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace

Program::Program(const char* name, Body body) { bodies().emplace(name, body); }

int me() { return number("DISTRUN_RANK", 0); }
int everyone() { return number("WORLD_SIZE", 1); }

std::string shared(const std::string& name) {
  const char* folder = std::getenv("TEMP_DIR");
  require(folder != nullptr, "TEMP_DIR is not set");
  return std::string(folder) + "/" + name;
}

void announce(const std::string& name) {
  const int file = open(shared(name).c_str(), O_CREAT | O_WRONLY, 0600);
  require(file >= 0, "cannot create a file");
  close(file);
}

void await(const std::string& name) {
  while (access(shared(name).c_str(), F_OK) != 0) nap(0.005);
}

void nap(double seconds) {
  timespec rest{static_cast<time_t>(seconds), static_cast<long>((seconds - static_cast<time_t>(seconds)) * 1e9)};
  while (nanosleep(&rest, &rest) != 0) {
  }
}

void require(bool good, const char* what) {
  if (good) return;
  std::perror(what);
  _exit(98);
}

void* map_shared(const std::string& name, std::size_t size) {
  const int file = open(shared(name).c_str(), O_CREAT | O_RDWR, 0600);
  require(file >= 0 && ftruncate(file, static_cast<off_t>(size)) == 0, "cannot create a file");
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  require(memory != MAP_FAILED, "cannot map a file");
  close(file);
  return memory;
}

pid_t fork_child() {
  const pid_t child = fork();
  require(child >= 0, "cannot fork");
  if (child == 0) alarm(kPatienceS);
  return child;
}

}  // namespace zoo

int main(int argc, char** argv) {
  alarm(zoo::kPatienceS);
  const auto found = zoo::bodies().find(argc > 1 ? argv[1] : "");
  zoo::require(found != zoo::bodies().end(), "unknown program");
  found->second();
  return 0;
}
