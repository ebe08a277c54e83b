#pragma once
// Functions and classes of ported tests of references whose results take their time, fail, or are futures; and what
// tests of references wait for that no future tells.
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <distrun/runtime/rref/rref.hpp>

namespace distrun::suites {

// A reference that the rank keeps for others.
void set_global_rref(RRef<rpc::Value> rref);
void clear_global_rref();

bool check_rref_confirmed(RRef<Tensor> rref);
Tensor raise_or_inc(Tensor value);                         // a ValueError for two elements, else one more
Tensor slow_product(double seconds);                       // 1 * 1, after so long
std::map<std::string, std::string> get_rref_debug_info();  // of the rank that it is called on

// Until nothing of the rank's own references is on its way; and until a worker owns so many, of which others hold so
// many forks. After that many seconds they throw Error{Timeout, "ValueError"}: "Timed out waiting ...", with what there
// is.
void wait_until_references_settle(double timeout = 20);
void wait_until_owners_and_forks(const std::string& worker, int owners, int forks, double timeout = 20);
// num_owner_rrefs and num_forks of the rank that it is called on.
std::pair<std::string, std::string> get_num_owners_and_forks();

// Takes two seconds to be made, if it is to; and five to add slowly.
class SlowClass {
 public:
  explicit SlowClass(Tensor tensor, bool delay = false);
  Tensor my_instance_method(Tensor b) const;  // a + b
  Tensor my_slow_method(Tensor b) const;

  Tensor a;
};

// Its methods are called through references: x + y + z, of which the first sum is made by `to`.
class AsyncTensorClass {
 public:
  static Future<Tensor> static_async_add(std::string to, Tensor x, Tensor y, Tensor z);
  static Future<Tensor> class_async_add(const rpc::ClassName& type, std::string to, Tensor x, Tensor y, Tensor z);
  Future<Tensor> bound_async_add(std::string to, Tensor x, Tensor y, Tensor z);
};

// Adds up gradients of several trainers; each gets the mean of a round when all have sent theirs.
class ParameterServer {
 public:
  explicit ParameterServer(int trainers) : trainers_(trainers) {}

  static Tensor get_gradient(RRef<ParameterServer> rref);
  static Future<Tensor> average(RRef<ParameterServer> rref, std::int64_t iteration, Tensor gradient);

 private:
  Future<Tensor> add(std::int64_t iteration, const Tensor& gradient);

  const int trainers_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::int64_t iteration_ = 0;
  int updates_ = 0;
  std::vector<Future<Tensor>> futures_;
  Tensor total_, gradient_;
};
// Ten rounds of a table of rows at that server. Throws Error{Failed} where the server's mean is not its gradient.
void run_ps_trainer(RRef<ParameterServer> rref, bool sparse);

}  // namespace distrun::suites
