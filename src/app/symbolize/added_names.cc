#include "app/symbolize/added_names.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace stackpack::app {

namespace {

using symbols::RangeIndex;
using symbols::RangeOwner;

// Whether a name is found for an address: that of the function that has it, or, since callers are
// looked up so, of one that begins after it where nothing has the address.
bool has_name(const RangeIndex<Function>& rows, const RangeOwner& owner, std::uint64_t address) {
  return rows.any(owner, address) || rows.any(owner, address + 1);
}

// The asked addresses that a row has.
std::span<const std::uint64_t> asked_in(const CodeRange& row,
                                        std::span<const std::uint64_t> asked) {
  const auto begin = std::lower_bound(asked.begin(), asked.end(), row.start);
  const auto end = std::lower_bound(begin, asked.end(), row.start + row.size);
  return asked.subspan(static_cast<std::size_t>(begin - asked.begin()),
                       static_cast<std::size_t>(end - begin));
}

/// Of which of the asked addresses something was said before, and now.
class SaidOf {
 public:
  explicit SaidOf(std::span<const std::uint64_t> asked)
      : asked_(asked),
        before_(asked.size()),
        now_(asked.size()),
        has_function_(asked.size()),
        next_(asked.size() + 1) {
    std::iota(next_.begin(), next_.end(), std::size_t{0});
  }

  void set(std::size_t i, bool said) {
    before_[i] = said;
    now_[i] = said;
  }

  // What was read for more addresses than are asked for has functions after those of callers that
  // have one of their own.
  void note_functions(std::span<const Function> rows) {
    std::vector<std::ptrdiff_t> more(asked_.size() + 1);
    for (const Function& row : rows) {
      const auto in = asked_in(row, asked_);
      const auto first = static_cast<std::size_t>(in.data() - asked_.data());
      ++more[first];
      --more[first + in.size()];
    }
    std::ptrdiff_t functions = 0;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      functions += more[i];
      has_function_[i] = functions != 0;
    }
  }

  // Whether a row has an address of which nothing was said before; marks all that it has. A
  // caller's address may be the one before the first of a function that nothing is before:
  // `begins`.
  bool take(const CodeRange& row, bool begins) {
    const auto in = asked_in(row, asked_);
    const auto first = static_cast<std::size_t>(in.data() - asked_.data());
    const bool more = unsaid_before(first + in.size()) != unsaid_before(first);
    const std::size_t before = begins ? place_before(row.start) : asked_.size();
    const bool more_before = before < asked_.size() && !before_[before];
    if (!more && !more_before) {
      return false;
    }
    mark(first, first + in.size());
    if (more_before) {
      mark(before, before + 1);
    }
    return true;
  }

  // Whether a function has an asked address, or begins after one.
  [[nodiscard]] bool is_asked(const CodeRange& row) const {
    return !asked_in(row, asked_).empty() || place_before(row.start) < asked_.size();
  }

  [[nodiscard]] std::uint64_t count() const {
    return static_cast<std::uint64_t>(std::count(now_.begin(), now_.end(), true));
  }

 private:
  // How many of the first `count` addresses had nothing said of them before. Summed up when all
  // are set.
  std::size_t unsaid_before(std::size_t count) {
    if (unsaid_.empty()) {
      unsaid_.push_back(0);
      for (const bool said : before_) {
        unsaid_.push_back(unsaid_.back() + (said ? 0 : 1));
      }
    }
    return unsaid_[count];
  }

  // Rows may have the same addresses many times over: what is marked is passed over at once.
  void mark(std::size_t begin, std::size_t end) {
    for (std::size_t i = next_unmarked(begin); i < end; i = next_unmarked(i)) {
      now_[i] = true;
      next_[i] = i + 1;
    }
  }
  std::size_t next_unmarked(std::size_t i) {
    std::size_t found = i;
    while (next_[found] != found) {
      found = next_[found];
    }
    while (next_[i] != found) {
      i = std::exchange(next_[i], found);
    }
    return found;
  }

  // Where the address right before `start` is among those asked, in no function; their number when
  // it is not.
  [[nodiscard]] std::size_t place_before(std::uint64_t start) const {
    const auto at =
        start == 0 ? asked_.end() : std::lower_bound(asked_.begin(), asked_.end(), start - 1);
    const auto place = static_cast<std::size_t>(at - asked_.begin());
    return place < asked_.size() && *at == start - 1 && !has_function_[place] ? place
                                                                              : asked_.size();
  }

  std::span<const std::uint64_t> asked_;
  std::vector<bool> before_;
  std::vector<bool> now_;
  std::vector<bool> has_function_;   // among those found
  std::vector<std::size_t> next_;    // where to go on from an address that is marked
  std::vector<std::size_t> unsaid_;  // of the addresses before each; empty: not summed up
};

void set_owner(CodeRange& row, const RangeOwner& owner) {
  row.owner = owner.owner;
  const bool image = owner.owner == FunctionOwner::kImage;
  row.module = image ? owner.place : 0;
  row.pid = image ? kKernelPid : owner.place;
  row.life_ns = owner.life_ns;
}

}  // namespace

AddedNames::AddedNames(const Names& old, std::span<const std::uint32_t> first_rows)
    : old_(old), functions_(old.functions, first_rows), lines_(old.lines, first_rows) {
  std::vector<std::uint32_t> calls(old.inlined.size(), kNoInline);
  for (const Function& row : old.functions) {
    copy(old, row);
  }
  // Every call, in its place: equal ones were one already.
  for (std::uint32_t row = 0; row < old.inlined.size(); ++row) {
    copy_call(old, row, calls);
  }
  for (const CodeLine& row : old.lines) {
    copy(old, row, calls);
  }
  for (const FunctionAlias& row : old.aliases) {
    copy(old, row);
  }
}

std::uint32_t AddedNames::copy_call(const Names& from, std::uint32_t row,
                                    std::vector<std::uint32_t>& rows) {
  // Outer calls come first; a chain is as long as inlining is deep.
  std::vector<std::uint32_t> chain;
  while (row != kNoInline && rows[row] == kNoInline) {
    chain.push_back(row);
    row = from.inlined[row].parent;
  }
  std::uint32_t number = row == kNoInline ? kNoInline : rows[row];
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    InlinedCall call = from.inlined[*at];
    call.parent = number;
    call.name = all_.text(from.texts[call.name]);
    call.linkage = all_.text(from.texts[call.linkage]);
    call.call_file = all_.text(from.texts[call.call_file]);
    number = all_.add_call(call);
    rows[*at] = number;
  }
  return number;
}

void AddedNames::copy(const Names& from, Function row) {
  row.name = all_.text(from.texts[row.name]);
  row.linkage = all_.text(from.texts[row.linkage]);
  row.file = all_.text(from.texts[row.file]);
  all_.add_function(row);
}

void AddedNames::copy(const Names& from, CodeLine row, std::vector<std::uint32_t>& calls) {
  row.file = all_.text(from.texts[row.file]);
  row.inlined = copy_call(from, row.inlined, calls);
  all_.add_line(row);
}

void AddedNames::copy(const Names& from, const FunctionAlias& row) {
  all_.add_alias(all_.text(from.texts[row.name]), all_.text(from.texts[row.alias]));
}

AddedNames::Counts AddedNames::add(const Names& found, const RangeOwner& owner,
                                   std::span<const std::uint64_t> asked) {
  // Looked up before anything is added: rows may have addresses in common.
  SaidOf names(asked);
  SaidOf lines(asked);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    names.set(i, has_name(functions_, owner, asked[i]));
    lines.set(i, lines_.any(owner, asked[i]));
  }
  names.note_functions(found.functions);
  std::set<std::uint32_t> of_asked;
  for (Function row : found.functions) {
    if (!found.aliases.empty() && names.is_asked(row)) {
      of_asked.insert(row.name);
    }
    if (names.take(row, true)) {
      set_owner(row, owner);
      copy(found, row);
      changed_ = true;
    }
  }
  for (const FunctionAlias& row : found.aliases) {
    if (of_asked.contains(row.name)) {
      copy(found, row);
    }
  }
  std::vector<std::uint32_t> calls(found.inlined.size(), kNoInline);
  for (CodeLine row : found.lines) {
    if (lines.take(row, false)) {
      set_owner(row, owner);
      copy(found, row, calls);
      changed_ = true;
    }
  }
  return {names.count(), lines.count()};
}

}  // namespace stackpack::app
