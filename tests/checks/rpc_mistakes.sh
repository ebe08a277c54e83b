#!/usr/bin/env bash
# rpc_mistakes.sh INCLUDE [--all]: calls and registrations of RPC that cannot be do not compile, the compiler's first
# error is a sentence of ours, and little is said besides. Those beside them compile. INCLUDE is the folder of distrun's
# headers. Each takes seconds: without --all, one for each sentence is tried.
set -euo pipefail

include=$1
tries_all=${2:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
compiler=("${CXX:-c++}" -std=c++20 -I"$include")
readonly LINES_MAX=20

# What all snippets begin with, compiled once.
printf '#include <distrun/rpc.hpp>\n#include <distrun/test.hpp>\n' >"$folder/begin.hpp"
"${compiler[@]}" -x c++-header "$folder/begin.hpp" -o "$folder/begin.hpp.gch"

compile() {
  printf 'using namespace distrun;
struct Adder { int add(int a) const; int change(int& a); int operator()(int a) const; };
int plain(int a);\nint changes(int& a);\nFuture<int> later(int& a);\n%s\n' "$1" >"$folder/code.cpp"
  "${compiler[@]}" -fsyntax-only -include "$folder/begin.hpp" "$folder/code.cpp" >"$folder/said" 2>&1
}
wrong() {
  printf '%s: %s\nthe compiler says:\n' "$1" "$2" >&2
  cat "$folder/said" >&2
  exit 1
}
# refused TEXT CODE: it does not compile, the first error has the text, and there are few lines.
refused() {
  [ -n "$tries_all" ] || [ -z "${tried[$1]:-}" ] || return 0
  tried[$1]=yes
  ! compile "$2" || wrong "$2" "compiles"
  grep -m 1 'error' "$folder/said" | grep -qF "$1" || wrong "$2" "the first error does not say '$1'"
  [ "$(wc -l <"$folder/said")" -le "$LINES_MAX" ] || wrong "$2" "takes more than $LINES_MAX lines"
}

declare -A tried
lambda='RPC: a lambda or a function object is not known to other workers'
reference='RPC: the function has a parameter by reference'
refused "$lambda" 'void call() { rpc_sync(1, [](int a) { return a; }, 1); }'
refused "$lambda" 'int call() { return rpc_sync(1, [](int a) { return a; }, 1); }'
refused "$lambda" 'int call(int b) { return rpc_sync<int>(1, [&](auto a) { return a + b; }, 1); }'
refused "$lambda" 'void call() { rpc_async(1, [](int a) { return a; }, 1).wait(); }'
refused "$lambda" 'void call() { remote(1, [](int a) { return a; }, 1); }'
refused "$lambda" 'void call() { rpc_sync(1, std::function<int(int)>(), 1); }'
refused "$lambda" 'void call() { rpc_sync(1, Adder(), 1); }'
refused "$lambda" 'auto f = [](int a) { return a; }; DISTRUN_RPC(f)'
refused 'RPC: a method is called by a reference' 'void call() { rpc_sync(1, &Adder::add, 1); }'
refused 'RPC: a reference calls methods' 'void call(RRef<Adder> r) { r.rpc_sync([](int a) { return a; }, 1); }'
refused 'RPC: pass a function' 'void call() { rpc_sync(1, 7, 1); }'
refused "$reference" 'void call(int x) { rpc_sync(1, changes, x); }'
refused "$reference" 'void call(int x) { rpc_async(1, changes, x); }'
refused "$reference" 'void call(int x) { remote(1, changes, x); }'
refused "$reference" 'void call(RRef<Adder> r, int x) { r.rpc_sync(&Adder::change, x); }'
refused "$reference" 'DISTRUN_RPC(changes)'
refused "$reference" 'DISTRUN_RPC_INLINE(changes)'
refused "$reference" 'DISTRUN_RPC_ASYNC(later)'
refused "$reference" 'auto c = rpc::RegisterClass<Adder>("Adder").method("change", &Adder::change);'
refused "$reference" 'struct Holder { Holder(int&); }; auto c = rpc::RegisterClass<Holder>("H").constructor<int&>();'
refused 'RPC: the function takes another number of arguments' 'void call() { rpc_sync(1, plain); }'
refused 'RPC: the function takes another number of arguments' 'void call() { remote(1, plain, 1, 2); }'
refused 'RPC: the function takes arguments of other types' 'void call() { rpc_async(1, plain, "a"); }'
refused 'RPC: a function that is DISTRUN_RPC_ASYNC returns' 'DISTRUN_RPC_ASYNC(plain)'
refused 'RPC: this type cannot be copied' 'void take(std::unique_ptr<int>); DISTRUN_RPC(take)'

right='DISTRUN_RPC(plain)
const std::string& name_of(int a, const std::string& b) noexcept;
DISTRUN_RPC(name_of)
auto adder = rpc::RegisterClass<Adder>("Adder").constructor().method("add", &Adder::add);
void call(RRef<Adder> r, const std::string& s) {
  std::string name = rpc_sync(1, name_of, rpc_sync(1, plain, 1), s);
  rpc_async(1, &plain, 1).wait();
  rpc_sync<int>(1, name, 1);
  rpc_sync<int>(1, rpc::bound(s, "size"));
  r.rpc_sync(0.5).call<int>("add", remote(1, plain, 1).to_here());
  r.rpc_sync(&Adder::add, 1);
}'
compile "$right" || wrong "$right" "does not compile"
