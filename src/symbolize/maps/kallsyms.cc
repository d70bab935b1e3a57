#include "symbolize/maps/kallsyms.h"

#include <algorithm>
#include <tuple>

#include "core/sort_rows.h"
#include "symbolize/maps/text_lines.h"

namespace stackpack::symbolize {

namespace {

constexpr std::size_t kMostSymbols = std::size_t{16} << 20;
constexpr std::uint64_t kKernelPage = 4096;
constexpr std::string_view kFunctionTypes = "tTwWiu";

// Marks of the linker at the end of code: types of functions, but none.
bool ends_code(std::string_view name) {
  return name == "_etext" || name == "_einittext";
}

}  // namespace

void Kallsyms::add_line(std::string_view line, std::string_view reference, NameCollector& modules) {
  const std::optional<std::uint64_t> address = hex_number(take_word(line));
  const std::string_view type = take_word(line);
  const std::string_view name = take_word(line);
  if (!address || type.size() != 1 || name.empty()) {
    ++unread_lines_;
    return;
  }
  std::string_view module = take_word(line);
  const bool is_reference = module.empty() && name == reference;
  saw_reference_ |= is_reference;
  if (*address == 0) {
    ++zero_addresses_;
    return;
  }
  starts_.push_back(*address);
  if (is_reference && !reference_address_) {
    reference_address_ = address;
  }
  if (kFunctionTypes.find(type) == std::string_view::npos || ends_code(name)) {
    return;
  }
  if (module.starts_with('[') && module.ends_with(']')) {
    module = module.substr(1, module.size() - 2);
  }
  AliasRank rank;
  rank.is_weak = type == "W" || type == "w";
  rank.is_not_global = type == "t";
  functions_.push_back(
      {*address, static_cast<std::uint32_t>(texts_.size()), modules.text(module), rank});
  texts_.add(name);
}

void Kallsyms::sort() {
  core::sort_rows(functions_, [this](const KernelFunction& a, const KernelFunction& b) {
    if (a.address != b.address) {
      return a.address < b.address;  // nearly always: names need not be looked at
    }
    return std::tuple(a.rank, AliasNameRank(texts_[a.name])) <
           std::tuple(b.rank, AliasNameRank(texts_[b.name]));
  });
  functions_.erase(std::unique(functions_.begin(), functions_.end(),
                               [](const KernelFunction& a, const KernelFunction& b) {
                                 return a.address == b.address;
                               }),
                   functions_.end());
  std::sort(starts_.begin(), starts_.end());
  starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
}

Status Kallsyms::read_lines(io::ByteSource& source, std::string_view reference, bool all) {
  TextLines lines(source);
  NameCollector modules;
  while (all || !knows(reference)) {
    const Result<std::optional<std::string_view>> line = lines.next();
    if (!line) {
      return line.error();
    }
    if (!*line) {
      break;
    }
    if (starts_.size() >= kMostSymbols) {
      return Error{ErrorCode::kLimit, lines.offset(), "kallsyms: too many symbols"};
    }
    add_line(**line, reference, modules);
  }
  unread_lines_ += lines.too_long();
  if (!functions_.empty()) {
    return {};
  }
  if (zero_addresses_ != 0) {
    return Error{ErrorCode::kUnsupported, kNoOffset,
                 "kallsyms: every address is 0, which is what the kernel shows to other users "
                 "than root: read it as root, or set sysctl kernel.kptr_restrict=0 before"};
  }
  return Error{ErrorCode::kCorrupt, kNoOffset,
               "kallsyms: no line has the address, type and name of a function"};
}

Result<Kallsyms> Kallsyms::read(io::ByteSource& source, std::string_view reference) {
  Kallsyms symbols;
  if (const Status done = symbols.read_lines(source, reference, true); !done) {
    return done.error();
  }
  symbols.sort();
  return symbols;
}

Result<std::optional<std::uint64_t>> Kallsyms::find(io::ByteSource& source,
                                                    std::string_view reference) {
  Kallsyms symbols;
  if (const Status done = symbols.read_lines(source, reference, false); !done) {
    return done.error();
  }
  return symbols.reference_address_;
}

std::uint64_t Kallsyms::end_of(std::size_t function) const {
  const KernelFunction& row = functions_[function];
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), row.address);
  const std::uint64_t page = row.address & ~(kKernelPage - 1);
  const std::uint64_t page_end = page + std::min(2 * kKernelPage, ~std::uint64_t{0} - page);
  const bool last =
      function + 1 == functions_.size() || functions_[function + 1].module != row.module;
  if (next == starts_.end()) {
    return page_end;
  }
  return last ? std::min(*next, page_end) : *next;
}

void Kallsyms::name(const SymbolRequest& request, std::uint64_t slide, const CodeRange& owner,
                    NameCollector& names) const {
  std::uint64_t named_up_to = 0;
  for (const std::uint64_t asked : request.addresses) {
    const std::uint64_t address = asked - slide;
    if (asked < named_up_to) {
      continue;
    }
    const auto after = std::upper_bound(
        functions_.begin(), functions_.end(), address,
        [](std::uint64_t wanted, const KernelFunction& row) { return wanted < row.address; });
    if (after == functions_.begin()) {
      continue;
    }
    const std::uint64_t end = end_of(static_cast<std::size_t>(after - 1 - functions_.begin()));
    if (address >= end || (slide != 0 && (after - 1)->module != kNoText)) {
      continue;
    }
    Function row;
    static_cast<CodeRange&>(row) = owner;
    row.start = (after - 1)->address + slide;
    row.size = end - (after - 1)->address;
    row.source = FunctionSource::kKallsyms;
    row.name = names.text(texts_[(after - 1)->name]);
    names.add_function(row);
    named_up_to = row.start + row.size;
  }
}

}  // namespace stackpack::symbolize
