"""Breaks of C++ source that a program makes: places_of(text) gives every place of a file where one of these does something.

    condition   of an if or while: turned
    boundary    < to <=, > to >=, == to !=, and back
    operator    + to -, * to +, << to >>, & to |, && to ||, += to -=, ... and back
    not         ! left out
    constant    an integer one higher, 1 lower; true to false, and back
    statement   left out: a call or an assignment
    return      a value: nothing in place of it ({}), where that is another value
    early       a function returns at once, where it does anything else
    jump        break to continue, and back
    bound       std::min to std::max, and back

It knows C++ as far as tokens and brackets go. What does not compile is for the compiler to say. Only code in function bodies is
broken: declarations, types and tables of constants are not.
"""
import bisect
import collections
import re

# `new` is C++ on one line for text[begin:end]: an expression, or statements where `statement` is set.
Place = collections.namedtuple("Place", "begin end kind new statement line")
Token = collections.namedtuple("Token", "kind text begin end")

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<text>R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)"|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')
  | (?P<number>\.?\d(?:[\w.]|'\w|[eEpP][+-])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<|>>|[^\s\w])
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

# How tight operators bind, the tightest first.
BINDING = {sign: rank for rank, signs in enumerate(
    ("* / %", "+ -", "<< >>", "<=>", "< <= > >=", "== !=", "&", "^", "|", "&&", "||")) for sign in signs.split()}
BROKEN = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "+", "/": "*", "%": "/",
          "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|", "&&": "||", "||": "&&"}
COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
ASSIGNMENTS = {"+=": "-=", "-=": "+=", "*=": "+=", "|=": "&=", "&=": "|=", "^=": "|=", "<<=": ">>=", ">>=": "<<="}
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
NO_STATEMENT = {"return", "break", "continue", "if", "for", "while", "switch", "case", "default", "else", "do", "using", "static",
                "const", "constexpr", "auto", "goto", "throw", "try", "typedef", "public", "private", "protected", "struct",
                "class", "enum", "template", "friend", "namespace", "delete", "static_assert", "assert", "extern"}
NOT_AN_OPERAND = {"return", "case", "co_return", "throw", "else", "do", "operator", "typename", "const"}

# Values that `{}` is as well, so that nothing would be broken. `T{}` is not among them: in an optional it is a value.
NOTHING = re.compile(r"""\{\}|false|nullptr|(std::)?nullopt|0[uUlLzZ]*|0[xX]0+|0?\.0*f?|'\\0'|""(sv|s)?""")


class Source:
    """Tokens of a file with their brackets."""

    def __init__(self, text):
        self.text = text
        self.tokens = [Token(m.lastgroup if m.lastgroup != "mark" else "text", m[0], *m.span())
                       for m in TOKEN.finditer(text) if m["skip"] is None]
        self.partner = {}
        self.starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.in_code = []  # by token: whether it is in a function body
        self.around = []   # by token: the innermost bracket that is open there
        self._match()

    def _match(self):
        stack = []
        for i, token in enumerate(self.tokens):
            self.around.append(self.tokens[stack[-1][0]].text if stack else "")
            if token.text in OPEN and token.kind == "sign":
                self.in_code.append(bool(stack) and stack[-1][1])
                code = bool(stack) and stack[-1][1] or token.text == "{" and self._begins_body(i)
                stack.append((i, code))
                continue
            if token.text in CLOSE and token.kind == "sign" and stack:
                opened, _ = stack.pop()
                self.partner[opened], self.partner[i] = i, opened
            self.in_code.append(bool(stack) and stack[-1][1])

    # Whether the brace at token i follows the head of a function.
    def _begins_body(self, i):
        at = i - 1
        while at >= 0 and self.tokens[at].text in ("const", "noexcept", "override", "final", "mutable"):
            at -= 1
        if at < 0 or self.tokens[at].text not in (")", "}"):
            return False
        head = self.head_of(i)
        return "(" in head and not re.match(r"\s*(namespace|struct|class|enum|union|extern)\b", head)

    # What stands between the last statement and token i.
    def head_of(self, i):
        at = i - 1
        while at >= 0 and self.tokens[at].text not in (";", "{"):
            if self.tokens[at].text == "}" and self.text[self.tokens[at].end:self.tokens[at].end + 1] == "\n":
                break
            at = self.partner.get(at, at) - 1 if self.tokens[at].text in CLOSE else at - 1
        return self.text[self.tokens[at].end if at >= 0 else 0:self.tokens[i].begin]

    def line(self, position):
        return bisect.bisect_right(self.starts, position)

    def part(self, first, last):
        return self.text[self.tokens[first].begin:self.tokens[last].end]

    # Token of the first and of the last word of the operands of the operator at token i; nothing where these are not clear.
    def operands(self, i):
        rank = BINDING[self.tokens[i].text]
        left, right = i, i
        while left > 0 and not self._ends_operand(left - 1, rank + 1, OPEN):
            left -= 1
            left = self.partner[left] if self.tokens[left].text in CLOSE else left
        while right + 1 < len(self.tokens) and not self._ends_operand(right + 1, rank, CLOSE):
            right += 1
            right = self.partner[right] if self.tokens[right].text in OPEN else right
        return (left, right) if left < i < right else None

    # Whether an operand does not reach to token i: a bracket around it, the end of a statement, an operator that binds as `rank` or
    # looser.
    def _ends_operand(self, i, rank, around):
        token = self.tokens[i]
        if token.text in OPEN or token.text in CLOSE:
            block = token.text in "{}" and self.text[token.begin - 1:token.begin].isspace()
            return token.text in around or i not in self.partner or block
        if token.text in (";", ",", "?", ":", "=", "/=", "%=") or token.text in ASSIGNMENTS:
            return True
        if token.kind == "word":
            return token.text in NOT_AN_OPERAND
        return token.text in BINDING and self.is_binary(i) and BINDING[token.text] >= rank

    # clang-format puts blanks on both sides of what has two operands, and of nothing else.
    def is_binary(self, i):
        token = self.tokens[i]
        around = self.text[token.begin - 1:token.begin] + self.text[token.end:token.end + 1]
        before = self.tokens[i - 1]
        return (len(around) == 2 and around.isspace() and
                (before.kind != "sign" or before.text in CLOSE) and before.text not in NOT_AN_OPERAND)

    # The last token of the statement that begins at token i, which is its semicolon.
    def end_of_statement(self, i):
        while i < len(self.tokens) and self.tokens[i].text != ";":
            if self.tokens[i].text in CLOSE:
                return None
            i = self.partner.get(i, i) + 1 if self.tokens[i].text in OPEN else i + 1
        return i if i < len(self.tokens) else None

    def begins_statement(self, i):
        before = self.tokens[i - 1].text if i > 0 else ""
        if before in ("{", "}", ";") and self.around[i] == "{":
            return self.tokens[i].kind == "word" or self.tokens[i].text in ("++", "--", "*", "(")
        return False


def one_line(text):
    return " ".join(text.split())


def of_conditions(source, i):
    token = source.tokens[i]
    opened = i + 1
    if token.text not in ("if", "while") or source.tokens[opened].text != "(":
        return
    closed = source.partner.get(opened)
    if closed is None:
        return
    first, at = opened + 1, opened + 1
    while at < closed:
        if source.tokens[at].text == ";":
            first = at + 1
        elif source.tokens[at].text == "=":
            if not any(source.tokens[k].text == ";" for k in range(at, closed)):
                return  # the condition declares something
        at = source.partner.get(at, at) + 1 if source.tokens[at].text in OPEN else at + 1
    if first < closed:
        yield first, closed - 1, "condition", f"!({source.part(first, closed - 1)})", False


def of_binary(source, i):
    token = source.tokens[i]
    if token.text not in BROKEN or not source.is_binary(i):
        return
    operands = source.operands(i)
    if operands is None:
        return
    left, right = operands
    kind = "boundary" if token.text in COMPARISONS else "operator"
    yield (left, right, kind,
           f"{source.part(left, i - 1)} {BROKEN[token.text]} {source.part(i + 1, right)}", False)


def of_not(source, i):
    if source.tokens[i].text != "!" or i + 1 >= len(source.tokens) or source.tokens[i + 1].kind not in ("word", "sign"):
        return
    last = i + 1
    if source.tokens[last].kind == "sign":
        if source.tokens[last].text != "(":
            return
        last = source.partner.get(last, last)
    while last + 1 < len(source.tokens):
        following = source.tokens[last + 1]
        if following.text in ("(", "["):
            last = source.partner.get(last + 1, last + 1)
        elif following.text in (".", "->", "::") and last + 2 < len(source.tokens):
            last += 2
        else:
            break
    yield i, last, "not", source.part(i + 1, last), False


def of_constants(source, i):
    token = source.tokens[i]
    if token.kind == "number" and re.fullmatch(r"(0[xX])?[\da-fA-F']+[uUlLzZ]*", token.text):
        yield i, i, "constant", "0" if token.text == "1" else f"{token.text} + 1", False
    elif token.text in ("true", "false"):
        yield i, i, "constant", "false" if token.text == "true" else "true", False


def is_nothing(source, first, last):
    """Whether a statement is a return of what `return {};` gives."""
    returned = source.text[source.tokens[first].end:source.tokens[last].begin].strip()
    return source.tokens[first].text == "return" and NOTHING.fullmatch(returned) is not None


def does_nothing(source, opened):
    """Whether a body has nothing but what an early return does."""
    first, closed = opened + 1, source.partner.get(opened)
    if closed is None or first == closed or first + 1 == closed:
        return closed is not None
    return source.end_of_statement(first) == closed - 1 and is_nothing(source, first, closed - 1)


def of_statements(source, i):
    token = source.tokens[i]
    if not source.begins_statement(i):
        return
    last = source.end_of_statement(i)
    if last is None:
        return
    text = source.part(i, last)
    if token.text == "return" and last > i + 1 and not is_nothing(source, i, last):
        yield i, last, "return", "return {};", True
    elif token.text in ("break", "continue") and last == i + 1:
        yield i, last, "jump", "continue;" if token.text == "break" else "break;", True
    elif token.text not in NO_STATEMENT and not re.match(r"[\w:]+(<.*>)?[&*]*\s+[&*]*\w", one_line(text)):
        if re.search(r"\(|=|\+\+|--", text) and not re.fullmatch(r"(static_cast<void>\(|\(void\))\s*\(?\w+\)?;", text):
            yield i, last, "statement", "", True
        for at in range(i, last):
            if source.tokens[at].text in ASSIGNMENTS:
                sign = ASSIGNMENTS[source.tokens[at].text]
                yield i, last, "operator", f"{source.part(i, at - 1)} {sign} {source.part(at + 1, last)}", True
                break


def of_bounds(source, i):
    if source.tokens[i].text not in ("min", "max") or i < 2 or source.tokens[i - 2].text != "std":
        return
    opened = i + 1
    while opened < len(source.tokens) and source.tokens[opened].text not in ("(", ";", "{"):
        opened += 1
    closed = source.partner.get(opened)
    if closed is not None and source.tokens[opened].text == "(":
        other = "max" if source.tokens[i].text == "min" else "min"
        yield i - 2, closed, "bound", f"std::{other}{source.part(i + 1, closed)}", False


def early_returns(source, i):
    token = source.tokens[i]
    if token.text != "{" or source.in_code[i] or not source._begins_body(i):
        return
    head = source.head_of(i)
    returned = re.match(r"[\s\w:<>,&*\[\]]*?\b(void|[\w:]+(<.*>)?[&*]*)\s+[\w:~]+\(", one_line(head))
    if returned is not None and not does_nothing(source, i):
        yield i, i, "early", "return;" if returned[1] == "void" else "return {};", True


def places_of(text):
    """Every break that can be made in a file. None of them stands in a comment or spans one."""
    source, places = Source(text), []

    def add(first, last, kind, new, statement):
        begin, end = source.tokens[first].begin, source.tokens[last].end
        if kind == "early":
            begin = end
        broken = text[begin:end]
        if "//" not in broken and "/*" not in broken and "\n#" not in broken:
            places.append(Place(begin, end, kind, one_line(new), statement, source.line(begin)))

    for i in range(len(source.tokens)):
        for found in early_returns(source, i):
            add(*found)
        if source.in_code[i]:
            for operator in (of_conditions, of_binary, of_not, of_constants, of_statements, of_bounds):
                for found in operator(source, i):
                    add(*found)
    return places
