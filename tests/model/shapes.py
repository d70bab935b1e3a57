"""Writes captures of hostile shapes, as the text of `perf script`: deep recursion, equal names in several modules, huge weights and none, no names, many
threads, odd names, a cut end."""

NAMES = ["main", "work", "work(int)", "std::map<int, std::less<int> >::find", "a b", "x;y", '"quoted"', "caf\u00e9", "[odd]", "operator()", "$LT$impl$GT$::run", "f", "a" * 300]
MODULES = ["/bin/a", "/lib/liba.so.1", "/lib/libb.so", "/opt/a b/program", "[vdso]", "/lib/a"]
WEIGHTS = ((1,), (0, 1), (0,), (1, 7, 1000003), (1 << 40, 1), ((1 << 62) - 1, 1, 3))


def write(path, numbers):
    """One capture; its shape is drawn."""
    names = numbers.sample(NAMES, numbers.randint(1, len(NAMES)))
    modules = numbers.sample(MODULES, numbers.randint(1, 4))
    weights, threads = numbers.choice(WEIGHTS), numbers.choice((1, 3, 300))
    depths = numbers.choice(((1, 2, 3), (0, 1), (5, 40), (250,)))
    nameless, recursive = numbers.choice((0, 0, .3, 1)), numbers.random() < .4
    events = ["cpu-clock", "cache-misses"][:numbers.randint(1, 2)]
    frames = [(0x400000 + 64 * i, numbers.choice(names), numbers.choice(modules)) for i in range(numbers.choice((2, 8, 60)))]
    lines, us = [], 1000
    for _ in range(numbers.choice((3, 40, 200))):
        us += numbers.choice((0, 1, 1000))
        thread = numbers.randrange(threads)
        comm = numbers.choice(("program", "a b", "x")) if thread % 3 == 0 else f"thread{thread}"
        lines.append(f"{comm} {100 + thread // 7}/{100 + thread} [00{thread % 2}] {us // 1000000}.{us % 1000000:06}: {numbers.choice(weights)} {numbers.choice(events)}: ")
        frame = numbers.choice(frames)
        for _ in range(numbers.choice(depths)):
            frame = frame if recursive and numbers.random() < .8 else numbers.choice(frames)
            address, name, module = frame
            if numbers.random() < nameless:
                lines.append(f"\t{address:16x} [unknown] ({numbers.choice((module, '[unknown]'))})")
            else:
                lines.append(f"\t{address:16x} {name}+0x{numbers.randrange(16):x} ({module})")
        lines.append("")
    text = "\n".join(lines) + "\n"
    if numbers.random() < .2:
        text = text[:numbers.randrange(len(text) // 2, len(text))]
    path.write_text(text)
