"""elf_fuzz.py SKEIN LIBDIR LAUNCHER PROGRAM SEED COUNT: feed damaged copies of PROGRAM to `skein run`.

A damaged file may still be accepted (status 0) or be refused with a message (status 2); anything else,
a signal or a sanitizer's report, is a bug. Also checks files that must be read right: 32 bits, either
byte order.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile

skein, libdir, launcher, program, seed, count = sys.argv[1:7]
original = open(program, 'rb').read()
rng = random.Random(int(seed))
failures = 0


def try_file(data, what, want=None):
    """Run on these bytes; `want` is text that the message must hold."""
    global failures
    path = os.path.join(work, 'victim')
    if os.path.exists(path):
        os.unlink(path)
    with open(path, 'wb') as f:
        f.write(data)
    os.chmod(path, 0o755)
    p = subprocess.run([skein, 'run', '--lib', libdir, '--dry-run', launcher, '-n', '1', path],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    text = p.stderr.decode(errors='replace')
    bad = p.returncode not in (0, 2) or (p.returncode == 2 and 'skein run: ' not in text)
    if bad or (want and want not in text):
        failures += 1
        print(f'seed {seed}, {what}: status {p.returncode}: {text[:300]}')


def dynamic_area(data):
    """File offsets of the dynamic section of a 64-bit little-endian file, as (offset, size)."""
    phoff, = struct.unpack_from('<Q', data, 32)
    phentsize, phnum = struct.unpack_from('<HH', data, 54)
    for i in range(phnum):
        kind, _, off, _, _, size = struct.unpack_from('<IIQQQQ', data, phoff + i * phentsize)
        if kind == 2:
            return off, size
    raise SystemExit('no dynamic section in ' + program)


def tiny(bits, order):
    """The smallest program that asks for libmpi.so.40."""
    e = '<' if order == 1 else '>'
    strings = b'\0libmpi.so.40\0'
    ehsize, phsize = (64, 56) if bits == 64 else (52, 32)
    word = 'Q' if bits == 64 else 'I'
    dyn_off = ehsize + 2 * phsize
    dyn = b''.join(struct.pack(e + word * 2, *d) for d in ((1, 1), (5, 0), (10, len(strings)), (0, 0)))
    str_off = dyn_off + len(dyn)
    dyn = dyn.replace(struct.pack(e + word * 2, 5, 0), struct.pack(e + word * 2, 5, str_off))
    total = str_off + len(strings)
    ident = b'\x7fELF' + bytes([bits // 32, order, 1]) + bytes(9)
    head = struct.pack(e + 'HHI' + word * 3 + 'IHHHHHH', 3, 8, 1, 0, ehsize, 0, 0, ehsize, phsize, 2, 0, 0, 0)

    def ph(kind, off, size):
        if bits == 64:
            return struct.pack(e + 'IIQQQQQQ', kind, 4, off, off, off, size, size, 8)
        return struct.pack(e + 'IIIIIIII', kind, off, off, off, size, size, 4, 4)
    return ident + head + ph(1, 0, total) + ph(2, dyn_off, len(dyn)) + dyn + strings


with tempfile.TemporaryDirectory() as work:
    # e_machine 8 is MIPS: read right, the library does not fit; Hydra's launcher does not fit before.
    for bits in (32, 64):
        for order in (1, 2):
            data = tiny(bits, order)
            want = 'another kind of machine' if 'openmpi' in launcher else 'libmpi.so.40'
            try_file(data, f'{bits} bits, byte order {order}', want)
            for cut in range(0, len(data)):
                if cut % 7 == 0:
                    try_file(data[:cut], f'{bits} bits, byte order {order}, cut to {cut}')
    # Each check of the reader once, on the smallest 64-bit file; offsets as in tiny().
    good, dyn = tiny(64, 1), 64 + 2 * 56
    for what, at, code, value in (
            ('class 3', 4, 'B', 3), ('byte order 3', 5, 'B', 3),
            ('program headers of one byte', 54, 'H', 1), ('65535 program headers', 56, 'H', 65535),
            ('program headers far away', 32, 'Q', 2**64 - 8),
            ('dynamic section far away', 64 + 56 + 8, 'Q', 2**63), ('endless one', 64 + 56 + 32, 'Q', 2**63),
            ('segment far away', 64 + 8, 'Q', 2**63), ('no segment there', 64 + 16, 'Q', 2**40),
            ('name outside the table', dyn + 8, 'Q', 100), ('no string table', dyn + 16, 'Q', 21),
            ('empty string table', dyn + 40, 'Q', 0), ('name without end', len(good) - 1, 'B', 65)):
        data = bytearray(good)
        struct.pack_into('<' + code, data, at, value)
        try_file(bytes(data), what, 'damaged ELF file')
    for cut in (1, 3, 4, 15, 16, 17, 63, 64, 65, 100, 500, len(original) // 2, len(original) - 1):
        try_file(original[:cut], f'cut to {cut}')
    areas = [(0, 64), (64, 56 * 13)]
    if original[4] == 2 and original[5] == 1:
        areas.append(dynamic_area(original))
    for i in range(int(count)):
        data = bytearray(original)
        for _ in range(rng.randint(1, 4)):
            off, size = rng.choice(areas)
            at = off + rng.randrange(size)
            if rng.random() < 0.5:
                data[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
            else:
                at -= at % 8
                value = rng.choice((0, 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1,
                                    len(data), len(data) - 1, rng.getrandbits(64)))
                data[at:at + 8] = struct.pack('<Q', value)
        data[0:4] = b'\x7fELF'
        try_file(bytes(data), f'mutation {i}')
print(f'{failures} failures')
sys.exit(1 if failures else 0)
