"""Makes programs with a difference smaller."""
import re

from .texts import contiguous_strides, list_text, numbers_of, operator_of, read_list, shown


class Shrinker:
    """Keeps what still comes to a difference of the same kind at the same operator."""

    def __init__(self, session, lines, difference):
        self.session = session
        self.lines, self.difference = lines, difference

    def shrink(self):
        self.take(self.lines[:self.lines.index(self.difference.line) + 1])
        while any([self.drop_lines(), self.drop_roots(), self.freeze_steps(), self.simplify_inputs()]):
            pass

    def take(self, lines):
        """Whether these lines do as well; they are the program then."""
        if not lines:
            return False
        found = self.session.run_all(lines)
        if found is None or (found.kind, found.operator) != (self.difference.kind, self.difference.operator):
            return False
        self.lines, self.difference = lines[:lines.index(found.line) + 1], found
        return True

    def take_in_place_of(self, line, *others):
        at = self.lines.index(line)
        return self.take(self.lines[:at] + list(others) + self.lines[at + 1:])

    def drop_lines(self):
        return any([line in self.lines and self.take(without(self.lines, line))
                    for line in reversed(self.lines[:-1])])

    def drop_roots(self):
        """Of the backward pass that the program ends with."""
        roots = self.lines[-1].split()[1:] if self.lines[-1].startswith("backward ") else []
        return any([self.drop_root(root) for root in roots])

    def drop_root(self, root):
        words = self.lines[-1].split()
        rest = " ".join(word for word in words if word != root)
        return root in words and len(words) > 2 and self.take(self.lines[:-1] + [rest])

    def freeze_steps(self):
        """Inputs of the same values in place of results."""
        steps = [line for line in self.lines[:-1] if " = " in line and not is_input(line)]
        return any([line in self.lines and self.freeze(line) for line in steps])

    def freeze(self, line):
        made = self.made_by(line)
        if operator_of(line).endswith("_") or any(isinstance(value, str) or value.layout != "strided"
                                                  for value in made.values()):
            return False
        inputs = [input_line(name, value.dtype, value.sizes, value.needs_gradient, value.values)
                  for name, value in made.items()]
        return self.take_in_place_of(line, *inputs)

    def made_by(self, line):
        """{name: what it shows} on torch's side after that line."""
        self.session.run_all(self.lines[:self.lines.index(line) + 1])
        name = line.split()[0]
        return {each: shown(value) for each, value in self.session.torch.names.items()
                if each == name or each.startswith(name + ".")}

    def simplify_inputs(self):
        return any([self.simplify(line) for line in self.lines if is_input(line)])

    def simplify(self, line):
        words = line.split()
        value = self.made_by(line)[words[0]]
        head, elements = words[:8], words[8:]
        variants = [head[:7] + ["-"] + elements,
                    input_line(words[0], words[3], value.sizes, words[7] == "leaf", value.values).split()]
        variants += [head + [number] * len(elements) for number in ("1", "0", "2")]
        variants.append(head + [str(place % 3) for place in range(len(elements))])
        return any(complexity(variant) < complexity(words) and self.take_in_place_of(line, " ".join(variant))
                   for variant in variants)


def is_input(line):
    return " = input " in line


def input_line(name, dtype, sizes, is_leaf, values):
    """Of a contiguous one."""
    words = [name, "=", "input", dtype, list_text(sizes), list_text(contiguous_strides(sizes)), "0",
             "leaf" if is_leaf else "-"]
    return " ".join(words + [str(number) for number in numbers_of(values)])


def complexity(words):
    """Of an input, to be compared: leaf, layout, values."""
    elements = words[8:]
    is_odd = len(set(elements)) > 3 or any(len(element) > 2 for element in elements)
    return (words[7] == "leaf", words[5] != list_text(contiguous_strides(read_list(words[4]))), words[6] != "0",
            len(elements), is_odd, len(set(elements)), elements[:1] != ["1"])


def without(lines, line):
    """And without all that needs what it made."""
    gone, kept = set(), []
    for each in lines:
        if each.startswith("backward "):
            roots = [word for word in each.split() if not names_in(word) & gone]
            if each != line and len(roots) > 1:
                kept.append(" ".join(roots))
        elif each == line or names_in(each) & gone:
            gone.add(each.split()[0])
        else:
            kept.append(each)
    return kept


def names_in(text):
    """t1.0 is of t1, too."""
    words = {word for word in re.split(r"[ (),:]+", text) if word.startswith("t")}
    return words | {word.partition(".")[0] for word in words}
