#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query/naming/location_table.h"
#include "query/naming/stack_tree.h"
#include <protozero/pbf_writer.hpp>

namespace stackpack::exporting {

/// What the packets of one sequence have named already: callstacks, their frames, images and texts
/// are written once, where they are first needed. Numbers are those of the tree and the table, plus
/// one, so that 0 is none.
///
/// Memory: a bit for each of them.
class PerfettoInterning {
 public:
  /// Both must outlive this.
  PerfettoInterning(const query::LocationTable& locations, const query::StackTree& tree)
      : locations_(locations), tree_(tree) {}

  /// The fields of an InternedData that a callstack needs and that are not there yet; empty: none.
  /// `node`: not the root.
  const std::string& need(std::uint32_t node);

 private:
  /// True the first time that a number is asked for.
  class Once {
   public:
    bool operator()(std::uint32_t number) {
      if (number >= seen_.size()) {
        seen_.resize(std::size_t{number} + number / 2 + 64);
      }
      const bool fresh = !seen_[number];
      seen_[number] = true;
      return fresh;
    }

   private:
    std::vector<bool> seen_;
  };

  void add_frame(protozero::pbf_writer& out, std::uint32_t location);
  void add_image(protozero::pbf_writer& out, std::uint32_t image);
  /// An entry of one of the lists of texts; `iid`: plus one.
  static void add_text(protozero::pbf_writer& out, std::uint32_t list, std::uint64_t iid,
                       std::string_view text);

  const query::LocationTable& locations_;
  const query::StackTree& tree_;
  Once stacks_;
  Once frames_;
  Once images_;
  Once names_;
  Once files_;
  std::uint64_t path_texts_ = 0;  // parts of paths that were written
  std::vector<std::uint32_t> path_;
  std::string bytes_;
};

}  // namespace stackpack::exporting
