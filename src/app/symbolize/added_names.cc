#include "app/symbolize/added_names.h"

#include <algorithm>
#include <utility>

namespace stackpack::app {

namespace {

using symbols::RangeIndex;
using symbols::RangeOwner;

template <typename Row>
bool covers(const RangeIndex<Row>& rows, const RangeOwner& owner, std::uint64_t address) {
  bool any = false;
  rows.each(owner, address, [&any](const Row& /*row*/) { any = true; });
  return any;
}

// Whether a name is found for an address: that of the function that has it, or, since callers are
// looked up so, of one that begins after it where nothing has the address.
bool has_name(const RangeIndex<Function>& rows, const RangeOwner& owner, std::uint64_t address) {
  bool any = covers(rows, owner, address);
  rows.each(owner, address + 1, [&](const Function& row) { any |= row.start == address + 1; });
  return any;
}

// The asked addresses that a row has.
template <typename Row>
std::span<const std::uint64_t> asked_in(const Row& row, std::span<const std::uint64_t> asked) {
  const auto begin = std::lower_bound(asked.begin(), asked.end(), row.start);
  const auto end = std::lower_bound(begin, asked.end(), row.start + row.size);
  return asked.subspan(static_cast<std::size_t>(begin - asked.begin()),
                       static_cast<std::size_t>(end - begin));
}

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

AddedNames::Counts AddedNames::add(const Names& found, const RangeOwner& owner,
                                   std::span<const std::uint64_t> asked) {
  std::vector<bool> named(asked.size());
  std::vector<bool> lined(asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    named[i] = has_name(functions_, owner, asked[i]);
    lined[i] = covers(lines_, owner, asked[i]);
  }
  // Before anything is marked: rows may have addresses in common.
  const auto says_more = [&asked](std::span<const std::uint64_t> in,
                                  const std::vector<bool>& said) {
    const auto first = static_cast<std::size_t>(in.data() - asked.data());
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (!said[first + i]) {
        return true;
      }
    }
    return false;
  };
  const auto mark = [&asked](std::span<const std::uint64_t> in, std::vector<bool>& said) {
    const auto first = static_cast<std::size_t>(in.data() - asked.data());
    std::fill_n(said.begin() + static_cast<std::ptrdiff_t>(first), in.size(), true);
  };
  const std::vector<bool> named_before = named;
  const std::vector<bool> lined_before = lined;
  for (Function row : found.functions) {
    const auto in = asked_in(row, asked);
    // A caller's address may be the first one of a function that nothing is before.
    const auto before =
        row.start == 0 ? asked.end() : std::lower_bound(asked.begin(), asked.end(), row.start - 1);
    const auto at = static_cast<std::size_t>(before - asked.begin());
    const bool begins = before != asked.end() && *before == row.start - 1 && !named_before[at];
    if (begins || says_more(in, named_before)) {
      set_owner(row, owner);
      copy(found, row);
      mark(in, named);
      if (begins) {
        named[at] = true;
      }
      changed_ = true;
    }
  }
  std::vector<std::uint32_t> calls(found.inlined.size(), kNoInline);
  for (CodeLine row : found.lines) {
    const auto in = asked_in(row, asked);
    if (says_more(in, lined_before)) {
      set_owner(row, owner);
      copy(found, row, calls);
      mark(in, lined);
      changed_ = true;
    }
  }
  return {static_cast<std::uint64_t>(std::count(named.begin(), named.end(), true)),
          static_cast<std::uint64_t>(std::count(lined.begin(), lined.end(), true))};
}

}  // namespace stackpack::app
