#include "formats/folded/folded_source.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "bytes/byte_text.h"
#include "capture/json_outline.h"
#include "capture/line_reader.h"
#include "capture/synthetic_frames.h"
#include "capture/text_head.h"
#include "capture/weighted_events.h"
#include "core/no_callstack.h"
#include "core/weight_scale.h"
#include "formats/folded/folded_losses.h"

namespace stackpack::folded {

using capture::SkipReason;

namespace {

constexpr char kSeparator = ';';
constexpr std::string_view kEvent = "samples";
constexpr std::string_view kEventBefore = "samples.before";  // of the first of two counts
// Events of austin's modes full and memory, as austin-python calls them.
constexpr std::string_view kWall = "wall";
constexpr std::string_view kCpu = "cpu";
constexpr std::string_view kTaken = "memory_alloc";
constexpr std::string_view kGivenBack = "memory_dealloc";
constexpr std::string_view kMemoryMode = "# mode: memory";
constexpr std::string_view kBlanks = " \t";
constexpr std::uint32_t kMostFrames = 65'535;  // of a callstack that can be stored

// What austin counts: microseconds, and bytes of memory that was taken or given back.
struct AustinCounts {
  std::optional<core::DecimalWeight> time;
  bool is_idle = false;
  core::DecimalWeight memory;
  bool gives_back = false;
};

struct Line {
  std::string_view frames;
  core::DecimalWeight count;
  std::optional<core::DecimalWeight> before;  // of two counts the first
  std::optional<AustinCounts> austin;         // instead
};

bool take_memory(std::string_view text, AustinCounts& counts) {
  counts.gives_back = text.starts_with('-');
  const auto memory = core::parse_decimal(text.substr(counts.gives_back ? 1 : 0));
  counts.memory = memory.value_or(core::DecimalWeight{});
  return memory.has_value();
}

// `TIME,IDLE,MEMORY` of austin's full mode.
std::optional<AustinCounts> parse_full_counts(std::string_view text) {
  AustinCounts counts;
  const std::size_t first = text.find(',');
  const std::size_t second = first == std::string_view::npos ? first : text.find(',', first + 1);
  if (second != first + 2 || (text[first + 1] != '0' && text[first + 1] != '1')) {
    return std::nullopt;
  }
  counts.time = core::parse_decimal(text.substr(0, first));
  counts.is_idle = text[first + 1] == '1';
  return counts.time && take_memory(text.substr(second + 1), counts) ? std::optional(counts)
                                                                     : std::nullopt;
}

// The bytes of austin's memory mode.
std::optional<AustinCounts> parse_memory(std::string_view text) {
  AustinCounts counts;
  return take_memory(text, counts) ? std::optional(counts) : std::nullopt;
}

// `frames COUNT`, COUNT after the last blank.
std::optional<Line> parse_line(std::string_view text, bool counts_memory = false) {
  const std::size_t space = text.find_last_of(kBlanks);
  if (space == std::string_view::npos) {
    return std::nullopt;
  }
  Line line{text.substr(0, space), {}, {}, {}};
  const std::string_view last = text.substr(space + 1);
  const auto count = counts_memory ? std::nullopt : core::parse_decimal(last);
  line.count = count.value_or(core::DecimalWeight{});
  if (!count) {
    line.austin = counts_memory ? parse_memory(last) : parse_full_counts(last);
  }
  return count || line.austin ? std::optional(line) : std::nullopt;
}

// `frames -COUNT`, of the difference of two texts.
bool has_negative_count(std::string_view text) {
  const std::size_t space = text.find_last_of(kBlanks);
  return space != std::string_view::npos && text.substr(space + 1).starts_with('-') &&
         core::parse_decimal(text.substr(space + 2)).has_value();
}

// `frames BEFORE AFTER`, as difffolded.pl writes it.
std::optional<Line> parse_two_counts(std::string_view text) {
  const std::optional<Line> after = parse_line(text);
  std::optional<Line> line = after && !after->austin ? parse_line(after->frames) : std::nullopt;
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
  std::size_t austin = 0;      // likewise
  bool counts_memory = false;  // a comment says so
  std::size_t bad = 0;

  [[nodiscard]] bool all_have_two() const { return good != 0 && two_counts == good; }
};

// Counts the lines at the beginning of a text; a last line that is cut only if it is the first.
LineCounts count_lines(std::string_view text, bool whole) {
  LineCounts counts;
  capture::for_each_line(text, whole, [&counts](std::string_view line, bool is_cut) {
    counts.counts_memory |= line == kMemoryMode;
    if (line.empty() || is_comment(line) || (is_cut && counts.good + counts.bad != 0)) {
      return;
    }
    const std::optional<Line> parsed = parse_line(line, counts.counts_memory);
    if (!parsed && has_negative_count(line)) {
      return;  // neither for nor against
    }
    counts.austin += parsed && parsed->austin ? std::size_t{1} : std::size_t{0};
    const bool is_good =
        parsed ? is_plausible(*parsed) : is_cut && line.find(kSeparator) != std::string_view::npos;
    ++(is_good ? counts.good : counts.bad);
    counts.two_counts += parse_two_counts(line) ? std::size_t{1} : std::size_t{0};
  });
  return counts;
}

// The text that a capture begins with; empty when it is not most of what is there before zeros.
std::string_view text_of(const capture::CaptureHead& head) {
  const std::string_view all = bytes::text_of(head.bytes);
  const std::string_view text = capture::text_of_head(head);
  const std::size_t written = all.find_last_not_of('\0') + 1;
  const bool is_printable = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
  return is_printable && text.size() >= written / 2 ? text : std::string_view();
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
    if (other_lines_ > lines_) {
      return Error{ErrorCode::kCorrupt, 0, "folded: most lines are not a callstack with a count"};
    }
    return account_;
  }

 private:
  Status look_ahead() {
    const auto head = reader_.head(capture::kProbeBytes);
    if (!head) {
      return head.error();
    }
    const LineCounts lines = count_lines(bytes::text_of(*head), false);
    has_two_counts_ = lines.all_have_two();
    counts_memory_ = lines.counts_memory;
    if (lines.austin == 0) {
      events_.row_of(kEvent, true);
      return {};
    }
    for (const std::string_view event : {kWall, kCpu}) {
      sink_.system().metadata(std::string(core::kUnitKey).append(event), "microseconds");
    }
    for (const std::string_view event : {kTaken, kGivenBack}) {
      sink_.system().metadata(std::string(core::kUnitKey).append(event), "bytes");
    }
    return {};
  }

  [[nodiscard]] std::optional<Line> parse(std::string_view text) const {
    return has_two_counts_ ? parse_two_counts(text) : parse_line(text, counts_memory_);
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
    } else if (is_text && has_negative_count(content)) {
      skip(skip::kFoldedNegativeCount, line_.bytes, true);
    } else {
      other_lines_ += is_text ? std::uint64_t{1} : std::uint64_t{0};
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
    ++lines_;
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
    const bool has_frames = !line.frames.empty() && line.frames != core::kNoCallstack;
    for (std::string_view rest = line.frames; has_frames;) {
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
    if (line.austin) {
      return add_austin(*line.austin);
    }
    const Status added = add_sample(kEvent, line.count);
    return added && line.before ? add_sample(kEventBefore, *line.before) : added;
  }

  Status add_austin(const AustinCounts& counts) {
    Status added = counts.time ? add_sample(kWall, *counts.time) : Status{};
    if (added && counts.time && !counts.is_idle) {
      added = add_sample(kCpu, *counts.time);
    }
    if (added && (counts.memory.digits != 0 || !counts.time)) {
      added = add_sample(counts.gives_back ? kGivenBack : kTaken, counts.memory);
    }
    return added;
  }

  Status add_sample(std::string_view event, const core::DecimalWeight& weight) {
    Sample sample;
    events_.weigh(sample, event, weight, line_.offset);
    sample.origin = addresses_.empty() ? StackOrigin::kNone : StackOrigin::kRecorded;
    const capture::ModeRun run{FrameMode::kUnknown, static_cast<std::uint32_t>(addresses_.size())};
    return sink_.add_sample(sample, {addresses_, std::span(&run, addresses_.empty() ? 0 : 1)});
  }

  capture::LineReader reader_;
  capture::TextLine line_;
  capture::CallstackSink& sink_;
  ReadOptions options_;
  capture::SyntheticFrames names_;
  capture::WeightedEvents events_;
  capture::ByteAccount account_;
  bool has_two_counts_ = false;  // every line has
  bool counts_memory_ = false;   // austin's memory mode
  std::uint64_t lines_ = 0;
  std::uint64_t other_lines_ = 0;  // of text
  std::vector<std::uint64_t> addresses_;
};

}  // namespace

capture::Probe probe(const capture::CaptureHead& head) {
  using capture::ProbeAnswer;
  const std::string_view text = text_of(head);
  if (text.empty()) {
    return {ProbeAnswer::kNo, "is not text"};
  }
  if (capture::JsonOutline(head.bytes).is_json()) {  // lists of numbers have lines like these
    return {ProbeAnswer::kNo, "is JSON"};
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
