#include "formats/folded/folded_source.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "bytes/byte_text.h"
#include "capture/line_reader.h"
#include "capture/synthetic_frames.h"
#include "capture/weighted_events.h"
#include "core/weight_scale.h"
#include "formats/folded/folded_losses.h"

namespace stackpack::folded {

using capture::SkipReason;

namespace {

constexpr char kSeparator = ';';
constexpr std::string_view kEvent = "samples";
constexpr std::string_view kEventBefore = "samples.before";  // of the first of two counts
constexpr std::string_view kBlanks = " \t";
constexpr std::uint32_t kMostFrames = 65'535;  // of a callstack that can be stored

struct Line {
  std::string_view frames;
  core::DecimalWeight count;
  std::optional<core::DecimalWeight> before;  // of two counts the first
};

// `frames COUNT`, COUNT after the last blank.
std::optional<Line> parse_line(std::string_view text) {
  const std::size_t space = text.find_last_of(kBlanks);
  if (space == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<core::DecimalWeight> count = core::parse_decimal(text.substr(space + 1));
  return count ? std::optional(Line{text.substr(0, space), *count, {}}) : std::nullopt;
}

// `frames BEFORE AFTER`, as difffolded.pl writes it.
std::optional<Line> parse_two_counts(std::string_view text) {
  const std::optional<Line> after = parse_line(text);
  std::optional<Line> line = after ? parse_line(after->frames) : std::nullopt;
  if (line) {
    line->before = line->count;
    line->count = after->count;
  }
  return line;
}

// Names of frames may begin with a '#'; comments have a blank after it.
bool is_comment(std::string_view line) {
  return line == "#" || line.starts_with("# ");
}

std::string_view without_carriage_return(std::string_view text) {
  return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
}

// Whether a line that ends with a number is one of this format: not a table of numbers, nor columns
// that are aligned by blanks.
bool is_plausible(const Line& line) {
  constexpr std::string_view kNumeric = "0123456789+-*.,:x \t";
  return line.frames.find_first_not_of(kNumeric) != std::string_view::npos &&
         kBlanks.find(line.frames.back()) == std::string_view::npos;
}

struct LineCounts {
  std::size_t good = 0;        // with a count
  std::size_t two_counts = 0;  // of those
  std::size_t bad = 0;

  [[nodiscard]] bool all_have_two() const { return good != 0 && two_counts == good; }
};

// Counts the lines at the beginning of a text; a last line that is cut only if it is the first.
LineCounts count_lines(std::string_view text, bool whole) {
  LineCounts counts;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool is_cut = end == std::string_view::npos && !whole;
    const std::string_view line = without_carriage_return(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || is_comment(line) || (is_cut && counts.good + counts.bad != 0)) {
      continue;
    }
    const std::optional<Line> parsed = parse_line(line);
    const bool is_good =
        parsed ? is_plausible(*parsed) : is_cut && line.find(kSeparator) != std::string_view::npos;
    ++(is_good ? counts.good : counts.bad);
    counts.two_counts += parse_two_counts(line) ? std::size_t{1} : std::size_t{0};
  }
  return counts;
}

class FoldedReader {
 public:
  FoldedReader(io::ByteSource& source, capture::CallstackSink& sink, const ReadOptions& options)
      : reader_(source, options.max_line_bytes),
        sink_(sink),
        options_(options),
        names_(sink.system()),
        events_(sink) {}

  Result<capture::ByteAccount> run() {
    sink_.system().metadata("samples.aggregated", "1");
    if (const Status status = look_ahead(); !status) {
      return status.error();
    }
    events_.row_of(kEvent, true);
    while (true) {
      if (options_.control.stop_requested()) {
        return Error{ErrorCode::kCancelled, reader_.offset(), "folded: cancelled"};
      }
      const Result<bool> more = read_line();
      if (!more) {
        return more.error();
      }
      if (!*more) {
        break;
      }
      options_.control.advance_to(reader_.offset());
    }
    account_.total = reader_.offset();
    if (account_.parsed == 0) {
      return Error{ErrorCode::kCorrupt, 0, "folded: no line is a callstack with a count"};
    }
    return account_;
  }

 private:
  Status look_ahead() {
    const auto head = reader_.head(capture::kProbeBytes);
    if (!head) {
      return head.error();
    }
    has_two_counts_ = count_lines(bytes::text_of(*head), false).all_have_two();
    return {};
  }

  [[nodiscard]] std::optional<Line> parse(std::string_view text) const {
    return has_two_counts_ ? parse_two_counts(text) : parse_line(text);
  }

  Result<bool> read_line() {
    const Result<bool> more = reader_.next(line_);
    if (!more || !more.value()) {
      return more;
    }
    const std::string_view content = line_.text;
    const bool is_text = content.find('\0') == std::string_view::npos;
    if (line_.too_long) {
      skip(skip::kFoldedLineTooLong, line_.bytes, line_.begins);
    } else if (content.empty() || is_comment(content)) {
      account_.padding += line_.bytes;
    } else if (const auto line = is_text ? parse(content) : std::nullopt) {
      if (const Status status = take_line(*line, line_.bytes); !status) {
        return status.error();
      }
      if (!line_.ended) {  // digits of the count may be missing
        sink_.losses().add(loss::kLastLineUnended, LossKind::kDamage, 1, line_.offset);
      }
    } else {
      skip(is_text ? skip::kFoldedLineWithoutCount : skip::kFoldedBinaryLine, line_.bytes, true);
    }
    return true;
  }

  Status take_line(const Line& line, std::size_t size) {
    const auto separators = std::count(line.frames.begin(), line.frames.end(), kSeparator);
    if (separators >= std::ptrdiff_t{kMostFrames}) {
      skip(skip::kFoldedStackTooDeep, size, true);
      return {};
    }
    account_.parsed += size;
    return add(line);
  }

  void skip(SkipReason reason, std::size_t size, bool line_begins) {
    account_.skipped.add(reason, size);
    if (line_begins) {
      sink_.losses().add(name_of(reason), LossKind::kDamage, 1, line_.offset);
    }
  }

  Status add(const Line& line) {
    addresses_.clear();
    std::string_view rest = line.frames;
    while (true) {
      const std::size_t end = rest.find(kSeparator);
      capture::FunctionFact function;
      function.source = FunctionSource::kFolded;
      function.name = rest.substr(0, end);
      const auto address = names_.address_of(function);
      if (!address) {
        return Error{ErrorCode::kLimit, line_.offset, "folded: too many names"};
      }
      addresses_.push_back(*address);
      if (end == std::string_view::npos) {
        break;
      }
      rest.remove_prefix(end + 1);
    }
    std::reverse(addresses_.begin(), addresses_.end());
    const Status added = add_sample(kEvent, line.count);
    return added && line.before ? add_sample(kEventBefore, *line.before) : added;
  }

  Status add_sample(std::string_view event, const core::DecimalWeight& weight) {
    Sample sample;
    events_.weigh(sample, event, weight, line_.offset);
    sample.origin = StackOrigin::kRecorded;
    const capture::ModeRun run{FrameMode::kUnknown, static_cast<std::uint32_t>(addresses_.size())};
    return sink_.add_sample(sample, {addresses_, std::span(&run, 1)});
  }

  capture::LineReader reader_;
  capture::TextLine line_;
  capture::CallstackSink& sink_;
  ReadOptions options_;
  capture::SyntheticFrames names_;
  capture::WeightedEvents events_;
  capture::ByteAccount account_;
  bool has_two_counts_ = false;  // every line has
  std::vector<std::uint64_t> addresses_;
};

}  // namespace

capture::Probe probe(const capture::CaptureHead& head) {
  using capture::ProbeAnswer;
  const std::string_view text = bytes::text_of(head.bytes);
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
  if (!printable) {
    return {ProbeAnswer::kNo, "is not text"};
  }
  const LineCounts lines = count_lines(text, head.whole);
  if (lines.good == 0 ||
      lines.good < lines.bad) {  // other text may have lines that end in a number
    return {ProbeAnswer::kNo, "most lines are not a callstack with a count"};
  }
  return {ProbeAnswer::kPossible, "lines that end with a count",
          static_cast<std::uint8_t>(100 * lines.good / (lines.good + lines.bad))};
}

Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  return FoldedReader(source, sink, options).run();
}

constinit const capture::SourceFormat source_format = {
    .name = "folded",
    .probe = probe,
    .streams = capture::always_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::folded
