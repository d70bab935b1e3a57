#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/string_table.h"
#include "export/formats/otlp_sample_fields.h"
#include "export/output/export_output.h"
#include "export/output/spilled_message.h"
#include "query/naming/location_table.h"
#include "query/naming/stack_tree.h"
#include "query/selection/sample_selection.h"

namespace stackpack::exporting {

/// The tables of an OTLP message, to which everything else refers by index. Entry 0 of each table
/// means «none».
class OtlpDictionary {
 public:
  OtlpDictionary(const query::SampleSelection& selection, const query::LocationTable& locations,
                 const query::StackTree& tree, bool stack_tree);

  std::uint32_t string(std::string_view text) { return strings_.intern(text); }
  std::uint32_t text_attribute(std::string_view key, std::string_view value);
  std::uint32_t number_attribute(std::string_view key, std::uint64_t value);
  std::uint32_t attribute(std::string_view key, const OtlpValue& value);
  /// Index of a link to a trace and span, by their bytes; 0 without both.
  std::uint32_t link(const std::string& trace_id, const std::string& span_id);
  /// The attributes of the samples of a track. Valid until the next call.
  const std::vector<std::uint32_t>& attributes_of(std::uint32_t track);

  /// Index of the callstack that ends at `node`.
  std::uint32_t stack(std::uint32_t node);
  /// Callstacks that were asked for.
  [[nodiscard]] std::uint64_t stack_count() const { return stacks_.size(); }

  /// Writes all tables. Call it once, at the end.
  void write(SpilledMessage& out);

 private:
  struct Attribute {
    std::uint32_t key = 0;
    OtlpValue value;
    std::uint32_t unit = 0;
  };

  void write_mappings(SpilledMessage& out);
  void write_locations(SpilledMessage& out);
  void number_functions();
  void write_functions(SpilledMessage& out);
  [[nodiscard]] std::string_view frame_type_of(const query::Location& place) const;
  void write_stacks(SpilledMessage& out);
  void write_links(SpilledMessage& out);
  void write_tree(SpilledMessage& out);
  void write_attributes(SpilledMessage& out);
  void write_strings(SpilledMessage& out);

  const query::SampleSelection& selection_;
  const query::LocationTable& locations_;
  const query::StackTree& tree_;
  bool stack_tree_;
  core::StringTable strings_;
  core::StringTable attribute_identities_;
  std::vector<Attribute> attributes_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> attributes_of_track_;
  std::vector<std::pair<std::string, std::string>> links_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> link_numbers_;
  std::vector<std::uint32_t> index_of_node_;  // 0: not asked for
  std::vector<std::uint32_t> stacks_;         // nodes, in the order of their indices
  std::vector<std::uint32_t> mapping_of_image_;
  std::vector<std::uint32_t> entry_of_function_;  // by its number in the table of locations
};

}  // namespace stackpack::exporting
