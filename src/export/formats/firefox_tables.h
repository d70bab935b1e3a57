#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/string_table.h"
#include "export/output/json_output.h"
#include "query/naming/location_table.h"
#include "query/naming/stack_tree.h"

namespace stackpack::exporting {

/// What the threads of a Firefox profile share: libraries, and the tables of callstacks, frames,
/// functions, resources and sources. Row i of the frame table is location i, row i of the stack
/// table is node i + 1 of the tree.
///
/// A column says by a bit of the row's flags whether it has a value there; otherwise it has a zero.
class FirefoxTables {
 public:
  /// Categories of frames, by their number in the profile.
  enum Category : unsigned { kOther = 0, kUser = 1, kKernel = 2, kManaged = 3 };

  /// Numbers libraries and functions of all locations that are there: call it after the last one.
  /// The arguments must outlive the tables.
  FirefoxTables(const query::LocationTable& locations, const query::StackTree& tree,
                JsonWriter& json);

  /// The members `libs` and `shared`.
  void write();

  /// Whether all that lies in libraries has functions: nothing is left for symbol servers then.
  [[nodiscard]] bool all_named() const;

 private:
  struct FunctionRow {
    std::uint32_t name = 0;
    std::uint32_t library = query::kNoImage;
    std::uint32_t source = 0;  // plus one; 0: not known
    std::uint32_t start_line = 0;
  };

  void number_libraries();
  void number_functions();
  void write_libraries();
  void write_stack_table();
  void write_frame_table();
  void write_function_table();
  void write_sources();
  void write_resource_table();
  [[nodiscard]] bool has_libraries_of_one_name() const;
  void write_strings();

  [[nodiscard]] std::uint32_t library_of(std::uint32_t location) const;
  [[nodiscard]] bool has_place(std::uint32_t location) const;
  [[nodiscard]] std::uint32_t line_of(std::uint32_t location) const;
  [[nodiscard]] const query::FunctionName* function_at(std::uint32_t location) const;
  [[nodiscard]] unsigned category_of(std::uint32_t location) const;
  [[nodiscard]] unsigned frame_flags(std::uint32_t location) const;
  [[nodiscard]] static unsigned function_flags(const FunctionRow& row);

  /// A column with one value for each of `rows`.
  template <typename Value>
  void column(std::string_view key, std::uint64_t rows, Value value);
  void zeros(std::string_view key, std::uint64_t rows);
  void nulls(std::string_view key, std::uint64_t rows);
  void write_empty_table(std::string_view key, std::initializer_list<std::string_view> columns);

  const query::LocationTable& locations_;
  const query::StackTree& tree_;
  JsonWriter& json_;
  core::StringTable strings_;
  core::StringTable sources_;
  std::vector<FunctionRow> functions_;
  std::vector<std::uint32_t> function_of_;  // by location
  std::vector<std::uint32_t> library_of_image_;
  std::vector<std::uint32_t> libraries_;  // images
};

}  // namespace stackpack::exporting
