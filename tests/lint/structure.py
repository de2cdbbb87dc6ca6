#!/usr/bin/env python3
"""structure.py BUILD [FOLDER] [--only CHECK,...] [--tap]

The structure of src, lab and tools: who includes whom, who calls whom, names, sizes, and what the
preload libraries contain. Prints what breaks a rule, of FOLDER only if one is given (src/shm, lab),
and ends with status 1 if anything does. --tap reports each check as a test.
"""
import argparse
import collections
import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
PARTS = ("src", "lab", "tools")
LIMIT = 600  # lines of a file

# ---- who may include whom ----
# A folder includes only folders before it in LAYERS. The folders of APART stand beside the layers.
LAYERS = ["base", "topo", "shm", "sched", "price", "exec", "coll", "neighbor", "select", "report", "mpi"]
APART = {"match": {"base"}, "fabric": {"match", "shm", "base"}, "front": {"base", "report", "mpi"}}
ALSO = {"mpi": {"match", "front"}}
# Inside these folders, sub-folders include only those before them; files beside them, none.
INSIDE = {"src/mpi": ["state", "transport", "dispatch", "abi"], "src/fabric": ["lane", "proto", "api"]}

# ---- words that only this project ever used ----
# Anywhere, in names and comments.
PRIVATE = """board boards bay bays mate mates chute chutes hood hoods seat seats seated parcel parcels haul
    hauls gift gifts crowd crowds town towns cargo cargos tally tallies""".split()
# In names only: as English words in comments they are fine.
PRIVATE_NAMES = """turn turns peek peeks bell bells door doors party parties tour tours leg legs serve serves
    recent talk talks lean weigh deal due letter web circle sign signs room rooms piece pieces expose exposed
    may_fly""".split()
# Whole identifiers, or files, that may use them.
ALLOWED = re.compile(r"^(FI_PEEK|FI_.*|fi_.*|MPI_.*|PMPI_.*|SKEIN_([A-Z]+_)?EXPOSED|SKEIN_INNER)$")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def tree(*parts):
    found = []
    for part in parts:
        for folder, _, names in os.walk(os.path.join(ROOT, part)):
            found += [os.path.relpath(os.path.join(folder, n), ROOT)
                      for n in names if n.endswith((".c", ".h", ".def"))]
    return sorted(found)


def blank(text, comments=True, strings=True):
    """The text with comments and strings blanked, lines kept."""
    def gone(m):
        s = m.group(0)
        if s[0] == "/":
            return re.sub(r"[^\n]", " ", s) if comments else s
        return s[0] + re.sub(r"[^\n]", " ", s[1:-1]) + s[-1] if strings else s
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', gone, text, flags=re.S)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


class Tree:
    def __init__(self, build):
        self.build = build
        self.files = tree(*PARTS)
        self.text = {f: read(f) for f in self.files}
        self.code = {f: blank(t) for f, t in self.text.items()}
        self.readers = tree(*PARTS, "tests", "examples", "sim", "libexec", "include")
        self.includes = {f: self.find_includes(f) for f in self.readers}
        self._objects = None

    def find_includes(self, path):
        out = []
        text = self.text.get(path) or read(path)
        for m in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', text, re.M):
            out.append((line_of(text, m.start()), m.group(1), m.group(2),
                        self.resolve(path, m.group(2)) if m.group(1) == '"' else None))
        return out

    def resolve(self, path, name):
        for base in (os.path.dirname(path), "src", "", "tools", "include", "tests"):
            full = os.path.normpath(os.path.join(base, name))
            if os.path.isfile(os.path.join(ROOT, full)):
                return full
        return None

    def objects(self):
        """Each source's first object: path -> (defined symbols, called symbols, all symbols it needs)."""
        if self._objects is not None:
            return self._objects
        first = {}
        with open(os.path.join(self.build, "compile_commands.json")) as f:
            for entry in json.load(f):
                source = os.path.relpath(os.path.realpath(os.path.join(entry["directory"], entry["file"])), ROOT)
                output = os.path.join(entry["directory"], entry["output"])
                if source.startswith(PARTS) and os.path.exists(output):
                    first.setdefault(source, output)
        outputs = {os.path.abspath(o): s for s, o in first.items()}
        table = {s: (set(), set(), set()) for s in first}
        names = list(outputs)
        for at in range(0, len(names), 100):
            self.read_objects(names[at:at + 100], outputs, table)
        self._objects = table
        return table

    @staticmethod
    def read_objects(names, outputs, table):
        run = subprocess.run(["nm", "-A", "-g", *names], capture_output=True, text=True, check=True)
        for line in run.stdout.splitlines():
            path, _, rest = line.rpartition(":")
            kind, name = rest.split()[-2:]
            mine = table[outputs[path]]
            mine[2 if kind in "Uwv" else 0].add(name)
        run = subprocess.run(["objdump", "-r", *names], capture_output=True, text=True, check=True)
        mine, code = None, False
        for line in run.stdout.splitlines():
            if ":     file format" in line:
                mine = table[outputs[line.split(":")[0]]]
            elif line.startswith("RELOCATION RECORDS FOR"):
                code = ".text" in line
            elif code and mine is not None:
                words = line.split()
                if len(words) == 3:
                    mine[1].add(re.sub(r"[+-]0x[0-9a-f]+$", "", words[2]))


def folder_of(path):
    at = path.split("/")
    return "/".join(at[:2]) if at[0] == "src" else at[0]


def may_include(path, to):
    """None, or why `path` may not include `to`."""
    a, b = path.split("/"), to.split("/")
    if b[0] == "include":
        return None
    if to.endswith("_inner.h") and not os.path.dirname(path).startswith(os.path.dirname(to)):
        return f"{to} is private to its folder"
    if a[0] == "lab":
        return "lab may not include src/mpi" if to.startswith("src/mpi/") else \
               "lab may not include tools" if b[0] == "tools" else None
    if a[0] == "tools":
        return "tools may not include src/mpi" if to.startswith("src/mpi/") else None
    if a[0] != "src":
        return None
    if b[0] != "src":
        return f"src may not include {b[0]}"
    x, y = a[1], b[1]
    if x == y:
        order = INSIDE.get("/".join(a[:2]))
        if not order or not os.path.isdir(os.path.join(ROOT, *a[:2], order[0])):
            return None
        i = order.index(a[2]) if a[2] in order else -1
        j = order.index(b[2]) if b[2] in order else -1
        return f"{a[2] if i >= 0 else x} may not include {b[2]}" if j > i else None
    if x in APART:
        ok = y in APART[x]
    else:
        ok = y in ALSO.get(x, ()) or (y in LAYERS and x in LAYERS and LAYERS.index(y) < LAYERS.index(x))
    return None if ok else f"{x} may not include {y}"


def check_includes(t):
    """Includes follow the layers."""
    for path in t.files:
        for line, kind, name, to in t.includes[path]:
            if kind == "<":
                if re.match(r"mpi(ext)?\.h$", name) and not re.match(r"src/mpi/|tools/bench/.*mpi|lab/papers/", path):
                    yield path, line, f"<{name}> outside src/mpi"
                if name.startswith("rdma/") and not path.startswith("src/fabric/"):
                    yield path, line, f"<{name}> outside src/fabric"
            elif to is None:
                yield path, line, f'"{name}" is not found'
            else:
                why = may_include(path, to)
                if why:
                    yield path, line, why


def components(nodes, edges):
    """Strongly connected components with more than one node (Tarjan, without recursion)."""
    index, low, on, stack, out = {}, {}, set(), [], []
    for root in nodes:
        if root in index:
            continue
        work = [(root, iter(sorted(edges[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, it = work[-1]
            for to in it:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on.add(to)
                    work.append((to, iter(sorted(edges[to]))))
                    break
                if to in on:
                    low[node] = min(low[node], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = []
                    while True:
                        x = stack.pop()
                        on.discard(x)
                        part.append(x)
                        if x == node:
                            break
                    if len(part) > 1:
                        out.append(sorted(part))
    return out


def check_circles(t):
    """Inside a folder calls run one way. Tables of functions are no calls."""
    table = t.objects()
    folders = collections.defaultdict(list)
    for source in table:
        folders[folder_of(source)].append(source)
    for folder, sources in sorted(folders.items()):
        home = {name: s for s in sources for name in table[s][0] if name != "main"}
        edges = {s: {home[n] for n in table[s][1] if n in home and home[n] != s} for s in sources}
        for part in components(sorted(sources), edges):
            yield part[0], 0, f"{len(part)} files of {folder} call each other in a circle:"
            inside = set(part)
            for s in part:
                for to in sorted(edges[s] & inside):
                    names = sorted(n for n in table[s][1] if home.get(n) == to)
                    yield s, None, f"{s} -> {to}: {', '.join(names[:4])}{' …' if len(names) > 4 else ''}"


def type_definitions(code):
    """(position, name) of every struct, union, enum and typedef that is defined here."""
    seen = set()
    for m in re.finditer(r"\b(?:struct|union|enum)\s+([A-Za-z_]\w*)\s*\{", code):
        seen.add(m.group(1))
        yield m.start(), m.group(1)
    for m in re.finditer(r"\btypedef\b", code):
        depth, at = 0, m.end()
        while at < len(code) and (depth > 0 or code[at] != ";"):
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            at += 1
        whole = code[m.end():at]
        flat = re.sub(r"\{.*\}", " ", whole, flags=re.S)
        pointer = re.search(r"\(\s*\*\s*(\w+)", flat)
        plain = re.search(r"(\w+)\s*(?:\[[^]]*\]|\([^)]*\))?\s*$", flat.strip())
        name = (pointer or plain).group(1) if pointer or plain else None
        forward = re.match(r"\s*(?:const\s+)?(?:struct|union|enum)\s+(\w+)\s+\1\s*$", flat)
        if name and not forward and name not in seen:
            yield m.start(), name


def check_types(t):
    """One type name is one type."""
    where = collections.defaultdict(list)
    for path in t.files:
        for at, name in type_definitions(t.code[path]):
            where[name].append((path, line_of(t.code[path], at)))
    for name, places in sorted(where.items()):
        if len(places) > 1:
            others = ", ".join(f"{p}:{n}" for p, n in places[1:])
            yield places[0][0], places[0][1], f"type {name} is defined again in {others}"


GOOD = re.compile(r"^(sk_|SK_|skein_|SKEIN_|P?MPIX?_|p?mpix?_)")


def header_names(text, code):
    """(position, kind, name) of everything that a header gives to those who include it."""
    for m in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", code, re.M):
        name = m.group(1)
        if name.endswith("_H") or re.search(rf"^[ \t]*#[ \t]*undef[ \t]+{name}\b", code, re.M):
            continue
        yield m.start(), "macro", name
    for at, name in type_definitions(code):
        yield at, "type", name
    for m in re.finditer(r"\benum\b[^;{()]*\{([^}]*)\}", code):
        if "#include" in re.sub(r"\s", "", m.group(1)):
            continue
        for part in re.finditer(r"(?:^|,)\s*([A-Za-z_]\w*)(?!\w|\()", re.sub(r"\([^()]*\)", lambda g: "(" * len(g.group(0)),
                                                                              m.group(1))):
            yield m.start(1) + part.start(1), "enumerator", part.group(1)
    # Functions: at depth 0, the word before the first parenthesis of a declaration.
    flat = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda g: re.sub(r"[^\n]", " ", g.group(0)), code, flags=re.M)
    depth, begin, chars = 0, 0, list(flat)
    for i, c in enumerate(flat):
        if c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
            chars[i] = ";" if depth == 0 else " "
        elif depth > 0 and c != "\n":
            chars[i] = " "
    flat = "".join(chars)
    for m in re.finditer(r"[^;]+", flat):
        s = re.sub(r"__attribute__\s*\(\(.*?\)\)|_Static_assert\s*\(.*|_Alignas\s*\([^)]*\)",
                   lambda g: " " * len(g.group(0)), m.group(0), flags=re.S)
        f = re.search(r"\b([A-Za-z_]\w*)\s*\(", s)
        if f and not re.search(r"\btypedef\b|=", s[:f.start()]) and \
                re.search(r"\w[\s*]+$", s[:f.start()]) and f.group(1) not in ("_Generic", "defined"):
            yield m.start() + f.start(1), "function", f.group(1)


def check_prefix(t):
    """What a header declares begins with sk_ or SK_."""
    for path in t.files:
        if path.endswith(".h"):
            for at, kind, name in header_names(t.text[path], t.code[path]):
                template = kind != "macro" and name.isupper()  # named by a macro of its reader
                if not GOOD.match(name) and not template:
                    yield path, line_of(t.code[path], at), f"{kind} {name} has no prefix sk_"


def check_headers(t):
    """A header has more than one reader."""
    by = collections.defaultdict(list)
    for path, found in t.includes.items():
        for _, _, _, to in found:
            if to and to != path:
                by[to].append(path)  # one file several times: a template
    for path in t.files:
        if path.endswith(".h") and len(by[path]) < 2:
            yield path, 1, f"read only by {', '.join(by[path]) or 'nobody'}"


def check_sizes(t):
    """No file is too long."""
    for path in t.files:
        lines = t.text[path].count("\n")
        if lines > LIMIT:
            yield path, lines, f"{lines} lines, more than {LIMIT}"


def check_names(t):
    """Names of files are plain: what a test left behind is not committed."""
    if not os.path.isdir(os.path.join(ROOT, ".git")):
        return
    run = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True)
    for name in run.stdout.split(b"\0"):
        if not re.fullmatch(rb"[A-Za-z0-9._/+-]*", name):
            yield repr(name), 1, "is no plain name of a file"


def check_words(t):
    """The words of the field, not our own."""
    word = re.compile(r"\b(" + "|".join(PRIVATE) + r")\b", re.I)
    private = set(PRIVATE) | set(PRIVATE_NAMES)
    for path in t.files:
        stem = os.path.splitext(path)[0].lower()
        for part in re.split(r"[/_]", stem):
            if part in private:
                yield path, 1, f"the file's name says {part}"
        seen = set()
        for m in re.finditer(r"[A-Za-z_]\w*", t.code[path]):
            name = m.group(0)
            if name in seen or ALLOWED.match(name):
                continue
            seen.add(name)
            bad = [p for p in name.lower().split("_") if p in private]
            if bad:
                yield path, line_of(t.code[path], m.start()), f"the name {name} says {bad[0]}"
        for m in re.finditer(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', t.text[path], re.S):
            for w in word.finditer(m.group(0)):
                yield path, line_of(t.text[path], m.start() + w.start()), f"the text says {w.group(0)}"


def compilation_units(lib):
    run = subprocess.run(["readelf", "--debug-dump=info", "--dwarf-depth=1", lib], capture_output=True, text=True,
                         check=True)
    return sorted({os.path.basename(m) + "" if "/" not in m else m for m in
                   re.findall(r"DW_AT_name\s*:(?: \([^)]*\):)? (\S+\.c)\s", run.stdout)})


# Part of the core, because choices are to read it; until then only `skein explain` does.
NOT_YET = ("src/price/",)


def check_objects(t):
    """The preload libraries contain nothing of lab, and nothing that they never reach."""
    libs = glob.glob(os.path.join(t.build, "lib", "libskein*.so"))
    for lib in libs:
        for unit in compilation_units(lib):
            m = re.search(r"(?:^|/)((?:lab|tools|tests)/.*)", unit)
            if m and os.path.exists(os.path.join(ROOT, m.group(1))):
                yield m.group(1), 1, f"is linked into {os.path.basename(lib)}"
    table = t.objects()
    home = {name: s for s in table if s.startswith("src/") for name in table[s][0]}
    reached = [s for s in table if s.startswith(("src/mpi/", "src/fabric/", "src/front/"))]
    seen = set(reached)
    while reached:
        for name in table[reached.pop()][2]:
            if name in home and home[name] not in seen:
                seen.add(home[name])
                reached.append(home[name])
    for s in sorted(table):
        if s.startswith("src/") and s not in seen and not s.startswith(NOT_YET):
            yield s, 1, "no preload library needs it: lab is its place"


# External names that nobody in the build refers to: those of programs, and of the MPI in the simulator's archive.
UNUSED = re.compile(r"^(main|P?MPIX?_\w+)$")


def check_linkage(t):
    """What one file alone uses is static. Tests count as users."""
    with open(os.path.join(t.build, "compile_commands.json")) as f:
        source = {os.path.normpath(os.path.join(e["directory"], e["output"])):
                  os.path.relpath(os.path.realpath(os.path.join(e["directory"], e["file"])), ROOT) for e in json.load(f)}
    missing = [o for o in source if not os.path.exists(o)]
    if missing:
        yield source[missing[0]], 1, f"{len(missing)} objects are not built: {missing[0]} …"
        return
    home, users = collections.defaultdict(set), collections.defaultdict(set)
    names = sorted(source)
    for at in range(0, len(names), 100):
        run = subprocess.run(["nm", "-A", "-g", *names[at:at + 100]], capture_output=True, text=True, check=True)
        for line in run.stdout.splitlines():
            path, _, rest = line.rpartition(":")
            kind, name = rest.split()[-2:]
            (users if kind in "Uwv" else home)[name].add(source[path])
    libs = glob.glob(os.path.join(t.build, "lib", "libskein*.so"))
    run = subprocess.run(["nm", "-D", "--defined-only", *libs], capture_output=True, text=True, check=True)
    exported = {line.split()[-1] for line in run.stdout.splitlines() if line}
    for name, places in sorted(home.items()):
        path = min(places)
        if path.startswith(PARTS) and not users[name] - places and name not in exported and not UNUSED.match(name):
            m = re.search(rf"\b{name}\b", t.code.get(path, ""))
            yield path, line_of(t.code[path], m.start()) if m else 1, f"{name}: no other file uses it"


CHECKS = {name[6:]: f for name, f in list(globals().items()) if name.startswith("check_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("folder", nargs="?", default="")
    parser.add_argument("--only", default=",".join(CHECKS))
    parser.add_argument("--tap", action="store_true")
    args = parser.parse_args()
    folder = os.path.relpath(os.path.realpath(args.folder), ROOT) if args.folder else ""
    t = Tree(os.path.realpath(args.build))
    failed = 0
    only = [c for c in args.only.split(",") if c]
    if args.tap:
        print(f"1..{len(only)}")
    for i, name in enumerate(only, 1):
        found = [(p, n, w) for p, n, w in CHECKS[name](t) if not folder or p.startswith(folder)]
        lines = [w if n is None else f"{p}:{n}: {w}" for p, n, w in found]
        mark = "" if not args.tap else "# "
        if not args.tap:
            print(f"== {name}: {CHECKS[name].__doc__} {sum(n is not None for _, n, _ in found)} found")
        for line in lines:
            print(f"{mark}{'    ' if ' -> ' in line else ''}{line}")
        if args.tap:
            print(f"{'not ok' if lines else 'ok'} {i} - {name}: {len(lines)} found")
        failed += bool(lines)
    count = sum(1 for f in t.files if f.startswith(("src/", "tools/")) and not folder or f.startswith(folder or "?"))
    print(f"# {count} files, {sum(t.text[f].count(chr(10)) for f in t.files if f.startswith(folder))} lines")
    sys.exit(1 if failed else 0)


main()
