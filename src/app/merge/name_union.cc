#include "app/merge/name_union.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "capture/rebased_addresses.h"
#include "core/sort_rows.h"
#include "symbolize/name_collector.h"

namespace stackpack::app {

namespace {

using capture::RebasedAddresses;

std::uint64_t hash_of(std::initializer_list<std::uint64_t> values) {
  std::uint64_t hash = 0;
  for (const std::uint64_t value : values) {
    hash = core::spread_bits(hash ^ value);
  }
  return hash;
}

// A linkage name that says no more than the name is none.
std::string_view linkage_of(const Names& names, std::uint32_t name, std::uint32_t linkage) {
  const std::string_view text = names.texts[linkage];
  return text == names.texts[name] ? std::string_view() : text;
}

}  // namespace

std::uint64_t NameUnion::HashRow::operator()(const CallRow& row) const {
  return hash_of({row.parent, row.name, row.linkage, row.file, row.line});
}
std::uint64_t NameUnion::HashRow::operator()(const FunctionRow& row) const {
  return hash_of({row.image, row.name, row.linkage, row.start, row.size});
}
std::uint64_t NameUnion::HashRow::operator()(const LineRow& row) const {
  return hash_of({row.image, row.inlined, row.file, row.line, row.start, row.size});
}
std::uint64_t NameUnion::HashRow::operator()(const NameRow& row) const {
  return hash_of(
      {row.name, row.linkage, row.file, row.line, row.code_file, row.code_line, row.inlined});
}

std::uint32_t NameUnion::call(std::uint32_t parent, const Names& names, const InlinedCall& call) {
  return calls_.number({parent, text(names.texts[call.name]),
                        text(linkage_of(names, call.name, call.linkage)),
                        text(names.texts[call.call_file]), call.call_line});
}

std::uint64_t NameUnion::HashRow::operator()(const AliasRow& row) const {
  return hash_of({row.name, row.alias});
}

void NameUnion::add_function(std::uint32_t image, std::uint64_t start, const Names& names,
                             const Function& function) {
  functions_.number({image, text(names.texts[function.name]),
                     text(linkage_of(names, function.name, function.linkage)),
                     text(names.texts[function.file]), function.line, function.source, start,
                     function.size});
}

void NameUnion::add_line(std::uint32_t image, std::uint64_t start, std::uint64_t size,
                         std::uint32_t inlined, std::string_view file, std::uint32_t line) {
  lines_.number({image, inlined, text(file), line, start, size});
}

template <typename Number>
std::optional<NameUnion::NameRow> NameUnion::row_of(const Names& names, const NamedCode& code,
                                                    Number number) {
  NameRow row{};
  row.source = FunctionSource::kUnknown;
  row.has_code = code.has_code;
  row.inlined = code.has_code ? code.inlined : kNone;
  row.code_line = code.has_code ? code.line : 0;
  std::string_view name = code.name;
  std::string_view linkage;
  std::string_view file;
  if (code.function != nullptr) {
    name = names.texts[code.function->name];
    linkage = linkage_of(names, code.function->name, code.function->linkage);
    file = names.texts[code.function->file];
    row.line = code.function->line;
    row.source = code.function->source;
  }
  row.name = number(name);
  row.linkage = number(linkage);
  row.file = number(file);
  row.code_file = number(code.has_code ? code.file : std::string_view());
  const bool known =
      row.name != kNone && row.linkage != kNone && row.file != kNone && row.code_file != kNone;
  return known ? std::optional(row) : std::nullopt;
}

void NameUnion::add_name(const Names& names, const NamedCode& code) {
  const auto row =
      row_of(names, code, [this](std::string_view given) { return texts_.intern(given); });
  if (row) {
    names_.number(*row);
  }
}

std::optional<std::uint64_t> NameUnion::address_of(const Names& names,
                                                   const NamedCode& code) const {
  const auto row =
      row_of(names, code, [this](std::string_view given) { return texts_.find(given); });
  const std::uint32_t known = row ? names_.find(*row) : kNone;
  if (known == kNone) {
    return std::nullopt;
  }
  return RebasedAddresses::kFirstName + rank_[known] * RebasedAddresses::kBytesPerName + 1;
}

std::strong_ordering NameUnion::compare_texts(std::uint32_t a, std::uint32_t b) const {
  return a == b ? std::strong_ordering::equal : texts_.text(a).compare(texts_.text(b)) <=> 0;
}

std::strong_ordering NameUnion::compare_calls(std::uint32_t a, std::uint32_t b) const {
  if (a == b) {
    return std::strong_ordering::equal;
  }
  const auto chain_of = [this](std::uint32_t at) {
    std::vector<std::uint32_t> chain;
    for (; at != kNone; at = calls_[at].parent) {
      chain.push_back(at);
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
  };
  const auto compare = [this](std::uint32_t x, std::uint32_t y) -> std::strong_ordering {
    const CallRow& p = calls_[x];
    const CallRow& q = calls_[y];
    for (const auto order : {compare_texts(p.name, q.name), compare_texts(p.linkage, q.linkage),
                             compare_texts(p.file, q.file), p.line <=> q.line}) {
      if (std::is_neq(order)) {
        return order;
      }
    }
    return std::strong_ordering::equal;
  };
  const std::vector<std::uint32_t> x = chain_of(a);
  const std::vector<std::uint32_t> y = chain_of(b);
  for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
    if (const auto order = compare(x[i], y[i]); std::is_neq(order)) {
      return order;
    }
  }
  return x.size() <=> y.size();
}

bool NameUnion::before(const NameRow& a, const NameRow& b) const {
  for (const auto order : {compare_texts(a.name, b.name), compare_texts(a.linkage, b.linkage),
                           compare_texts(a.file, b.file), a.line <=> b.line,
                           static_cast<unsigned>(a.source) <=> static_cast<unsigned>(b.source),
                           static_cast<int>(a.has_code) <=> static_cast<int>(b.has_code),
                           compare_texts(a.code_file, b.code_file), a.code_line <=> b.code_line}) {
    if (std::is_neq(order)) {
      return std::is_lt(order);
    }
  }
  return std::is_lt(compare_calls(a.inlined, b.inlined));
}

bool NameUnion::before(const FunctionRow& a, const FunctionRow& b) const {
  for (const auto order : {a.start <=> b.start, a.size <=> b.size,
                           static_cast<unsigned>(a.source) <=> static_cast<unsigned>(b.source),
                           compare_texts(a.name, b.name), compare_texts(a.linkage, b.linkage),
                           compare_texts(a.file, b.file), a.line <=> b.line}) {
    if (std::is_neq(order)) {
      return std::is_lt(order);
    }
  }
  return false;
}

bool NameUnion::before(const LineRow& a, const LineRow& b) const {
  for (const auto order :
       {a.start <=> b.start, a.size <=> b.size, compare_texts(a.file, b.file), a.line <=> b.line}) {
    if (std::is_neq(order)) {
      return std::is_lt(order);
    }
  }
  return std::is_lt(compare_calls(a.inlined, b.inlined));
}

Status NameUnion::finish() {
  if (names_.size() > RebasedAddresses::kMostNames) {
    return Error{ErrorCode::kLimit, kNoOffset, "too many names to merge"};
  }
  order_.resize(names_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  core::sort_rows(
      order_, [this](std::uint32_t a, std::uint32_t b) { return before(names_[a], names_[b]); });
  rank_.resize(order_.size());
  for (std::uint32_t i = 0; i < order_.size(); ++i) {
    rank_[order_[i]] = i;
  }
  return {};
}

// Makes the rows of a file, in an order that follows from what they say.
class NameUnion::Build {
 public:
  Build(const NameUnion& from, const ImageTable& images)
      : from_(from), images_(images), calls_(from.calls_.size(), kNoInline) {}

  Names run() {
    add_names();
    add_rows(from_.functions_.values(), [this](const FunctionRow& row) { add(row); });
    add_rows(from_.lines_.values(), [this](const LineRow& row) { add(row); });
    // Their order is the writer's.
    for (const AliasRow& row : from_.aliases_.values()) {
      all_.add_alias(text(row.name), text(row.alias));
    }
    return std::move(all_).finish();
  }

 private:
  std::uint32_t text(std::uint32_t number) { return all_.text(from_.texts_.text(number)); }

  std::uint32_t call(std::uint32_t number) {
    std::vector<std::uint32_t> chain;
    for (; number != kNone && calls_[number] == kNoInline; number = from_.calls_[number].parent) {
      chain.push_back(number);
    }
    std::uint32_t row = number == kNone ? kNoInline : calls_[number];
    for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
      const CallRow& given = from_.calls_[*at];
      InlinedCall added;
      added.parent = row;
      added.name = text(given.name);
      added.linkage = text(given.linkage);
      added.call_file = text(given.file);
      added.call_line = given.line;
      row = all_.add_call(added);
      calls_[*at] = row;
    }
    return row;
  }

  void add_names() {
    std::uint64_t start = RebasedAddresses::kFirstName;
    for (const std::uint32_t number : from_.order_) {
      const NameRow& row = from_.names_[number];
      Function function;
      function.owner = FunctionOwner::kKernel;
      function.start = start;
      function.size = RebasedAddresses::kBytesPerName;
      function.source = row.source;
      function.name = text(row.name);
      function.linkage = text(row.linkage);
      function.file = text(row.file);
      function.line = row.line;
      all_.add_function(function);
      if (row.has_code) {
        CodeLine line;
        static_cast<CodeRange&>(line) = static_cast<const CodeRange&>(function);
        line.inlined = call(row.inlined);
        line.file = text(row.code_file);
        line.line = row.code_line;
        all_.add_line(line);
      }
      start += RebasedAddresses::kBytesPerName;
    }
  }

  template <typename Row, typename Add>
  void add_rows(std::span<const Row> rows, Add add) {
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0U);
    core::sort_rows(order, [&](std::uint32_t a, std::uint32_t b) {
      const std::uint32_t x = images_.row(rows[a].image);
      const std::uint32_t y = images_.row(rows[b].image);
      return x != y ? x < y : from_.before(rows[a], rows[b]);
    });
    for (const std::uint32_t at : order) {
      add(rows[at]);
    }
  }

  void set_range(CodeRange& range, std::uint32_t image, std::uint64_t start, std::uint64_t size) {
    range.owner = FunctionOwner::kImage;
    range.module = images_.row(image);
    range.start = start;
    range.size = size;
  }

  void add(const FunctionRow& row) {
    Function function;
    set_range(function, row.image, row.start, row.size);
    function.source = row.source;
    function.name = text(row.name);
    function.linkage = text(row.linkage);
    function.file = text(row.file);
    function.line = row.line;
    all_.add_function(function);
  }

  void add(const LineRow& row) {
    CodeLine line;
    set_range(line, row.image, row.start, row.size);
    line.inlined = call(row.inlined);
    line.file = text(row.file);
    line.line = row.line;
    all_.add_line(line);
  }

  const NameUnion& from_;
  const ImageTable& images_;
  std::vector<std::uint32_t> calls_;  // rows of the file
  symbolize::NameCollector all_;
};

Names NameUnion::names(const ImageTable& images) const {
  return Build(*this, images).run();
}

}  // namespace stackpack::app
