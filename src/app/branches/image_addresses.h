#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "stackpack/model.h"
#include "stackpack/symbols.h"

namespace stackpack::app {

/// From an offset in the file of an image to an address that means it, in one of the processes that
/// had it mapped. Rows of branches know an image, and neither process nor time.
class ImageAddresses {
 public:
  /// The modules must outlive this.
  explicit ImageAddresses(std::span<const Module> modules);

  /// `image`: a row of modules that stands for the image, as in branches.h. Nothing: no mapping of
  /// the image has the offset.
  [[nodiscard]] std::optional<Symbols::Query> find(std::uint32_t image, std::uint64_t offset) const;

 private:
  std::span<const Module> modules_;
  /// By row that stands for an image: its mappings of different parts, the first of each.
  std::map<std::uint32_t, std::vector<std::uint32_t>> parts_;
};

}  // namespace stackpack::app
