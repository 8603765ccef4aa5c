# SPDX-License-Identifier: GPL-2.0-only
"""Small breakages of C source, made by operators on its tokens.

Only function bodies are changed, and in there not what is for tests and checks
alone (SKIPPED). READ_ONCE() and WRITE_ONCE() stay: what they are for is seen by
KCSAN and not by a test. A mutant keeps the number of lines of its file.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace

TOKEN = re.compile(r"""(?P<skip>\s+|/\*.*?\*/|//[^\n]*)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<number>\d\w*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<op>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|.)""", re.X | re.S)
# Test hooks and checks: no behaviour to break.
SKIPPED = re.compile(r"swq_step|cid_at|lockdep_\w+|WARN\w*|BUILD_BUG_ON|__acquire|__release|printk_\w+|static_assert")
TYPES = {"unsigned", "signed", "const", "struct", "enum", "union", "int", "long", "bool", "char", "void", "static",
         "u8", "u16", "u32", "u64", "s64", "size_t", "LIST_HEAD"}
COMPARE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
BINARY = {"&&": "||", "||": "&&", "+": "-", "-": "+", "&": "|", "|": "&", "<<": ">>", ">>": "<<", "%": "/", "/": "%",
          "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "++": "--", "--": "++"}
WORDS = {"true": "false", "false": "true", "min": "max", "max": "min", "min_t": "max_t", "list_add_tail": "list_add",
         "list_move_tail": "list_move", "list_first_entry": "list_last_entry"}
# Order taken away; what is a call of one argument or two keeps its meaning otherwise.
ORDER = {"smp_load_acquire": "READ_ONCE(*({0}))", "smp_store_release": "WRITE_ONCE(*({0}), {1})",
         "smp_mb": "barrier()", "smp_mb__after_atomic": "barrier()"}
RELAXED = {"cmpxchg_release": "cmpxchg_relaxed", "cmpxchg_acquire": "cmpxchg_relaxed", "atomic_xchg":
           "atomic_xchg_relaxed", "atomic_cmpxchg": "atomic_cmpxchg_relaxed", "atomic_read_acquire": "atomic_read",
           "atomic_dec_return_release": "atomic_dec_return_relaxed"}


@dataclass(frozen=True)
class Mutant:
    file: str
    function: str
    line: int
    operator: str
    start: int
    end: int
    text: str       # instead of what stands at start..end
    old: str        # whole lines, white space made one
    new: str
    nth: int = 1    # of those of the function that read alike

    def apply(self, source):
        return source[:self.start] + self.text + source[self.end:]

    @property
    def key(self):
        nth = f" [{self.nth}]" if self.nth > 1 else ""
        return f"{self.file}: {self.function}(): {self.old} => {self.new}{nth}"


@dataclass
class Token:
    kind: str
    text: str
    start: int

    @property
    def end(self):
        return self.start + len(self.text)


def blanked(source):
    """Preprocessor lines, and what only the KUnit tests compile, as spaces."""
    lines, hidden = [], 0
    for line in source.splitlines(keepends=True):
        code = not line.startswith("#")
        if re.match(r"#\s*if.*KUNIT_TEST", line):
            hidden = 1
        elif hidden and re.match(r"#\s*(else|endif)", line):
            hidden = 0
        lines.append(line if code and not hidden else re.sub(r"[^\n]", " ", line))
    return "".join(lines)


def tokens(source):
    return [Token(match.lastgroup, match.group(), match.start()) for match in TOKEN.finditer(blanked(source))
            if match.lastgroup != "skip"]


def closing(toks, i):
    """Index of the token that closes the bracket at i."""
    pairs, depth = {"(": ")", "{": "}", "[": "]"}, 0
    for j in range(i, len(toks)):
        if toks[j].text == toks[i].text:
            depth += 1
        elif toks[j].text == pairs[toks[i].text]:
            depth -= 1
            if not depth:
                return j
    raise ValueError(f"no end of '{toks[i].text}' at {toks[i].start}")


def functions(toks):
    """(name, first, last) of each function body, braces included."""
    i, begin = 0, 0
    while i < len(toks):
        text = toks[i].text
        if text == "{":
            end = closing(toks, i)
            head = toks[begin:i]
            # A body follows a parameter list, perhaps with an annotation; a structure has none.
            names = [head[n].text for n in range(len(head) - 1) if head[n].kind == "name" and head[n + 1].text == "("]
            if names and head[-1].text == ")" and not any(token.text == "=" for token in head):
                yield names[0], i, end
            i = end
        if toks[i].text in (";", "}"):
            begin = i + 1
        i += 1


class Body:
    """The mutants of one function."""

    def __init__(self, file, source, toks, name, first, last):
        self.file, self.source, self.toks, self.name = file, source, toks, name
        self.first, self.last = first, last
        self.found = []
        self.void = self.returns_void()
        self.early = False
        self.statements(first + 1, last)

    def returns_void(self):
        for i in range(self.first, 0, -1):
            if self.toks[i].text == self.name:
                return self.toks[i - 1].text == "void"
        return False

    def add(self, operator, start, end, text):
        source = self.source
        text += "\n" * (source.count("\n", start, end) - text.count("\n"))
        left, right = source.rfind("\n", 0, start) + 1, source.find("\n", end)
        def flat(code):
            return " ".join(re.sub(r"/\*.*?(\*/|$)", " ", code, flags=re.S).split())
        old, new = flat(source[left:right]), flat(source[left:start] + text + source[end:right])
        if old != new:
            self.found.append(Mutant(self.file, self.name, source.count("\n", 0, start) + 1, operator, start, end,
                                     text, old, new))

    def code(self, i, j):
        """Source of tokens i up to, not including, j."""
        return self.source[self.toks[i].start:self.toks[j - 1].end]

    def statements(self, i, end):
        while i < end:
            i = self.statement(i, end)

    def statement(self, i, end):
        """Mutate the statement at i; where the next one begins."""
        toks, text = self.toks, self.toks[i].text
        if text in (";", "else", "do"):
            return i + 1
        if text == "{":
            close = closing(toks, i)
            self.statements(i + 1, close)
            return close + 1
        if text in ("if", "while", "switch", "for") or self.loop_macro(i):
            close = closing(toks, i + 1)
            if text in ("if", "while"):
                start, stop = toks[i + 1].end, toks[close].start
                words = {token.text for token in toks[i + 2:close]}
                # Where another operator makes the same of it, once is enough.
                if toks[i + 2].text != "!" and not words & {"==", "!="} or words & {"&&", "||"}:
                    self.add("negate", start, stop, f"!({self.source[start:stop]})")
            self.expression(i + 2, close)
            self.begin(i)
            return close + 1
        if text in ("case", "default") or (toks[i].kind == "name" and toks[i + 1].text == ":"):
            while toks[i].text != ":":
                i += 1
            return i + 1
        j, depth = i, 0
        while toks[j].text != ";" or depth:
            depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(toks[j].text, 0)
            j += 1
        if SKIPPED.fullmatch(text):
            return j + 1
        declares = text in TYPES or (toks[i].kind == "name" and toks[i + 1].kind == "name" and text not in
                                     ("return", "goto"))
        if not declares:
            self.begin(i)
            last = j + 1 == self.last and self.code(i, j) != "return"
            if not (text == "return" and last):
                # No empty body, which the compiler would remark on.
                self.add("remove", toks[i].start, toks[j].start, "(void)0")
        self.expression(i + (text == "return"), j, declares)
        return j + 1

    def loop_macro(self, i):
        """Does a statement follow what looks like a call, as with list_for_each_entry()?"""
        toks = self.toks
        return (toks[i].kind == "name" and toks[i + 1].text == "(" and toks[i].text != "return"
                and not SKIPPED.fullmatch(toks[i].text)
                and toks[closing(toks, i + 1) + 1].text not in (";", "=", ".", "->"))

    def begin(self, i):
        """Before the first statement that declares nothing: return at once."""
        if not self.early and self.void:
            self.add("return early", self.toks[i].start, self.toks[i].start, "return; ")
        self.early = True

    def expression(self, i, end, declares=False):
        toks, skip = self.toks, -1
        for n in range(i, end):
            if n <= skip:
                continue
            token = toks[n]
            before = toks[n - 1]
            operand = before.kind in ("name", "number") and before.text != "return" or before.text in (")", "]")
            called = n + 1 < end and toks[n + 1].text == "("
            if token.text == "{" and declares:      # an initializer
                skip = closing(toks, n)
            elif token.text == "sizeof" and called:
                skip = closing(toks, n + 1)
            elif token.text in COMPARE:
                self.add("compare", token.start, token.end, COMPARE[token.text])
            elif token.text in BINARY and (operand or token.text in ("++", "--")) and not (
                    token.text in ("&", "-", "+") and before.text == ")" and self.is_cast(n - 1)):
                self.add("operator", token.start, token.end, BINARY[token.text])
            elif token.text == "!":
                self.add("negate", token.start, token.end, "")
            elif token.kind == "number" and not before.text == "[" or token.kind == "number" and declares is False:
                value = re.match(r"(0[xX][0-9a-fA-F]+|\d+)(.*)$", token.text)
                number = int(value.group(1), 0)
                self.add("constant", token.start, token.end, f"{0 if number == 1 else number + 1}{value.group(2)}")
            elif token.text in WORDS and (called or token.text in ("true", "false")):
                self.add("constant" if token.text in ("true", "false") else "other call", token.start, token.end,
                         WORDS[token.text])
            elif token.text in RELAXED and called:
                self.add("order", token.start, token.end, RELAXED[token.text])
            elif token.text in ORDER and called:
                close = closing(toks, n + 1)
                self.add("order", token.start, toks[close].end, ORDER[token.text].format(*self.arguments(n + 1, close)))

    def is_cast(self, close):
        """Is the bracket that ends here a cast?"""
        return self.toks[close - 1].text in TYPES | {"*"}

    def arguments(self, first, close):
        found, begin, depth = [], first + 1, 0
        for n in range(first + 1, close + 1):
            text = self.toks[n].text
            if (text == "," and not depth) or n == close:
                found.append(self.code(begin, n) if begin < n else "")
                begin = n + 1
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text, 0)
        return found


def mutants(file, source):
    """All mutants of a source, in the order of the text."""
    toks = tokens(source)
    found = [mutant for name, first, last in functions(toks)
             for mutant in Body(file, source, toks, name, first, last).found]
    found.sort(key=lambda mutant: (mutant.start, mutant.end, mutant.text))
    seen = Counter()
    for i, mutant in enumerate(found):
        seen[mutant.key] += 1
        if (nth := seen[mutant.key]) > 1:
            found[i] = replace(mutant, nth=nth)
    return found
