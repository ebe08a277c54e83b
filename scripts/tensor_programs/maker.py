"""Draws programs."""
import math
import random

import torch

from .arguments import ALL, FLOATS
from .operators import TABLE
from .texts import contiguous_strides, dtype_name, list_text

NUMEL_MAX, LONG_NUMEL_MAX = 150, 400  # of operands
SIZES, LONG_SIZES = (1, 2, 2, 3, 3, 4), (1, 2, 3, 5, 8, 9, 17, 33, 65)  # long ones fill the lanes of kernels
LIMITS = {"uint8": (0, 255), "int8": (-128, 127), "int16": (-2 ** 15, 2 ** 15 - 1), "int32": (-2 ** 31, 2 ** 31 - 1),
          "int64": (-2 ** 63, 2 ** 63 - 1), "bool": (0, 1)}


class Maker:
    """Draws a program, and runs each line as it is there: what comes next depends on the sizes so far."""

    def __init__(self, session, seed, operators):
        self.session, self.random = session, random.Random(seed)
        self.operators = operators
        self.lines = []
        self.count = 0
        # Memory that is not to be changed in place: of indices, which nobody would look at again, of values that sparse
        # tensors may share or not, and of leaves whose elements share it, so that who gets the gradient is anybody's
        # guess.
        self.fixed = set()
        # Of the whole program: how many of its numbers are whole ones, odd ones, and how often it is to be refused.
        self.dtypes = self.pick([("float32",), ("float64",), FLOATS, ALL, ALL])
        self.special = self.pick([0, 0, 0, 0, 0.1])
        self.wild = self.pick([0, 0.03, 0.08])
        self.is_long = self.chance(0.05)

    # ---- lines

    def run(self, line):
        self.lines.append(line)
        return self.session.run(line)

    def new_name(self):
        self.count += 1
        return f"t{self.count}"

    def program(self, steps):
        names = list(self.operators)
        weights = [TABLE[name].weight for name in names]
        for _ in range(self.integer(1, 2 * steps)):
            if self.chance(0.01):
                self.run("recording " + ("off" if self.session.torch.is_recording else "on"))
            if self.chance(0.01):
                self.backward()
            operator = self.random.choices(names, weights)[0]
            words = TABLE[operator].draw(self)
            self.run(" ".join([f"{self.new_name()} = {operator}"] + words))
        self.run("show")
        self.backward()

    def backward(self):
        roots = self.roots()
        if roots:
            self.run("backward " + " ".join(roots))

    def roots(self):
        names = [name for name in self.names() if self.tensors()[name].is_floating_point() and
                 self.tensors()[name].requires_grad and not self.tensors()[name].is_sparse]
        chosen = names if self.chance(0.5) else [name for name in names if self.chance(0.5)] or names[-1:]
        return [f"{name}:{self.integer(0, 10)}" for name in chosen]

    # ---- choices

    def chance(self, probability):
        return self.random.random() < probability

    def integer(self, low, high):
        return self.random.randint(low, max(low, high))

    def pick(self, choices):
        return self.random.choice(choices)

    def shuffled(self, items):
        return self.random.sample(items, len(items))

    def is_wild(self):
        """Whether something is to be wrong."""
        return self.chance(self.wild)

    def flag(self):
        return self.pick(["true", "false"])

    def reduction(self):
        return self.pick(['"mean"', '"sum"', '"none"'])

    list = staticmethod(list_text)

    def number(self):
        kind = self.random.random()
        if kind < 0.45:
            return str(self.integer(-3, 4))
        if kind < 0.85:
            return repr(self.pick([0.5, 2.0, -1.5, 0.1, 3.0, -0.25]))
        if kind < 0.93:
            return self.flag()
        return self.pick(["1e10", "1000000", "-129", "256", "inf", "nan", "1e-30", "-0.0"])

    # ---- tensors that there are

    def tensors(self):
        return {name: value for name, value in self.session.torch.names.items() if isinstance(value, torch.Tensor)}

    def names(self):
        return list(self.tensors())

    def dtype(self, name):
        return dtype_name(self.tensors()[name])

    def sizes(self, name):
        return list(self.tensors()[name].shape)

    def size(self, name, dim):
        """1 for a dimension that there is not."""
        sizes = self.sizes(name)
        return sizes[int(dim)] if -len(sizes) <= int(dim) < len(sizes) else 1

    def numel(self, name):
        return self.tensors()[name].numel()

    def dense(self, fits):
        return [name for name, value in self.tensors().items()
                if not value.is_sparse and value.numel() <= self.numel_max() and fits(value)]

    def numel_max(self):
        return LONG_NUMEL_MAX if self.is_long else NUMEL_MAX

    def one_of(self, names):
        """Later ones are more likely, so that programs grow deep."""
        return names[max(self.integer(0, len(names) - 1), self.integer(0, len(names) - 1))]

    def tensor(self, dtypes=ALL, rank=(0, 4)):
        if self.is_wild() and self.names():
            return self.pick(self.names())
        names = self.dense(lambda value: dtype_name(value) in dtypes and rank[0] <= value.dim() <= rank[1])
        if names and self.chance(0.8):
            return self.one_of(names)
        return self.fresh(self.new_sizes(rank), self.new_dtype(dtypes))

    def of_sizes(self, sizes, dtype=None, is_plain=False):
        """Of exactly these, if nothing is to be wrong; plain: contiguous."""
        if self.is_wild():
            return self.tensor()
        dtype = dtype or self.new_dtype()
        names = self.dense(lambda value: list(value.shape) == sizes and dtype_name(value) == dtype and
                           (value.is_contiguous() or not is_plain))
        return self.one_of(names) if names and self.chance(0.5) else self.fresh(sizes, dtype, is_plain)

    def beside(self, name, narrower=False, dtype=None):
        """One that stretches to the sizes of the other, or also the other way round."""
        sizes = self.sizes(name)

        def fits(value):
            whole = broadcast(sizes, list(value.shape))
            return (whole is not None and (not narrower or whole == sizes) and
                    (dtype is None or dtype_name(value) == dtype))

        names = self.dense(fits)
        if self.is_wild():
            return self.tensor()
        if names and self.chance(0.6):
            return self.one_of(names)
        own = self.dtype(name) if self.chance(0.7) else self.new_dtype()
        return self.fresh(self.narrower(sizes), dtype or own)

    def changeable(self):
        """For operators in place: mostly no leaf, and without elements that share their bytes."""
        fixed = self.fixed | self.session.torch.unrecorded
        names = self.dense(lambda value: value.storage().data_ptr() not in fixed and
                           (self.is_wild() or not (value.requires_grad and value.is_leaf)) and
                           (self.is_wild() and 0 in value.stride() or not is_overlapping(value)))
        return self.one_of(names) if names else self.fresh(self.new_sizes(), self.new_dtype(), is_plain=True)

    def sparse(self, sizes=None):
        names = [name for name, value in self.tensors().items()
                 if value.is_sparse and (sizes is None or list(value.shape) == sizes)]
        if names and self.chance(0.7):
            return self.one_of(names)
        words = self.sparse_parts(sizes) if sizes else TABLE["sparse_coo"].draw(self)
        name = self.new_name()
        made = self.run(" ".join([f"{name} = sparse_coo"] + words))
        return name if name in made else self.changeable()

    def sparse_parts(self, sizes):
        sparse_dims = self.integer(1, len(sizes))
        count = self.integer(0, 3) if all(sizes) else 0
        places = [self.integer(0, size - 1) for size in sizes[:sparse_dims] for _ in range(count)]
        return [self.values("int64", [sparse_dims, count], places),
                self.fixed_values([count] + sizes[sparse_dims:], self.pick(FLOATS)), list_text(sizes)]

    # ---- new tensors

    def new_dtype(self, dtypes=ALL):
        common = [dtype for dtype in self.dtypes if dtype in dtypes]
        return self.pick(common or list(dtypes))

    def new_sizes(self, rank=(0, 4)):
        count = self.pick([length for length in (0, 1, 1, 2, 2, 2, 3, 3, 4) if rank[0] <= length <= rank[1]])
        sizes = [0 if self.chance(0.03) else self.pick(SIZES) for _ in range(count)]
        if count in (1, 2) and self.is_long:
            sizes[self.integer(0, count - 1)] = self.pick(LONG_SIZES)
        return sizes

    def narrower(self, sizes):
        """That stretches to these."""
        sizes = [1 if self.chance(0.2) else size for size in sizes]
        return sizes[self.integer(0, len(sizes)) if self.chance(0.3) else 0:]

    def fresh(self, sizes, dtype, is_plain=False):
        strides, offset, block = self.layout(sizes, is_plain)
        numbers = [self.element(dtype) for _ in range(block)]
        is_leaf = dtype in FLOATS and self.chance(0.6)
        name = self.input(dtype, sizes, strides, offset, "leaf" if is_leaf else "-", numbers)
        if is_leaf and is_overlapping(self.tensors()[name]):
            self.fixed.add(self.tensors()[name].storage().data_ptr())
        return name

    def input(self, dtype, sizes, strides, offset, leaf, numbers):
        name = self.new_name()
        self.run(" ".join([f"{name} = input {dtype}", list_text(sizes), list_text(strides), str(offset), leaf] +
                          [str(number) for number in numbers]))
        return name

    def values(self, dtype, sizes, numbers):
        name = self.input(dtype, sizes, contiguous_strides(sizes), 0, "-", numbers)
        self.fixed.add(self.tensors()[name].storage().data_ptr())
        return name

    def fixed_values(self, sizes, dtype):
        special, self.special = self.special, 0  # entries are added up in an order that is nobody's business
        name = self.fresh(sizes, dtype, is_plain=True)
        self.special = special
        self.fixed.add(self.tensors()[name].storage().data_ptr())
        return name

    def index_tensor(self, sizes, count):
        """Of numbers of 0 .. count - 1."""
        numbers = [self.integer(0, count - 1) for _ in range(math.prod(sizes))]
        if numbers and self.is_wild():
            numbers[-1] = self.pick([count, -1])
        return self.values("int64", sizes, numbers)

    def layout(self, sizes, is_plain):
        """Strides, offset, elements of the block."""
        strides, kind = contiguous_strides(sizes), 1 if is_plain else self.random.random()
        offset = 0
        if kind < 0.15:
            order = self.shuffled(range(len(sizes)))
            inner = contiguous_strides([sizes[dim] for dim in order])
            strides = [inner[order.index(dim)] for dim in range(len(sizes))]
        elif kind < 0.25:
            strides = [2 * stride for stride in strides]
        elif kind < 0.33:
            offset = self.integer(1, 3)
        elif kind < 0.43:
            strides = [0 if self.chance(0.4) else stride for stride in strides]
        elif kind < 0.45:
            strides = [1 for _ in strides]
        reach = sum((size - 1) * stride for size, stride in zip(sizes, strides)) + 1 if all(sizes) else 0
        return strides, offset, offset + reach

    def element(self, dtype):
        if dtype not in FLOATS:
            low, high = LIMITS[dtype]
            return self.pick([low, high]) if self.chance(self.special) else self.integer(max(low, -3), min(high, 4))
        if self.chance(self.special):
            return self.pick(["inf", "-inf", "nan", "-0.0", "0.0", "1e30", "-1e30", "1e-40"])
        value = self.pick([self.integer(-8, 8) / 4, self.integer(1, 8) / 4, self.random.gauss(0, 1)])
        return repr(torch.tensor(value, dtype=getattr(torch, dtype)).item())

    # ---- arguments

    def dim(self, name, more=0):
        rank = max(len(self.sizes(name)) + more, 1)
        return str(self.pick([rank, -rank - 1]) if self.is_wild() else self.integer(-rank, rank - 1))

    def dims(self, name):
        rank = len(self.sizes(name))
        dims = [self.pick([dim, dim - rank]) for dim in range(rank) if self.chance(0.5)]
        return list_text(self.shuffled(dims) + (dims[:1] if self.is_wild() else []))

    def index_in(self, size):
        return str(self.pick([size, -size - 1]) if self.is_wild() or not size else self.integer(-size, size - 1))

    def sizes_for(self, numel):
        """Of so many elements."""
        sizes, rest = [], numel
        while rest > 1 and len(sizes) < 3:
            sizes.append(self.pick([divisor for divisor in range(1, rest + 1) if rest % divisor == 0]))
            rest //= sizes[-1]
        sizes = self.shuffled(sizes + ([rest] if rest != 1 or self.chance(0.2) else []))
        if sizes and self.chance(0.3):
            sizes[self.integer(0, len(sizes) - 1)] = -1
        return list_text(sizes + ([2] if self.is_wild() else []))


def is_overlapping(value):
    """Whether elements of it may share their bytes."""
    reach = 1
    for stride, size in sorted(zip(value.stride(), value.shape)):
        if size > 1 and stride < reach:
            return True
        reach += (size - 1) * stride
    return False


def broadcast(a, b):
    """None if they don't stretch to common sizes."""
    longest = max(len(a), len(b))
    pairs = zip([1] * (longest - len(a)) + a, [1] * (longest - len(b)) + b)
    whole = [x if y == 1 or x == y else y if x == 1 else None for x, y in pairs]
    return None if None in whole else whole
