# SPDX-License-Identifier: GPL-2.0-only
"""Relocatable x86-64 objects: whether two of them are the same once loaded."""

import re
import struct
import subprocess
from pathlib import Path

from . import Failure

SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHF_ALLOC, STB_LOCAL, SHN_LORESERVE = 2, 4, 8, 2, 0, 0xff00
PC32 = 2  # R_X86_64_PC32


class Elf:
    """A relocatable x86-64 object: its sections that are loaded, with relocations."""

    def __init__(self, path):
        self.data = data = Path(path).read_bytes()
        if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<HH", data, 16) != (1, 62):
            raise Failure(f"{path} is no x86-64 object")
        offset, = struct.unpack_from("<Q", data, 40)
        size, count, names = struct.unpack_from("<HHH", data, 58)
        keys = ("name", "type", "flags", "addr", "offset", "size", "link", "info", "align", "entsize")
        self.headers = [dict(zip(keys, struct.unpack_from("<IIQQQQIIQQ", data, offset + number * size)))
                        for number in range(count)]
        strings = self.headers[names]["offset"]
        for header in self.headers:
            header["name"] = self._string(strings + header["name"])
        self.symbols = self._symbols()
        self.sections = self._sections()

    def _string(self, offset):
        return self.data[offset:self.data.index(b"\0", offset)].decode()

    def _symbols(self):
        table = next(header for header in self.headers if header["type"] == SHT_SYMTAB)
        strings = self.headers[table["link"]]["offset"]
        found = []
        for at in range(table["offset"], table["offset"] + table["size"], 24):
            name, info, other, section, value, size = struct.unpack_from("<IBBHQQ", self.data, at)
            found.append((self._string(strings + name), info, other, section, value, size))
        return found

    def target(self, number, addend):
        """What a relocation points at. The compiler numbers local names as it
        meets them, so a local symbol is told by its place and not by its name."""
        name, info, _, section, value, _ = self.symbols[number]
        if info >> 4 == STB_LOCAL and 0 < section < SHN_LORESERVE:
            return f"{self.headers[section]['name']}+{value + addend:#x}"
        return f"{name}{addend:+#x}"

    def _sections(self):
        relocations = {}
        for header in self.headers:
            if header["type"] == SHT_RELA:
                relocations[header["info"]] = [
                    (offset, info & 0xffffffff, self.target(info >> 32, addend)) for offset, info, addend in
                    struct.iter_unpack("<QQq", self.data[header["offset"]:header["offset"] + header["size"]])]
        found = {}
        for number, header in enumerate(self.headers):
            if not header["flags"] & SHF_ALLOC:
                continue
            content = b"" if header["type"] == SHT_NOBITS else \
                self.data[header["offset"]:header["offset"] + header["size"]]
            key, more = header["name"], 1
            while key in found:
                more += 1
                key = f"{header['name']}#{more}"
            found[key] = (header["type"], header["flags"], header["align"], header["size"], content,
                          sorted(relocations.get(number, [])))
        return found

    def undefined(self):
        """Names that another object has to define."""
        return {name for name, _, _, section, _, _ in self.symbols if name and not section}

    def globals(self):
        """Global symbols: what others can refer to."""
        return {name: (info, other, self.headers[section]["name"] if 0 < section < SHN_LORESERVE else section,
                       value, size) for name, info, other, section, value, size in self.symbols
                if info >> 4 != STB_LOCAL}


def without_lines(section):
    """A __bug_table with its line numbers set to 0, and those numbers.

    An entry starts with 4-byte offsets that the linker fills in, the last of
    them that of the file's name, and then has the line and the flags, 2 bytes
    each. Without the file's name there is no line either.
    """
    kind, flags, align, size, content, relocations = section
    at = [offset for offset, rtype, _ in relocations if rtype == PC32]
    masked, lines = bytearray(content), []
    for first, offset in enumerate(at):
        follows = first + 1 < len(at) and at[first + 1] == offset + 4
        second = first > 0 and at[first - 1] == offset - 4
        if second and not follows:
            lines.append(struct.unpack_from("<H", masked, offset + 4)[0])
            struct.pack_into("<H", masked, offset + 4, 0)
    return (kind, flags, align, size, bytes(masked), relocations), lines


def instructions(path, section):
    done = subprocess.run(["objdump", "-d", "-r", "--no-show-raw-insn", "-j", section, path],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [re.sub(r"^\s*[0-9a-f]+:\s*", "", line) for line in done.stdout.splitlines()[3:]]


def first_difference(paths, section):
    """Where the instructions of two objects part, for people."""
    ours, theirs = (instructions(path, section) for path in paths)
    function = "?"
    for left, right in zip(ours, theirs):
        match = re.match(r"[0-9a-f]+ <(.+)>:", left)
        function = match.group(1) if match else function
        if re.sub(r"\b[0-9a-f]{4,}\b", "", left) != re.sub(r"\b[0-9a-f]{4,}\b", "", right):
            return f"{section}: first in {function}(): '{left.strip()}' instead of '{right.strip()}'"
    return f"{section}: {len(ours)} lines of instructions instead of {len(theirs)}"


def compare(path, other):
    """(differences, description) of an object and its counterpart."""
    ours, theirs = Elf(path), Elf(other)
    found, lines, code, loaded = [], 0, 0, 0
    for name in sorted(set(ours.sections) | set(theirs.sections)):
        left, right = ours.sections.get(name), theirs.sections.get(name)
        if not left or not right:
            found.append(f"{name}: only {'with' if left else 'without'} the graft")
            continue
        executable = bool(left[1] & 4)
        code += left[3] if executable else 0
        loaded += left[3]
        if name.startswith("__bug_table"):
            left, mine = without_lines(left)
            right, others = without_lines(right)
            lines += sum(a != b for a, b in zip(mine, others))
        if left == right:
            continue
        if executable:
            found.append(first_difference((path, other), name))
        elif left[4] != right[4]:
            found.append(f"{name}: the content differs, {left[3]} bytes instead of {right[3]}")
        else:
            found.append(f"{name}: the relocations or the attributes differ")
    if ours.globals() != theirs.globals():
        names = sorted(name for name in set(ours.globals()) | set(theirs.globals())
                       if ours.globals().get(name) != theirs.globals().get(name))
        found.append(f"global symbols differ: {', '.join(names[:10])}")
    # Instructions, or nothing but data, as in init_task.o.
    if not loaded:
        found.append("nothing that is loaded was found")
    return found, f"{len(ours.sections)} sections, {code} bytes of instructions, {lines} line numbers differ"
