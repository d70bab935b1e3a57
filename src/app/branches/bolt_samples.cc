#include "app/branches/bolt_samples.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

#include <fmt/format.h>

#include "app/branches/image_branches.h"
#include "capture/branch_order.h"
#include "capture/module_map.h"
#include "core/sort_rows.h"
#include "query/selection/capture_view.h"
#include "query/selection/sample_grouper.h"
#include "query/selection/sample_selection.h"

namespace stackpack::app {

namespace {

using symbolize::CodeSection;
using symbolize::SymbolKind;
using symbolize::SymbolTable;
using symbolize::TableSymbol;

// Functions first, sections last, others between; equal ones stay in the order of the file.
int order_of(const TableSymbol& symbol) {
  return symbol.kind == SymbolKind::kFunction ? 0 : symbol.kind == SymbolKind::kSection ? 2 : 1;
}

std::vector<TableSymbol> symbols_in_order(const SymbolTable& symbols) {
  std::vector<TableSymbol> ordered;
  for (const TableSymbol& symbol : symbols.symbols()) {
    if (symbol.address != 0 && symbol.kind != SymbolKind::kFile &&
        symbol.kind != SymbolKind::kOther) {
      ordered.push_back(symbol);
    }
  }
  core::sort_rows(ordered, [](const TableSymbol& a, const TableSymbol& b) {
    return a.address != b.address ? a.address < b.address : order_of(a) < order_of(b);
  });
  return ordered;
}

std::uint64_t end_of(const TableSymbol& symbol) {
  return capture::saturating_sum(symbol.address, symbol.bytes);
}

// The end of the section of code that has the address; the address itself outside of all.
std::uint64_t end_of_code(const SymbolTable& symbols, const TableSymbol& symbol) {
  for (const CodeSection& section : symbols.code()) {
    if (section.number == symbol.section && symbol.address >= section.address &&
        symbol.address - section.address < section.bytes) {
      return section.address + section.bytes;
    }
  }
  return symbol.address;
}

std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    text += c == ' ' || c == '\\' ? "\\" : "";
    text += c == '\n' ? ' ' : c;
  }
  return text;
}

const BoltFunction* function_at(std::span<const BoltFunction> functions, std::uint64_t address) {
  const auto after =
      std::upper_bound(functions.begin(), functions.end(), address,
                       [](std::uint64_t at, const BoltFunction& row) { return at < row.address; });
  if (after == functions.begin() || address >= (after - 1)->end) {
    return nullptr;
  }
  return &*(after - 1);
}

using capture::saturating_sum;

constexpr std::size_t kGroupsAtOnce = std::size_t{1} << 20;

class LeafCounter {
 public:
  LeafCounter(const Reader& reader, const query::CaptureView& view,
              const query::SampleSelection& selection)
      : reader_(reader),
        selection_(selection),
        map_(view.processes, view.modules),
        rows_(image_rows(view.modules)) {}

  Status add(std::span<const query::Group> groups) {
    const std::span<const query::MappingContext> contexts = selection_.contexts();
    ids_.clear();
    placed_.clear();
    for (const query::Group& group : groups) {
      events_.insert(group.key.event);
      if (group.key.stack == kNoStack) {
        leaves_.without_image = saturating_sum(leaves_.without_image, group.count);
      } else {
        ids_.push_back(group.key.stack);
        placed_.push_back(&group);
      }
    }
    return reader_.callstacks(ids_, [&](std::size_t at, std::span<const Frame> frames) {
      const query::Group& group = *placed_[at];
      const query::MappingContext& context = contexts[group.key.context];
      const auto hit =
          frames.empty() ? std::nullopt : map_.find(context.pid, context.time_ns, frames.front());
      std::uint64_t& count =
          hit ? leaves_.images[rows_[hit->module]][hit->offset] : leaves_.without_image;
      count = saturating_sum(count, group.count);
      return true;
    });
  }

  LeafSamples finish() {
    std::set<std::string> names;
    for (const std::uint32_t event : events_) {
      names.insert(selection_.view().events[event].name);
    }
    leaves_.events.assign(names.begin(), names.end());
    return std::move(leaves_);
  }

 private:
  const Reader& reader_;
  const query::SampleSelection& selection_;
  capture::ModuleMap map_;
  std::vector<std::uint32_t> rows_;
  std::vector<StackId> ids_;
  std::vector<const query::Group*> placed_;  // by ids_
  std::set<std::uint32_t> events_;
  LeafSamples leaves_;
};

}  // namespace

std::vector<BoltFunction> bolt_functions(const SymbolTable& symbols) {
  std::vector<BoltFunction> functions;
  std::unordered_map<std::string_view, std::uint64_t> numbers;
  std::uint64_t known_end = 0;  // of the function before, by its own size
  for (const TableSymbol& symbol : symbols_in_order(symbols)) {
    std::string name(symbols.name_of(symbol));
    if (symbol.is_local && !name.empty()) {
      name += "/" + std::to_string(++numbers[symbols.name_of(symbol)]);
    }
    const bool is_function = order_of(symbol) == 0;
    if (!symbols.is_in_code(symbol) || name.empty() || symbol.kind == SymbolKind::kSection ||
        symbol.kind == SymbolKind::kVariable || symbols.is_mark(symbol)) {
      continue;
    }
    const bool is_same = !functions.empty() && functions.back().address == symbol.address;
    if (is_same || (!is_function && symbol.address < known_end)) {
      known_end = is_same ? std::max(known_end, end_of(symbol)) : known_end;
      continue;
    }
    if (!functions.empty()) {
      functions.back().end = std::min(functions.back().end, symbol.address);
    }
    known_end = end_of(symbol);
    functions.push_back({symbol.address, end_of_code(symbols, symbol), std::move(name)});
  }
  return functions;
}

BoltSamples bolt_samples(const ImageSamples& samples, std::span<const std::string> events,
                         const symbolize::ElfIdentity& elf, const SymbolTable& symbols) {
  const std::vector<BoltFunction> functions = bolt_functions(symbols);
  BoltSamples made;
  std::map<std::uint64_t, std::uint64_t> placed;
  for (const auto& [offset, count] : samples) {
    const std::optional<std::uint64_t> address = elf.address_of(offset);
    std::uint64_t& sum = address ? placed[*address] : made.unplaced;
    sum = capture::saturating_sum(sum, count);
  }
  made.text = "no_lbr";
  for (const std::string& event : events) {
    made.text += " " + escaped(event) + ":";
  }
  made.text += '\n';
  for (const auto& [address, count] : placed) {
    const BoltFunction* const function = function_at(functions, address);
    if (function == nullptr) {
      made.outside = capture::saturating_sum(made.outside, count);
      continue;
    }
    made.text +=
        fmt::format("1 {} {:x} {}\n", escaped(function->name), address - function->address, count);
  }
  return made;
}

Result<LeafSamples> leaf_samples(const Reader& reader, const SampleFilter& filter) {
  const Result<query::CaptureView> view = query::view_of(reader);
  if (!view) {
    return view.error();
  }
  ExportOptions options;
  options.filter = filter;
  options.all_events = filter.events.empty();
  options.count = CountBy::kSamples;
  const auto selection = query::SampleSelection::create(*view, options);
  if (!selection) {
    return selection.error();
  }
  query::SampleGrouper grouper(**selection,
                               {.event = true, .context = true, .track = false, .weight = false},
                               kGroupsAtOnce);
  LeafCounter counter(reader, *view, **selection);
  const Status read =
      grouper.for_each([&](std::span<const query::Group> groups) { return counter.add(groups); });
  return read ? Result<LeafSamples>(counter.finish()) : Result<LeafSamples>(read.error());
}

}  // namespace stackpack::app
