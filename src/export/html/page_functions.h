#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/string_table.h"
#include "export/html/page_content.h"
#include "query/naming/location_table.h"
#include "stackpack/model.h"

namespace stackpack::exporting {

/// A text that functions have in common which are one.
void make_key(const PageFunction& function, std::string_view module, std::string& key);

/// Functions and modules of a page, numbered as they come. A function is what `top` counts as one:
/// a name and the file name of an image; a place without a name is an image and an offset.
class PageFunctions {
 public:
  /// `locations` must outlive this; its Naming unfolds and has by_function.
  explicit PageFunctions(const query::LocationTable& locations) : locations_(locations) {}

  /// The function of a location.
  std::uint32_t of(std::uint32_t location);

  /// Finds the functions that were inlined wherever they occur. Once all locations are known.
  void mark_inlined();

  /// Hands the tables over; nothing may be asked after.
  void move_to(PageContent& content);

 private:
  std::uint32_t number_of(const query::Location& location, std::uint32_t number);
  [[nodiscard]] query::CodeMode mode_of(const query::Location& location) const;

  const query::LocationTable& locations_;
  std::vector<std::uint32_t> function_of_location_;
  core::StringTable modules_;
  core::StringTable keys_;  // of the functions
  std::vector<PageFunction> functions_;
  std::string scratch_;
};

}  // namespace stackpack::exporting
