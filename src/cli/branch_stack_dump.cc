#include "cli/branch_stack_dump.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/listing/branch_listing.h"
#include "cli/json_text.h"
#include "stackpack/branches.h"
#include "stackpack/sample_fields.h"

namespace stackpack::cli {

namespace {

// StackedBranch::flags in parts.
struct Flags {
  explicit Flags(std::uint64_t flags)
      : mispredicted((flags & 1U) != 0),
        predicted((flags & 2U) != 0),
        in_transaction((flags & 4U) != 0),
        abort((flags & 8U) != 0),
        cycles(flags >> 4U & 0xFFFFU),
        speculation(flags >> 24U & 3U) {
    constexpr auto kExtended = static_cast<std::uint64_t>(BranchType::kExtended);
    std::uint64_t kind = flags >> 20U & 0xFU;
    kind += kind == kExtended ? 16 * (flags >> 26U & 0xFU) : 0;
    type = static_cast<BranchType>(kind);
  }

  bool mispredicted;
  bool predicted;
  bool in_transaction;
  bool abort;
  std::uint64_t cycles;
  std::uint64_t speculation;
  BranchType type = BranchType::kUnknown;
};

constexpr std::array<std::string_view, 4> kSpeculations{"-", "WRONG_PATH", "NON_SPEC_CORRECT_PATH",
                                                        "CORRECT_PATH"};

// As the perf tool writes a branch, with its type and speculation where one is recorded.
void append_branch(std::string& text, const StackedBranch& branch) {
  const Flags flags(branch.flags);
  text += fmt::format("0x{:x}/0x{:x}/{}/{}/{}/{}", branch.from, branch.to,
                      flags.mispredicted ? 'M'
                      : flags.predicted  ? 'P'
                                         : '-',
                      flags.in_transaction ? 'X' : '-', flags.abort ? 'A' : '-', flags.cycles);
  if (flags.type != BranchType::kUnknown || flags.speculation != 0) {
    text += fmt::format("/{}/{}", app::branch_type_name(flags.type),
                        kSpeculations[static_cast<std::size_t>(flags.speculation)]);
  }
}

void append_stack_line(std::string& text, std::uint64_t sample, std::uint64_t stack,
                       std::span<const StackedBranch> branches) {
  text += fmt::format("{}\t{}", sample, stack);
  char before = '\t';
  for (const StackedBranch& branch : branches) {
    text += before;
    append_branch(text, branch);
    before = ' ';
  }
  text += '\n';
}

void append_stack_object(JsonText json, std::uint64_t sample, std::uint64_t stack,
                         std::span<const StackedBranch> branches) {
  json.begin_object();
  json.field("sample", sample);
  json.field("stack", stack);
  json.key("branches");
  json.begin_array();
  for (const StackedBranch& branch : branches) {
    const Flags flags(branch.flags);
    json.begin_object();
    json.field("from", branch.from);
    json.field("to", branch.to);
    json.field("mispredicted", flags.mispredicted);
    json.field("predicted", flags.predicted);
    json.field("in_transaction", flags.in_transaction);
    json.field("abort", flags.abort);
    json.field("cycles", flags.cycles);
    json.field("type", app::branch_type_name(flags.type));
    json.field("speculation", kSpeculations[static_cast<std::size_t>(flags.speculation)]);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

Status dump_branch_stacks(const Reader& reader, bool as_json, app::TextOutput& out) {
  std::optional<JsonLines> lines;
  if (as_json) {
    lines.emplace(out.text());
  } else {
    out.text() += "#sample\tstack\tbranches\n";
  }
  Status printed;
  std::vector<StackedBranch> branches;
  const Status read = reader.sample_fields([&](std::span<const FieldRow> rows) {
    for (const FieldRow& row : rows) {
      if (!row.has(SampleField::kBranchStack)) {
        continue;
      }
      const std::uint64_t stack = row.value(SampleField::kBranchStack);
      if (printed = reader.branch_stack(row, branches); !printed) {
        return false;
      }
      if (lines) {
        append_stack_object(lines->element(), row.sample, stack, branches);
      } else {
        append_stack_line(out.text(), row.sample, stack, branches);
      }
      if (printed = out.checkpoint(); !printed) {
        return false;
      }
    }
    return true;
  });
  if (!read || !printed) {
    return read ? printed : read;
  }
  if (lines) {
    lines->end();
  }
  return {};
}

}  // namespace stackpack::cli
