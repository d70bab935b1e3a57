#include "app/analysis/data_symbols.h"

#include <algorithm>

#include "app/branches/image_branches.h"
#include "core/sort_rows.h"
#include "io/byte_source.h"
#include "symbolize/symbol_table.h"

namespace stackpack::app {

namespace {

constexpr std::uint64_t kDataPage = 4096;
constexpr std::size_t kMostNeighbours = 4;  // images on either side of an address that are asked

struct Variable {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::string name;
};

bool is_variable(const symbolize::TableSymbol& symbol) {
  return symbol.bytes != 0 && symbol.kind == symbolize::SymbolKind::kVariable;
}

}  // namespace

struct DataSymbols::ImageData {
  symbolize::ElfIdentity layout;
  std::vector<Variable> variables;  // by address
};

DataSymbols::DataSymbols(std::span<const Module> modules, const symbolize::SymbolPlaces& places)
    : modules_(modules), places_(places), rows_(image_rows(modules)) {
  for (std::uint32_t row = 0; row < modules.size(); ++row) {
    by_base_[{modules[row].pid, modules[row].base}].push_back(row);
  }
}

DataSymbols::~DataSymbols() = default;

const DataSymbols::ImageData& DataSymbols::data_of(std::uint32_t row) {
  std::unique_ptr<ImageData>& data = images_[rows_[row]];
  if (data != nullptr) {
    return *data;
  }
  data = std::make_unique<ImageData>();
  const Module& module = modules_[row];
  const symbolize::ImageMapping mapping = symbolize::mapping_of(module);
  symbolize::FoundFiles found =
      symbolize::find_elf_files({module.path, module.build_id, {&mapping, 1}}, places_);
  if (found.end != symbolize::SearchEnd::kFound) {
    return *data;
  }
  data->layout = std::move(found.layout);
  const bool in_image = found.image && (data->layout.has_symbols || !found.debug);
  const auto file = io::source_of_descriptor(in_image ? found.image.get() : found.debug.get());
  const Result<symbolize::SymbolTable> table = symbolize::SymbolTable::read(*file);
  if (!table) {
    return *data;
  }
  for (const symbolize::TableSymbol& symbol : table->symbols()) {
    if (is_variable(symbol)) {
      data->variables.push_back(
          {symbol.address, symbol.bytes, std::string(table->name_of(symbol))});
    }
  }
  core::sort_rows(data->variables,
                  [](const Variable& a, const Variable& b) { return a.address < b.address; });
  return *data;
}

std::optional<DataSymbol> DataSymbols::find_in(std::uint32_t row, std::uint64_t address) {
  const Module& module = modules_[row];
  const ImageData& data = data_of(row);
  for (const symbolize::ElfSegment& segment : data.layout.segments) {
    const std::uint64_t begin = segment.offset / kDataPage * kDataPage;
    if (!segment.executable || module.file_offset < begin ||
        module.file_offset - begin > segment.file_bytes) {
      continue;
    }
    // What the file has at this address, whatever lies between: addresses wrap around as a whole.
    const std::uint64_t in_file =
        address - module.base + segment.address - segment.offset + module.file_offset;
    auto after = std::upper_bound(
        data.variables.begin(), data.variables.end(), in_file,
        [](std::uint64_t at, const Variable& variable) { return at < variable.address; });
    if (after == data.variables.begin()) {
      return std::nullopt;
    }
    --after;
    // Of several with one address the first one.
    while (after != data.variables.begin() && (after - 1)->address == after->address) {
      --after;
    }
    if (in_file - after->address < after->bytes) {
      return DataSymbol{after->name, row, in_file - after->address};
    }
    return std::nullopt;
  }
  return std::nullopt;
}

// In those of the images, all at one base, that are there at the time.
std::optional<DataSymbol> DataSymbols::find_in_any(std::span<const std::uint32_t> rows,
                                                   std::uint64_t time_ns, std::uint64_t address) {
  for (const std::uint32_t row : rows) {
    const Module& module = modules_[row];
    const bool there = (module.start_ns == kUnknownTime || module.start_ns <= time_ns) &&
                       (module.end_ns == kUnknownTime || time_ns < module.end_ns);
    if (!there) {
      continue;
    }
    if (std::optional<DataSymbol> found = find_in(row, address)) {
      return found;
    }
  }
  return std::nullopt;
}

std::optional<DataSymbol> DataSymbols::find(std::uint32_t pid, std::uint64_t time_ns,
                                            std::uint64_t address) {
  const auto after = by_base_.upper_bound({pid, address});
  // Data of an image follows its code, and constants may come before it.
  std::size_t asked = 0;
  for (auto at = after; at != by_base_.begin() && asked < kMostNeighbours; ++asked) {
    --at;
    if (at->first.first != pid) {
      break;
    }
    if (std::optional<DataSymbol> found = find_in_any(at->second, time_ns, address)) {
      return found;
    }
  }
  asked = 0;
  for (auto at = after; at != by_base_.end() && asked < kMostNeighbours && at->first.first == pid;
       ++at, ++asked) {
    if (std::optional<DataSymbol> found = find_in_any(at->second, time_ns, address)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace stackpack::app
