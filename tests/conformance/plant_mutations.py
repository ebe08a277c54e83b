#!/usr/bin/env python3
"""Plants mutations into copies of sources. A suite that runs with an active one must fail where it claims to look: that
is its negative control (control_test.cpp). Nothing of this is in the product.

usage: plant_mutations.py NAME.mutations ... SOURCE_ROOT FOLDER  writes a planted copy of each named source below FOLDER
       plant_mutations.py NAME.mutations ... SOURCE_ROOT --check  writes nothing: says whether all can be planted
       plant_mutations.py --self-test

A list has, beside comments and what control_test.cpp reads:

    mutation no-barrier: what is claimed
    in libdistrun/plugin/sdk/context.cpp
    - what stands there, once
    + MUTATED ? 0 : $

`$` is what stood there, MUTATED is true where DISTRUN_MUTATION=no-barrier is in the environment. A text that is not
there exactly once is an error: a change of that line has to change the mutation.
"""
import pathlib
import sys
import tempfile

PROLOGUE = """\
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#ifndef DISTRUN_IS_MUTATED
#define DISTRUN_IS_MUTATED
namespace {
[[maybe_unused]] bool is_mutated(const char* name) {
  const char* told = std::getenv("DISTRUN_MUTATION");
  return told != nullptr && std::strcmp(told, name) == 0;
}
}  // namespace
#endif
#line 1 "%s"
"""


class Mistake(Exception):
    pass


def plant(text, mutation, path, before, after):
    if text.count(before) != 1:
        raise Mistake(f"mutation {mutation}: `{before}` stands {text.count(before)} times in {path}; once is wanted")
    return text.replace(before, after.replace("$", before).replace("MUTATED", f'is_mutated("{mutation}")'))


def planted_sources(mutations, root):
    """{path: text} of the sources that the list names."""
    texts, mutation, path, before = {}, None, None, None
    for number, line in enumerate(mutations.splitlines(), 1):
        word, _, rest = line.strip().partition(" ")
        if word == "mutation":
            mutation, path = rest.partition(":")[0], None
        elif word == "in":
            path = rest
            texts.setdefault(path, (root / path).read_text())
        elif word == "-":
            before = rest
        elif word == "+":
            if mutation is None or path is None or before is None:
                raise Mistake(f"line {number}: `+` comes after `mutation`, `in` and `-`")
            texts[path] = plant(texts[path], mutation, path, before, rest)
            before = None
    return texts


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "a.cpp").write_text("int f() { return 1; }\nint g() { return 2; }\n")
        texts = planted_sources("mutation two: so\nin a.cpp\n- return 1;\n+ if (MUTATED) return 2; $\n", root)
        good = texts == {"a.cpp": 'int f() { if (is_mutated("two")) return 2; return 1; }\nint g() { return 2; }\n'}
        head = "mutation x: y\nin a.cpp\n"
        for wrong in (f"{head}- return 3;\n+ $\n", f"{head}- return\n+ $\n", "+ $\n"):
            try:
                planted_sources(wrong, root)
                good = False
            except Mistake:
                pass
    print(f"plant_mutations.py --self-test: {'as expected' if good else 'WRONG'}")
    return 0 if good else 1


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    *lists, root, folder = map(pathlib.Path, arguments)
    mutations = "\n".join(each.read_text() for each in lists)
    planted = planted_sources(mutations, root)
    if str(folder) == "--check":
        print(f"faults can be planted into {len(planted)} sources")
        return 0 if planted else 1
    for path, text in planted.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(PROLOGUE % (root / path) + text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (OSError, Mistake) as error:
        print(f"plant_mutations.py: {error}", file=sys.stderr)
        sys.exit(2)
