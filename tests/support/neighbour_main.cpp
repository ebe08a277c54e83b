// neighbour DIRECTORY...: another program of the same user. It constantly creates, keeps and removes files, directories
// and sockets in these directories, shared memory, semaphores and queues of POSIX and System V, and short-lived
// processes, some of them orphans. It runs until SIGTERM or until its parent is gone; then it removes everything that
// it created and reports how much that was. It takes a few hundredths of a CPU.
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <functional>
#include <iostream>
#include <random>
#include <string>
#include <system_error>
#include <vector>

namespace {

using Remove = std::function<void()>;

constexpr int kPauseMs = 10;
constexpr std::size_t kKeptMax = 60;
constexpr std::size_t kBytes = 8192;

volatile sig_atomic_t is_over = 0;
void end(int) { is_over = 1; }

int checked(int result, const std::string& what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), "the neighbour cannot make " + what);
  return result;
}

void sleep_for(int ms) { poll(nullptr, 0, ms); }

// Creates a file like a compiler's output, which another process reads a moment later.
Remove file(const std::string& path) {
  const int fd = checked(open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600), path);
  checked(ftruncate(fd, kBytes), path);
  return [fd, path] {
    close(fd);
    unlink(path.c_str());
  };
}

Remove closed_file(const std::string& path) {
  close(checked(open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600), path));
  return [path] { unlink(path.c_str()); };
}

Remove directory(const std::string& path) {
  checked(mkdir(path.c_str(), 0700), path);
  const Remove inside = closed_file(path + "/inside");
  return [inside, path] {
    inside();
    rmdir(path.c_str());
  };
}

Remove socket_file(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return closed_file(path);
  path.copy(address.sun_path, path.size());
  const int fd = checked(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "a socket");
  checked(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), path);
  return [fd, path] {
    close(fd);
    unlink(path.c_str());
  };
}

Remove shared_memory(const std::string& name) {
  const int fd = checked(shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600), name);
  checked(ftruncate(fd, kBytes), name);
  void* const mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return [mapped, name] {
    if (mapped != MAP_FAILED) munmap(mapped, kBytes);
    shm_unlink(name.c_str());
  };
}

Remove semaphore(const std::string& name) {
  sem_t* const made = sem_open(name.c_str(), O_CREAT | O_EXCL, 0600, 1);
  checked(made == SEM_FAILED ? -1 : 0, name);
  return [made, name] {
    sem_close(made);
    sem_unlink(name.c_str());
  };
}

Remove old_shared_memory() {
  const int id = checked(shmget(IPC_PRIVATE, kBytes, IPC_CREAT | 0600), "a System V segment");
  return [id] { shmctl(id, IPC_RMID, nullptr); };
}

Remove old_semaphore() {
  const int id = checked(semget(IPC_PRIVATE, 1, IPC_CREAT | 0600), "a System V semaphore");
  return [id] { semctl(id, 0, IPC_RMID); };
}

Remove old_queue() {
  const int id = checked(msgget(IPC_PRIVATE, IPC_CREAT | 0600), "a System V queue");
  return [id] { msgctl(id, IPC_RMID, nullptr); };
}

Remove child(int lives_ms) {
  const pid_t pid = checked(fork(), "a process");
  if (pid == 0) {
    sleep_for(lives_ms);
    _exit(0);
  }
  return [pid] { waitpid(pid, nullptr, 0); };
}

Remove orphan(int lives_ms) {
  const pid_t pid = checked(fork(), "a process");
  if (pid == 0) {
    if (fork() == 0) {
      setsid();
      sleep_for(lives_ms);
    }
    _exit(0);
  }
  waitpid(pid, nullptr, 0);
  return [] {};
}

Remove program() {
  char name[] = "true";
  char* const arguments[] = {name, nullptr};
  char* const none[] = {nullptr};
  pid_t pid = 0;
  errno = posix_spawnp(&pid, name, nullptr, nullptr, arguments, none);
  checked(errno == 0 ? 0 : -1, "a process");
  return [pid] { waitpid(pid, nullptr, 0); };
}

class Neighbour {
 public:
  explicit Neighbour(std::vector<std::string> directories) : directories_(std::move(directories)) {}
  ~Neighbour() {
    for (const Remove& remove : kept_) remove();
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  long made() const noexcept { return made_; }

  void make_one() {
    kept_.push_back(make());
    ++made_;
    if (kept_.size() <= kKeptMax) return;
    const Remove oldest = std::move(kept_.front());
    kept_.pop_front();
    oldest();
  }

 private:
  Remove make() {
    const std::string name = "neighbour-" + std::to_string(getpid()) + "-" + std::to_string(made_);
    const std::string path = directories_[below(directories_.size())] + "/" + name;
    const int lives_ms = static_cast<int>(below(50));
    switch (below(12)) {
      case 0: return file(path);
      case 1: return closed_file(path);
      case 2: return directory(path);
      case 3: return socket_file(path);
      case 4: return shared_memory("/" + name);
      case 5: return semaphore("/" + name);
      case 6: return old_shared_memory();
      case 7: return old_semaphore();
      case 8: return old_queue();
      case 9: return child(lives_ms);
      case 10: return orphan(lives_ms);
      default: return program();
    }
  }
  std::size_t below(std::size_t bound) { return random_() % bound; }

  std::vector<std::string> directories_;
  std::mt19937 random_{std::random_device()()};
  std::deque<Remove> kept_;  // oldest first
  long made_ = 0;
};

void live(std::vector<std::string> directories) {
  Neighbour neighbour(std::move(directories));
  while (is_over == 0) {
    neighbour.make_one();
    sleep_for(kPauseMs);
  }
  std::cout << "the neighbour has made " << neighbour.made() << " things" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: neighbour DIRECTORY...\n";
    return 2;
  }
  const pid_t parent = getppid();
  signal(SIGTERM, end);
  signal(SIGINT, end);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) return 0;
  try {
    live({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
