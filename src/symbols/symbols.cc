#include "stackpack/symbols.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "capture/synthetic_frames.h"
#include "core/sort_rows.h"
#include "symbols/symbol_index.h"

namespace stackpack {

namespace {

struct Tables {
  std::vector<Process> processes;
  std::vector<Module> modules;
  Names names;
  symbols::SymbolIndex::Facts facts;
};

}  // namespace

struct Symbols::Impl {
  explicit Impl(Tables given)
      : tables(std::move(given)),
        index(tables.processes, tables.modules, tables.names, tables.facts) {}

  const Tables tables;
  const symbols::SymbolIndex index;
};

Symbols::Symbols(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Symbols::~Symbols() = default;

Result<std::unique_ptr<const Symbols>> Symbols::load(const Reader& reader) {
  Result<std::vector<Process>> processes = reader.processes();
  if (!processes) {
    return processes.error();
  }
  Result<std::vector<Module>> modules = reader.modules();
  if (!modules) {
    return modules.error();
  }
  Result<Names> names = reader.names();
  if (!names) {
    return names.error();
  }
  const Result<std::vector<MetadataEntry>> metadata = reader.metadata();
  if (!metadata) {
    return metadata.error();
  }
  const auto says = [&metadata](std::string_view key) {
    return std::any_of(metadata->begin(), metadata->end(), [key](const MetadataEntry& entry) {
      return entry.key == key && entry.value == "1";
    });
  };
  const symbols::SymbolIndex::Facts facts{
      says(capture::SyntheticFrames::kMetadataKey), !says("samples.aggregated"),
      reader.statistics().samples.unwound != 0, reader.statistics().source_kind != "nettrace"};
  return std::unique_ptr<const Symbols>(new Symbols(std::make_unique<const Impl>(
      Tables{std::move(*processes), std::move(*modules), std::move(*names), facts})));
}

CodeLocation Symbols::locate(const Frame& frame, std::uint32_t pid, std::uint64_t time_ns,
                             AddressUse use) const {
  return impl_->index.locate(frame, pid, time_ns, use);
}

AddressUse Symbols::use_of(std::span<const Frame> leaf_first, std::size_t index, std::uint32_t pid,
                           std::uint64_t time_ns) const {
  return impl_->index.use_of(leaf_first, index, pid, time_ns);
}

void Symbols::locate_stack(std::span<const Frame> leaf_first, std::uint32_t pid,
                           std::uint64_t time_ns, std::vector<CodeLocation>& locations) const {
  locations.clear();
  for (std::size_t i = 0; i < leaf_first.size(); ++i) {
    locations.push_back(locate(leaf_first[i], pid, time_ns, use_of(leaf_first, i, pid, time_ns)));
  }
}

void Symbols::locate_all(std::span<const Query> queries,
                         std::vector<CodeLocation>& locations) const {
  std::vector<std::size_t> order(queries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&queries](std::size_t at) {
    const Query& query = queries[at];
    return std::tuple(query.pid, query.frame, query.use, query.time_ns);
  };
  core::sort_rows(order, [&key](std::size_t a, std::size_t b) { return key(a) < key(b); });
  locations.assign(queries.size(), {});
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Query& query = queries[order[i]];
    locations[order[i]] = i > 0 && key(order[i - 1]) == key(order[i])
                              ? locations[order[i - 1]]
                              : locate(query.frame, query.pid, query.time_ns, query.use);
  }
}

void Symbols::expand(const CodeLocation& location, std::vector<InlineFrame>& frames) const {
  impl_->index.expand(location, frames);
}

Symbols::Epoch Symbols::epoch(std::uint32_t pid, std::uint64_t time_ns) const {
  return impl_->index.epochs().find(pid, time_ns);
}

std::span<const Process> Symbols::processes() const {
  return impl_->tables.processes;
}
std::span<const Module> Symbols::modules() const {
  return impl_->tables.modules;
}
const Names& Symbols::names() const {
  return impl_->tables.names;
}

}  // namespace stackpack
