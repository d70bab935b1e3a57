#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stackpack/model.h"
#include "symbolize/symbol_files.h"

namespace stackpack::app {

/// A variable that an address of data is in.
struct DataSymbol {
  std::string name;          ///< as linked
  std::uint32_t image = 0;   ///< row of modules of the image that has it
  std::uint64_t offset = 0;  ///< of the address in it
};

/// Finds variables by the symbol tables of images' files. Captures have where code of an image was
/// mapped; its data lies at the distance that its program headers say.
///
/// Files are looked for by build id at the first address near their image. Memory: their tables of
/// symbols. Threads: one.
class DataSymbols {
 public:
  /// Both must outlive this.
  DataSymbols(std::span<const Module> modules, const symbolize::SymbolPlaces& places);
  ~DataSymbols();
  DataSymbols(const DataSymbols&) = delete;
  DataSymbols& operator=(const DataSymbols&) = delete;

  /// Nothing: no image of the process is known to have a variable there.
  std::optional<DataSymbol> find(std::uint32_t pid, std::uint64_t time_ns, std::uint64_t address);
  /// Of the image that has it.
  [[nodiscard]] const std::string& path_of(const DataSymbol& symbol) const {
    return modules_[symbol.image].path;
  }

 private:
  struct ImageData;

  const ImageData& data_of(std::uint32_t row);
  std::optional<DataSymbol> find_in_any(std::span<const std::uint32_t> rows, std::uint64_t time_ns,
                                        std::uint64_t address);
  std::optional<DataSymbol> find_in(std::uint32_t row, std::uint64_t address);

  std::span<const Module> modules_;
  const symbolize::SymbolPlaces& places_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::uint32_t>>
      by_base_;                                                 // by pid and where code begins
  std::map<std::uint32_t, std::unique_ptr<ImageData>> images_;  // by the row that stands for each
  std::vector<std::uint32_t> rows_;  // by row of modules, the row that stands for its image
};

}  // namespace stackpack::app
