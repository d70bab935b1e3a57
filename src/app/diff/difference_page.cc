#include "app/diff/difference_page.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/diff/joint_callstacks.h"
#include "bytes/utf8.h"
#include "capture/loss_counters.h"
#include "core/guard.h"
#include "core/string_table.h"
#include "export/html/page_content.h"
#include "export/html/page_facts.h"
#include "export/html/page_file.h"
#include "export/output/export_output.h"
#include "io/files_read.h"
#include "io/output_file.h"
#include "io/output_rules.h"

namespace stackpack::app {

namespace {

using exporting::PageContent;
using Sides = std::array<std::span<const Reader* const>, 2>;

constexpr std::array<std::string_view, 2> kSideNames = {"old", "new"};

// The number of `0x...`, as names of places without one have it.
std::optional<std::uint64_t> offset_of(std::string_view text) {
  constexpr std::string_view kPrefix = "0x";
  constexpr int kBase = 16;
  if (!text.starts_with(kPrefix)) {
    return std::nullopt;
  }
  const std::string_view digits = text.substr(kPrefix.size());
  std::uint64_t offset = 0;
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), offset, kBase);
  const bool whole = failure == std::errc() && end == digits.data() + digits.size();
  // Only what is written so again: no capitals, no zeros in front.
  return whole && fmt::format("{:x}", offset) == digits ? std::optional(offset) : std::nullopt;
}

// A place without a name is written as what it is, and takes some two bytes instead of a text.
std::optional<std::uint64_t> unnamed_offset(const RowName& row) {
  std::string_view text = row.name;
  if (!row.module.empty()) {
    if (!text.starts_with(row.module) || !text.substr(row.module.size()).starts_with('+')) {
      return std::nullopt;
    }
    text.remove_prefix(row.module.size() + 1);
  }
  return row.place.empty() ? offset_of(text) : std::nullopt;
}

void add_functions(const RowTable& rows, PageContent& content) {
  core::StringTable modules;
  content.functions.reserve(rows.functions.size());
  for (const RowName& row : rows.functions) {
    exporting::PageFunction& function = content.functions.emplace_back();
    function.mode = row.mode;
    if (const auto offset = unnamed_offset(row)) {
      function.named = false;
      function.offset = *offset;
    } else {
      function.name = bytes::valid_utf8(row.name);
      if (!row.place.empty()) {
        function.name += " at " + bytes::valid_utf8(row.place);
      }
    }
    if (!row.module.empty()) {
      function.module = modules.intern(bytes::valid_utf8(row.module));
    }
  }
  for (std::uint32_t i = 0; i < modules.size(); ++i) {
    content.modules.emplace_back(modules.text(i));
  }
}

// The root is no function; its row says nothing.
void add_tree(JointCallstacks& joint, PageContent& content) {
  content.parents = std::move(joint.rows.outer);
  content.node_functions = std::move(joint.rows.leaf);
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

std::string key_of(const std::string& name, const std::string& module, const std::string& place) {
  return name + '\0' + module + '\0' + place;
}

exporting::PageFigure figure_of(const DiffFigure& figure) {
  const auto whole = [](double value) {
    return static_cast<std::uint64_t>(std::llround(std::max(value, 0.0)));
  };
  return {static_cast<std::uint8_t>(figure.verdict),
          whole(figure.old_value),
          whole(figure.new_value),
          figure.low,
          figure.high,
          figure.least_visible};
}

// Rows of other things than functions are in no table of the page.
void add_findings(const RowTable& table, std::span<const DiffRow> rows, PageContent& content) {
  core::StringTable keys;
  for (const RowName& row : table.functions) {
    keys.intern(key_of(row.name, row.module, row.place));
  }
  content.findings.emplace(content.functions.size());
  for (const DiffRow& row : rows) {
    const std::uint32_t function = keys.find(key_of(row.name, row.module, row.place));
    if (function != core::StringTable::kNone) {
      content.findings->set(function, figure_of(row.self), figure_of(row.total));
    }
  }
}

void add_idle(const JointCallstacks& joint, PageContent& content) {
  constexpr double kPercent = 100;
  if (joint.idle[0].samples + joint.idle[1].samples != 0) {
    content.facts.push_back(
        {"Idle", fmt::format("{:.1f} % of {} left out, {:.1f} % before; {} shows it",
                             joint.idle[1].share() * kPercent, joint.idle[1].whose(),
                             joint.idle[0].share() * kPercent, joint.idle[1].option())});
  }
}

// Names of the files of each side.
std::vector<std::vector<std::string>> files_of(std::span<const std::string> inputs,
                                               const Sides& sides) {
  std::vector<std::vector<std::string>> files;
  for (const std::span<const Reader* const> side : sides) {
    std::vector<std::string>& names = files.emplace_back();
    const std::size_t count = std::min(side.size(), inputs.size());
    for (const std::string& path : inputs.first(count)) {
      names.push_back(bytes::valid_utf8(path.substr(path.find_last_of("/\\") + 1)));
    }
    inputs = inputs.subspan(count);
  }
  return files;
}

// "old.spk against new.spk"; of several files of a side the first one.
std::string title_of(std::span<const std::vector<std::string>> files) {
  std::string title;
  for (const std::vector<std::string>& side : files) {
    title += title.empty() ? "" : " against ";
    title += side.empty() ? "nothing" : side.front();
    title += side.size() > 1 ? fmt::format(" and {} more", side.size() - 1) : "";
  }
  return title;
}

PageContent page_of(JointCallstacks joint, const Sides& sides, const DiffOptions& options,
                    const DifferencePage& page) {
  PageContent content;
  content.files = files_of(page.inputs, sides);
  content.title = title_of(content.files);
  content.measures.push_back({bytes::valid_utf8(joint.event), bytes::valid_utf8(joint.unit)});
  add_functions(joint.rows, content);
  add_findings(joint.rows, page.rows, content);
  joint.rows.functions = {};
  constexpr std::array<std::string_view, 2> kLabels = {"Before", "Now"};
  for (std::size_t side = 0; side < kLabels.size(); ++side) {
    // What weights add up to is no number of samples.
    const bool counts = joint.unit == "samples";
    for (exporting::PageLoss& loss :
         losses_of_side(sides[side], kLabels[side], counts ? joint.values.front()[side] : 0)) {
      content.losses.push_back(std::move(loss));
    }
    content.facts.push_back(
        {std::string(kLabels[side]), std::to_string(joint.samples[side]) + " samples, " +
                                         std::to_string(joint.runs[side]) +
                                         (joint.runs[side] == 1 ? " run" : " runs")});
  }
  add_tree(joint, content);
  add_idle(joint, content);
  content.facts.push_back({"Selection", options.filter.empty() && options.whole.empty()
                                            ? "everything"
                                            : "a part, by filters"});
  content.diff_json = page.about_json;
  return content;
}

Error of_output(Error error) {
  error.part = kOutputPart;
  return error;
}

}  // namespace

std::vector<exporting::PageLoss> losses_of_side(std::span<const Reader* const> runs,
                                                std::string_view label,
                                                std::uint64_t without_callstack) {
  capture::LossCounters counters;
  std::uint64_t ip_only = 0;
  for (const Reader* const run : runs) {
    for (const LossCounter& loss : run->statistics().losses) {
      counters.add(loss.name, loss.kind, loss.count);
    }
    ip_only += run->statistics().samples.ip_only;
  }
  std::vector<exporting::PageLoss> losses;
  const auto add = [&](std::string_view name, std::uint64_t count, std::string_view text,
                       bool remark = false) {
    if (count != 0) {
      losses.push_back({std::string(name), count, fmt::format("{}: {}", label, text), remark});
    }
  };
  for (const LossCounter& loss : counters.sorted()) {
    add(loss.name, loss.count, exporting::loss_text(loss), loss.kind == LossKind::kNotice);
  }
  add("samples_without_callstack", without_callstack,
      "samples have no callstack; they are the root's own");
  add("samples_with_instruction_pointer_only", ip_only,
      "samples of the captures have an instruction pointer in place of a callstack");
  return losses;
}

Result<std::uint64_t> write_difference_page(std::span<const Reader* const> before,
                                            std::span<const Reader* const> after,
                                            const DiffOptions& options,
                                            const DifferencePage& page) {
  const io::FilesRead files_read;
  return core::guarded([&]() -> Result<std::uint64_t> {
    io::OutputRules rules;
    rules.force = page.force;
    if (const Status added = io::add_inputs(rules, page.inputs); !added) {
      return added.error();
    }
    if (const Status allowed = io::check_output(page.output, rules); !allowed) {
      return of_output(allowed.error());
    }
    auto joint = joint_callstacks(before, after, options);
    if (!joint) {
      return joint.error();
    }
    const PageContent content = page_of(std::move(*joint), {before, after}, options, page);
    auto file = io::OutputFile::create(page.output, rules);
    if (!file) {
      return of_output(file.error());
    }
    exporting::ExportOutput out(**file, exporting::ExportOutput::Coding::kPlain);
    Status status = exporting::write_page(content, out);
    status = status ? out.finish() : status;
    status = status ? (*file)->commit() : status;
    return status ? Result<std::uint64_t>((*file)->offset()) : of_output(status.error());
  });
}

}  // namespace stackpack::app
