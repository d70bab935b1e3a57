#include "formats/stacks/stack_dialects.h"

#include <cstddef>
#include <iterator>
#include <string>

#include "capture/text_head.h"
#include "formats/stacks/map_json.h"

namespace stackpack::stacks {

namespace {

constexpr StackDialect kDialects[] = {
    {"bpftrace", read_map_line},
    {"bpftrace's JSON", read_map_line, TreeOrder::kNone, false, true},
    {"sample", read_sample_line, TreeOrder::kTotal},
    {"pmcstat", read_pmc_line, TreeOrder::kTotalInverted},
    {"a table of a call tree", read_table_line, TreeOrder::kSelf},
    {"backtraces", read_backtrace_line, TreeOrder::kNone, true},
    {"DTrace, SystemTap or BCC", read_counted_line},
};

// What the lines of a text are in one dialect.
class DialectLines {
 public:
  explicit DialectLines(const StackDialect& dialect) : dialect_(dialect) {}

  void add(std::string_view text, bool is_cut) {
    if (dialect_.is_json) {
      add_message(text, is_cut);
    } else if (!is_cut) {
      add_line(text);
    }
  }

  // Percent of the lines; 0: it is none.
  [[nodiscard]] std::uint8_t share() const {
    const bool ends_whole = dialect_.counts_itself && state_.frames != 0;
    const bool is_possible = known_ != 0 && known_ >= unknown_ && (stacks_ != 0 || ends_whole);
    if (!is_possible) {
      return 0;
    }
    return static_cast<std::uint8_t>(100 * known_ / (known_ + unknown_));
  }

 private:
  void add_message(std::string_view text, bool is_cut) {
    if (is_cut && begins_as_map(text)) {
      ++stacks_;
      ++known_;
    } else if (!is_cut && print_message(text, printed_)) {
      capture::for_each_line(printed_, true,
                             [this](std::string_view line, bool /*is_cut*/) { add_line(line); });
    } else if (!is_cut) {
      unknown_ += text.empty() ? std::size_t{0} : std::size_t{1};
    }
  }

  void add_line(std::string_view text) {
    const StackLine line = dialect_.read(text, state_);
    const bool is_node = line.kind == LineKind::kNode;
    const bool is_whole =
        line.kind == LineKind::kEnd && line.weight && (state_.frames != 0 || line.is_first);
    stacks_ += is_node || is_whole ? std::size_t{1} : std::size_t{0};
    known_ +=
        is_node || is_whole || line.kind == LineKind::kFrame ? std::size_t{1} : std::size_t{0};
    const bool is_unknown = line.kind == LineKind::kUnknown || line.kind == LineKind::kOther ||
                            (line.kind == LineKind::kEnd && !is_whole && !is_tree());
    unknown_ += is_unknown && !text.empty() ? std::size_t{1} : std::size_t{0};
    follow(line, state_);
  }

  [[nodiscard]] bool is_tree() const { return dialect_.tree != TreeOrder::kNone; }

  const StackDialect& dialect_;
  LineState state_;
  std::string printed_;
  std::size_t stacks_ = 0;
  std::size_t known_ = 0;
  std::size_t unknown_ = 0;
};

}  // namespace

DialectAnswer dialect_of(const capture::CaptureHead& head) {
  const std::string_view text = capture::text_of_head(head);
  DialectAnswer best;
  for (const StackDialect& dialect : kDialects) {
    DialectLines lines(dialect);
    capture::for_each_line(text, head.whole, [&lines](std::string_view line, bool is_cut) {
      lines.add(line, is_cut);
    });
    if (lines.share() > best.share) {
      best = {&dialect, lines.share()};
    }
  }
  return best;
}

}  // namespace stackpack::stacks
