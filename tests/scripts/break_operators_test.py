#!/usr/bin/env python3
"""The breaks that scripts/mutate --sample makes, on a page of code: break_operators_test.py"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts/lib"))
import break_operators  # noqa: E402
import mutate_sample  # noqa: E402

CODE = '''// if (a < b) is no code here
#define LIMIT(x) (x + 1)
namespace n {
constexpr int kTable[] = {1, 2};
struct S {
  int member = 3;
  bool ok() const { return !done() && text != "a < b"; }
};
void S::step(int count) {
  if (const auto found = find(count); found != end && count > 0) {
    total += count * 2 - 1;  // count + 1
    call(count << 1);
  }
  for (int i = 0; i < count; ++i) {
    break;
  }
}
std::vector<int> sum(const T& a) {
  const int low = std::min(a.first, a.second);
  return {low, true ? 1 : 0};
}
std::optional<int> none(int a) {
  if (a) {
    return std::nullopt;
  }
  return "";
}
std::optional<int> never() { return std::nullopt; }
void nothing(int a) {}
}  // namespace n
'''

# Line, operator, what stands there, and what shall.
WANTED = [
    (7, "early", "", "return {};"),
    (7, "return", 'return !done() && text != "a < b";', "return {};"),
    (7, "not", "!done()", "done()"),
    (7, "operator", '!done() && text != "a < b"', '!done() || text != "a < b"'),
    (7, "boundary", 'text != "a < b"', 'text == "a < b"'),
    (9, "early", "", "return;"),
    (10, "condition", "found != end && count > 0", "!(found != end && count > 0)"),
    (10, "boundary", "found != end", "found == end"),
    (10, "operator", "found != end && count > 0", "found != end || count > 0"),
    (10, "boundary", "count > 0", "count >= 0"),
    (10, "constant", "0", "0 + 1"),
    (11, "statement", "total += count * 2 - 1;", ""),
    (11, "operator", "total += count * 2 - 1;", "total -= count * 2 - 1;"),
    (11, "operator", "count * 2", "count + 2"),
    (11, "operator", "count * 2 - 1", "count * 2 + 1"),
    (11, "constant", "2", "2 + 1"),
    (11, "constant", "1", "0"),
    (12, "statement", "call(count << 1);", ""),
    (12, "operator", "count << 1", "count >> 1"),
    (12, "constant", "1", "0"),
    (14, "constant", "0", "0 + 1"),
    (14, "boundary", "i < count", "i <= count"),
    (15, "jump", "break;", "continue;"),
    (18, "early", "", "return {};"),
    (19, "bound", "std::min(a.first, a.second)", "std::max(a.first, a.second)"),
    (20, "return", "return {low, true ? 1 : 0};", "return {};"),
    (20, "constant", "true", "false"),
    (20, "constant", "1", "0"),
    (20, "constant", "0", "0 + 1"),
    # What returns nothing anyway is not broken by returning nothing.
    (22, "early", "", "return {};"),
    (23, "condition", "a", "!(a)"),
]


def check_places():
    places = break_operators.places_of(CODE)
    found = sorted((p.line, p.kind, CODE[p.begin:p.end], p.new) for p in places)
    for missing in sorted(set(WANTED) - set(found)):
        print("FAILED not found:", missing)
    for odd in sorted(set(found) - set(WANTED)):
        print("FAILED not wanted:", odd)
    return found == sorted(WANTED)


def check_switches():
    """Every text with one break has the lines of the old one, and the old code in it."""
    good = True
    for place in break_operators.places_of(CODE):
        old = CODE[place.begin:place.end]
        drawn = mutate_sample.Drawn("file.cc", place, old, "00000001", "n", place.line, place.line)
        text = mutate_sample.with_switches(CODE, [drawn]).split("#line 1\n", 1)[1]
        if text.count("\n") != CODE.count("\n") or old not in text or "on<0x00000001>()" not in text.splitlines()[place.line - 1]:
            print("FAILED switch:", place)
            good = False
        # A bool beside another type would become it: Result(false) of a number is a result, which is true.
        if place.kind == "not" and f"static_cast<bool>({place.new})" not in text:
            print("FAILED type of:", place)
            good = False
    return good


def check_interval():
    """Values from Wilson's paper's formula, worked out by hand for 180 of 200 and 10 of 10."""
    for noticed, tried, low, high in ((180, 200, 85.06, 93.43), (10, 10, 72.25, 100.0), (0, 0, 0.0, 100.0)):
        got = mutate_sample.interval(noticed, tried)
        if max(abs(got[0] - low), abs(got[1] - high)) > 0.01:
            print("FAILED interval:", noticed, tried, got)
            return False
    return True


if __name__ == "__main__":
    sys.exit(0 if all([check_places(), check_switches(), check_interval()]) else 1)
