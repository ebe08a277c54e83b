"""How arguments of operators are drawn: functions that a Maker is given to, and that return words."""

FLOATS = ("float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
ALL = FLOATS + INTEGERS + ("bool",)

# ---- what several operators draw alike


def one(dtypes=ALL, **how):
    return lambda maker: [maker.tensor(dtypes, **how)]


def any_tensor(maker):
    return maker.tensor()


def any_two(maker):
    """Now and then the same."""
    return [maker.tensor()] * 2 if maker.chance(0.5) else [maker.tensor(), maker.tensor()]


def changeable(maker):
    return maker.changeable()


def changed_alone(maker):
    return [maker.changeable()]


def with_number(maker):
    return [maker.tensor(), maker.number()]


def number_and_tensor(maker):
    return [maker.number(), maker.tensor()]


def two(maker):
    a = maker.tensor()
    b = maker.number() if maker.chance(0.3) else maker.beside(a)
    return [b, a] if maker.chance(0.2) and b in maker.names() else [a, b]


def two_tensors(maker):
    a = maker.tensor()
    return [a, maker.beside(a)]


def two_and_alpha(maker):
    return two(maker) + ([maker.number()] if maker.chance(0.3) else [])


def changed(maker):
    a = maker.changeable()
    return [a, maker.number() if maker.chance(0.3) else maker.beside(a, narrower=True)]


def changed_and_alpha(maker):
    return changed(maker) + ([maker.number()] if maker.chance(0.3) else [])


def changed_by_number(maker):
    return [maker.changeable(), maker.number()]


def overwritten(maker):
    a = maker.changeable()
    return [a, maker.beside(a, narrower=True)]


def tensor_and_dim(dtypes=ALL):
    def draw(maker):
        a = maker.tensor(dtypes)
        return [a, maker.dim(a)]
    return draw


# ---- shapes


def other_shape(maker):
    a = maker.tensor()
    return [a, maker.sizes_for(maker.numel(a))]


def flattened(maker):
    a = maker.tensor()
    return [a] + [maker.dim(a) for _ in range(maker.integer(0, 2))]


def expanded(maker):
    a = maker.tensor()
    sizes = [maker.pick([size, -1]) if size != 1 else maker.pick([1, 2, 3, -1]) for size in maker.sizes(a)]
    front = [maker.integer(1, 3) for _ in range(maker.integer(0, 1))]
    if maker.is_wild():
        sizes = [size + 1 for size in sizes]
    return [a, maker.list(front + sizes)]


def two_dims(maker):
    a = maker.tensor()
    return [a, maker.dim(a), maker.dim(a)]


def permuted(maker):
    a = maker.tensor()
    rank = len(maker.sizes(a))
    order = maker.shuffled([maker.pick([dim, dim - rank]) for dim in range(rank)])
    return [a, maker.list(order[1:] if maker.is_wild() else order)]


def unsqueezed(maker):
    a = maker.tensor()
    return [a, maker.dim(a, more=1)]


def narrowed(maker):
    a = maker.tensor(rank=(1, 4))
    dim = maker.dim(a)
    size = maker.size(a, dim)
    start = maker.integer(0, size)
    length = maker.integer(0, size - start)
    if maker.is_wild():
        length += size
    return [a, dim, str(maker.pick([start, start, start - size if start < size else start])), str(length)]


def selected(maker):
    a = maker.sparse() if maker.chance(0.1) else maker.tensor(rank=(1, 4))
    dim = maker.dim(a)
    return [a, dim, maker.index_in(maker.size(a, dim))]


def split_up(maker):
    a = maker.tensor(rank=(1, 4))
    dim = maker.dim(a)
    size = maker.size(a, dim)
    if maker.chance(0.5):
        return [a, str(maker.integer(1, size + 1)), dim]
    pieces = []
    while sum(pieces) < size and len(pieces) < 4:
        pieces.append(maker.integer(0, size - sum(pieces)))
    pieces.append(size - sum(pieces) + (1 if maker.is_wild() else 0))
    return [a, maker.list(pieces), dim]


def joined(new_dim):
    def draw(maker):
        a = maker.tensor(rank=(0 if new_dim else 1, 3))
        dim = maker.dim(a, more=1 if new_dim else 0)
        names = [a]
        for _ in range(maker.integer(0, 2)):
            sizes = list(maker.sizes(a))
            if not new_dim and sizes and -len(sizes) <= int(dim) < len(sizes):
                sizes[int(dim)] = maker.integer(0, 3)
            names.append(maker.of_sizes(sizes))
        return [f"({','.join(maker.shuffled(names))})"] + ([dim] if maker.chance(0.8) or dim != "0" else [])
    return draw


# ---- choices, powers, places


def bounds(draw_first):
    return lambda maker: [draw_first(maker), maker.number(), maker.number()]


def chosen(maker):
    a = maker.tensor()
    condition = maker.beside(a, dtype="bool")
    choices = [a if maker.chance(0.8) else maker.number(), maker.number() if maker.chance(0.2) else maker.beside(a)]
    return [condition] + maker.shuffled(choices)


def along(maker):
    """All of it, or along a dimension, which may stay."""
    a = maker.tensor()
    return [a] + maker.pick([[], [maker.dim(a)], [maker.dim(a), maker.flag()]])


def over(dtypes=ALL):
    """All of it, or over some dimensions, which may stay."""
    def draw(maker):
        a = maker.tensor(dtypes)
        dims = maker.pick([maker.dim, maker.dims])(a)
        return [a] + maker.pick([[], [dims], [dims, maker.flag()]])
    return draw


def varied(maker):
    a = maker.tensor(FLOATS)
    words = maker.pick([[], [maker.dim(a)], [maker.dims(a)]])
    words += maker.pick([[], [maker.flag()]])
    return [a] + words + (maker.pick([[], [maker.flag()]]) if len(words) == 2 else [])


def measured(maker):
    a = maker.tensor(FLOATS)
    order = maker.pick(["2", "1", "3", "0", "inf", "-inf", "0.5", "2.0"])
    dims = maker.pick([maker.dim, maker.dims])(a)
    return [a] + maker.pick([[], [order], [order, dims], [order, dims, maker.flag()]])


def masked(maker):
    a = maker.tensor()
    return [a, maker.beside(a, dtype="bool")]


def masked_and_number(maker):
    return masked(maker) + [maker.number()]


def count(maker):
    return [str(maker.integer(0, 5))]


def counted(maker):
    numbers = [maker.pick([str(maker.integer(-3, 6)), repr(maker.pick([0.5, 2.5, 4.0, -1.0]))]) for _ in range(3)]
    return numbers[:maker.integer(1, 3)]


def spaced(maker):
    return [maker.number(), maker.number(), str(maker.integer(0, 6))] + maker.pick([[], [f'"{maker.pick(FLOATS)}"']])


def drawn_below(maker):
    low = [str(maker.integer(-3, 2))] if maker.chance(0.5) else []
    return low + [str(maker.integer(0 if maker.is_wild() else 3, 5)), maker.list(maker.new_sizes())]


def places_in(maker, a, dim):
    """An index as gather() takes it: sizes no larger than those of `a` but along the dimension."""
    sizes = [maker.integer(0 if maker.chance(0.1) else 1, size) for size in maker.sizes(a)]
    if sizes and -len(sizes) <= int(dim) < len(sizes):
        sizes[int(dim)] = maker.integer(0, 4)
    return maker.index_tensor(sizes, maker.size(a, dim))


def gathered(maker):
    a = maker.tensor()
    dim = maker.dim(a)
    return [a, dim, places_in(maker, a, dim)]


def scattered(draw_first):
    def draw(maker):
        a = draw_first(maker)
        dim = maker.dim(a)
        index = places_in(maker, a, dim)
        sizes = [size + maker.pick([0, 0, 0, 1]) for size in maker.sizes(index)]
        return [a, dim, index, with_dtype_of(maker, a, sizes)]
    return draw


def rows(maker):
    a = maker.tensor()
    dim = maker.dim(a)
    return [a, dim, maker.index_tensor([maker.integer(0, 4)] if maker.chance(0.9) else [], maker.size(a, dim))]


def added_rows(draw_first):
    def draw(maker):
        a = draw_first(maker)
        dim, sizes = maker.dim(a), maker.sizes(a)
        index = maker.index_tensor([maker.integer(0, 4)], maker.size(a, dim))
        if sizes and -len(sizes) <= int(dim) < len(sizes):
            sizes[int(dim)] = maker.numel(index)
        words = [a, dim, index, with_dtype_of(maker, a, sizes)]
        return words + ([maker.number()] if maker.chance(0.3) else [])
    return draw


def hot(maker):
    index = maker.index_tensor(maker.new_sizes((0, 3)), 3)
    return [index] + maker.pick([[], [str(maker.integer(2, 4))]])


def certain_chance(maker):
    """Of a dropout that leaves nothing to chance."""
    return [maker.tensor(FLOATS)] + maker.pick([["0.0"], ["1.0"], ["0.25", "false"]])


# ---- products and what networks are made of


def with_dtype_of(maker, a, sizes):
    """Mostly of the same dtype, as products want it."""
    return maker.of_sizes(sizes, maker.dtype(a) if maker.chance(0.95) else None)


def matrices(maker):
    a = maker.tensor(rank=(2, 2))
    return [a, with_dtype_of(maker, a, [maker.size(a, 1), maker.integer(0, 4)])]


def batches(maker):
    a = maker.tensor(rank=(3, 3))
    return [a, with_dtype_of(maker, a, [maker.size(a, 0), maker.size(a, 2), maker.integer(0, 4)])]


def multiplied(maker):
    a = maker.tensor(rank=(1, 4))
    sizes = maker.sizes(a)
    inner = maker.size(a, -1)
    kind = maker.integer(0, 3)
    if kind == 0:
        other = [inner]
    elif kind == 1 or len(sizes) < 3:
        other = [inner, maker.integer(0, 4)]
    else:
        other = maker.narrower(sizes[:-2]) + [inner, maker.integer(0, 4)]
    return [a, with_dtype_of(maker, a, other)]


def chain(maker):
    sizes = [maker.integer(1, 4) for _ in range(maker.integer(3, 5))]
    dtype = maker.pick(FLOATS)
    names = [maker.of_sizes([rows, columns], dtype) for rows, columns in zip(sizes, sizes[1:])]
    if maker.chance(0.2):
        names[0] = maker.of_sizes([sizes[1]], dtype)
    if maker.chance(0.2):
        names[-1] = maker.of_sizes([sizes[-2]], dtype)
    return [f"({','.join(names)})"]


def layer(maker):
    x = maker.tensor(FLOATS, rank=(1, 4))
    out = maker.integer(1, 3)
    weight = with_dtype_of(maker, x, [out, maker.size(x, -1)])
    return [x, weight] + maker.pick([[], ["none"], [with_dtype_of(maker, x, [out])]])


def pair(maker, low, high):
    return maker.list([maker.integer(low, high) for _ in range(maker.integer(1, 2))])


def image(maker, **how):
    return maker.of_sizes([maker.integer(1, 2), maker.integer(1, 3), maker.integer(2, 6), maker.integer(2, 6)],
                          maker.pick(FLOATS), **how)


def convolved(maker):
    x = image(maker)
    out = maker.integer(1, 3)
    weight = with_dtype_of(maker, x, [out, maker.size(x, 1), maker.integer(1, 3), maker.integer(1, 3)])
    words = [x, weight] + maker.pick([["none"], [with_dtype_of(maker, x, [out])]])
    return words + maker.pick([[], [pair(maker, 1, 3)], [pair(maker, 1, 3), pair(maker, 0, 2)]])


def pooled(maker):
    words = [image(maker), pair(maker, 1, 3)]
    return words + maker.pick([[], [pair(maker, 1, 3)], [maker.pick(["[]", "[2]"]), pair(maker, 0, 1)]])


def normalized(maker):
    x = maker.of_sizes([maker.integer(2, 3), maker.integer(1, 3)] + [maker.integer(1, 3)] * maker.integer(0, 2),
                       maker.pick(FLOATS))
    words = [x]
    if maker.chance(0.7):
        words += [with_dtype_of(maker, x, [maker.size(x, 1)]) for _ in range(2)]
        words += maker.pick([[], ["0.1"]])
    return words


def bags(maker):
    table = maker.of_sizes([maker.integer(1, 5), maker.integer(0, 3)], maker.pick(FLOATS))
    count = maker.integer(0, 6)
    indices = maker.index_tensor([count], maker.size(table, 0))
    starts = sorted(maker.integer(0, count) for _ in range(maker.integer(0, 3)))
    offsets = maker.values("int64", [len(starts) + 1], [0] + starts)
    words = [table, indices, offsets]
    if maker.chance(0.3):
        return words + ['"sum"', maker.flag(), with_dtype_of(maker, table, [count])]
    return words + maker.pick([[], [maker.pick(['"sum"', '"mean"']), maker.flag()]])


def row_normalized(maker):
    x = maker.tensor(FLOATS, rank=(1, 4))
    sizes = maker.sizes(x)
    sizes = sizes[maker.integer(0, len(sizes) - 1):] if sizes else [1]
    words = [x, maker.list(sizes[1:] if maker.is_wild() else sizes)]
    words += maker.pick([[], ["none"], [with_dtype_of(maker, x, sizes)]])
    return words + (maker.pick([[], ["none"], [with_dtype_of(maker, x, sizes)]]) if len(words) > 2 else [])


def classes(maker):
    """Inputs, targets, and for each class a weight; what is left out, and how samples are brought together."""
    count = maker.integer(1, 4)
    samples = [maker.integer(0, 3) for _ in range(maker.pick([0, 1, 1, 1, 2, 3]))]
    x = maker.of_sizes(samples[:1] + [count] + samples[1:], maker.pick(FLOATS))
    target = maker.index_tensor(samples, count)
    words = [x, target, maker.pick(["none", with_dtype_of(maker, x, [count])])]
    return words + maker.pick([[], [str(maker.integer(-1, 1))], [maker.pick(["-100", "0"]), maker.reduction()]])


def classes_and_smoothing(maker):
    words = classes(maker)
    return words + [maker.pick(["0.0", "0.1", "1.0"])] if len(words) == 5 else words


def losses(maker):
    a = maker.tensor(FLOATS)
    return [a, with_dtype_of(maker, a, maker.sizes(a) if maker.chance(0.9) else maker.narrower(maker.sizes(a)))]


# ---- makers and sparse tensors


def made(dtypes):
    return lambda maker: [maker.list(maker.new_sizes())] + maker.pick([[], [f'"{maker.pick(dtypes)}"']])


def converted(maker):
    return [maker.tensor(), f'"{maker.pick(ALL)}"']


def with_sparse_changed(draw_other, *others):
    """Now and then the operand that is changed is sparse, and the other one one of these."""
    def draw(maker):
        if not maker.chance(0.08):
            return draw_other(maker)
        s = maker.sparse()
        other = {"number": maker.number, "sparse": lambda: maker.sparse(maker.sizes(s)),
                 "dense": lambda: maker.of_sizes(maker.sizes(s), maker.dtype(s))}[maker.pick(others)]()
        return [s, other]
    return draw


def sparse_parts(maker):
    sizes = [maker.integer(1, 4) for _ in range(maker.integer(1, 3))]
    sparse_dims = maker.integer(1, len(sizes))
    count = maker.integer(0, 4)
    places = [maker.integer(0, size - 1) for size in sizes[:sparse_dims] for _ in range(count)]
    if places and maker.is_wild():
        places[0] = 9
    indices = maker.values("int64", [sparse_dims, count], places)
    dtype = maker.pick(FLOATS) if maker.chance(0.8) else maker.pick(INTEGERS)
    return [indices, maker.fixed_values([count] + sizes[sparse_dims:], dtype), maker.list(sizes)]


def sparse_or_dense(maker):
    return [maker.sparse() if maker.chance(0.8) else maker.tensor()]


def with_sparse(draw_other):
    """Now and then one of two operands is sparse."""
    def draw(maker):
        if not maker.chance(0.12):
            return draw_other(maker)
        s = maker.sparse()
        other = maker.pick([maker.number, lambda: maker.sparse(maker.sizes(s)),
                            lambda: maker.of_sizes(maker.sizes(s), maker.dtype(s))])()
        return maker.pick([[s, other], [s, other], [other, s] if other in maker.names() else [s, other]])
    return draw
