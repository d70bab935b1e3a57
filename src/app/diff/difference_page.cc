#include "app/diff/difference_page.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "app/diff/joint_callstacks.h"
#include "bytes/utf8.h"
#include "core/guard.h"
#include "core/string_table.h"
#include "export/html/page_content.h"
#include "export/html/page_file.h"
#include "export/output/export_output.h"
#include "io/output_file.h"
#include "io/output_rules.h"

namespace stackpack::app {

namespace {

using exporting::PageContent;

constexpr std::array<std::string_view, 2> kSideNames = {"old", "new"};

std::string unit_of(DiffUnit unit) {
  return unit == DiffUnit::kWeight ? "weight" : "samples";
}

void add_functions(const RowTable& rows, PageContent& content) {
  core::StringTable modules;
  for (const RowName& row : rows.functions) {
    exporting::PageFunction function;
    function.name = bytes::valid_utf8(row.name);
    if (!row.place.empty()) {
      function.name += " at " + bytes::valid_utf8(row.place);
    }
    if (!row.module.empty()) {
      function.module = modules.intern(bytes::valid_utf8(row.module));
    }
    content.functions.push_back(std::move(function));
  }
  for (std::uint32_t i = 0; i < modules.size(); ++i) {
    content.modules.emplace_back(modules.text(i));
  }
}

// The root is no function; its row says nothing.
void add_tree(const JointCallstacks& joint, PageContent& content) {
  content.parents = joint.rows.outer;
  content.node_functions = joint.rows.leaf;
  content.node_functions.front() = 0;
  for (std::size_t side = 0; side < kSideNames.size(); ++side) {
    content.sides.emplace_back(kSideNames[side]);
    auto& values = content.self.emplace_back().emplace_back();
    for (std::uint32_t row = 0; row < joint.values.size(); ++row) {
      if (joint.values[row][side] != 0) {
        values.push_back({row, joint.values[row][side]});
      }
    }
  }
}

PageContent page_of(const JointCallstacks& joint, const DiffOptions& options,
                    const DifferencePage& page) {
  PageContent content;
  content.title = "Profiles compared";
  content.measures.push_back({bytes::valid_utf8(joint.event), unit_of(options.unit)});
  add_functions(joint.rows, content);
  add_tree(joint, content);
  constexpr std::array<std::string_view, 2> kLabels = {"Before", "Now"};
  for (std::size_t side = 0; side < kLabels.size(); ++side) {
    content.facts.push_back(
        {std::string(kLabels[side]), std::to_string(joint.samples[side]) + " samples, " +
                                         std::to_string(joint.runs[side]) +
                                         (joint.runs[side] == 1 ? " run" : " runs")});
  }
  content.facts.push_back({"Selection", options.filter.empty() && options.whole.empty()
                                            ? "everything"
                                            : "a part, by filters"});
  content.diff_json = page.verdicts_json;
  return content;
}

Error of_output(Error error) {
  error.part = kOutputPart;
  return error;
}

}  // namespace

Result<std::uint64_t> write_difference_page(std::span<const Reader* const> before,
                                            std::span<const Reader* const> after,
                                            const DiffOptions& options,
                                            const DifferencePage& page) {
  return core::guarded([&]() -> Result<std::uint64_t> {
    io::OutputRules rules;
    rules.force = page.force;
    if (const Status added = io::add_inputs(rules, page.inputs); !added) {
      return added.error();
    }
    if (const Status allowed = io::check_output(page.output, rules); !allowed) {
      return of_output(allowed.error());
    }
    const auto joint = joint_callstacks(before, after, options);
    if (!joint) {
      return joint.error();
    }
    auto file = io::OutputFile::create(page.output, rules);
    if (!file) {
      return of_output(file.error());
    }
    exporting::ExportOutput out(**file, exporting::ExportOutput::Coding::kPlain);
    Status status = exporting::write_page(page_of(*joint, options, page), out);
    status = status ? out.finish() : status;
    status = status ? (*file)->commit() : status;
    return status ? Result<std::uint64_t>((*file)->offset()) : of_output(status.error());
  });
}

}  // namespace stackpack::app
