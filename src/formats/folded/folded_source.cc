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
constexpr std::uint32_t kMostFrames = 65'535;  // of a callstack that can be stored

struct Line {
  std::string_view frames;
  core::DecimalWeight count;
};

// `frames COUNT`, COUNT after the last space.
std::optional<Line> parse_line(std::string_view text) {
  const std::size_t space = text.rfind(' ');
  if (space == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<core::DecimalWeight> count = core::parse_decimal(text.substr(space + 1));
  return count ? std::optional(Line{text.substr(0, space), *count}) : std::nullopt;
}

std::string_view without_carriage_return(std::string_view text) {
  return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
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
  Result<bool> read_line() {
    const Result<bool> more = reader_.next(line_);
    if (!more || !more.value()) {
      return more;
    }
    const std::string_view content = line_.text;
    const bool is_text = content.find('\0') == std::string_view::npos;
    if (line_.too_long) {
      skip(skip::kFoldedLineTooLong, line_.bytes, line_.begins);
    } else if (content.empty()) {
      account_.padding += line_.bytes;
    } else if (const auto line = is_text ? parse_line(content) : std::nullopt) {
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
    Sample sample;
    events_.weigh(sample, kEvent, line.count, line_.offset);
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
  std::vector<std::uint64_t> addresses_;
};

}  // namespace

capture::Probe probe(const capture::CaptureHead& head) {
  using capture::ProbeAnswer;
  std::string_view text = bytes::text_of(head.bytes);
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
  if (!printable) {
    return {ProbeAnswer::kNo, "is not text"};
  }
  std::size_t good = 0;
  std::size_t bad = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool is_cut = end == std::string_view::npos && !head.whole;
    const std::string_view line = without_carriage_return(text.substr(0, end));
    const bool parsed = parse_line(line).has_value();
    const bool may_parse = is_cut && line.find(kSeparator) != std::string_view::npos;
    const bool says_nothing = line.empty() || line.starts_with('#') || (is_cut && good + bad != 0);
    good += parsed || (may_parse && !says_nothing) ? 1 : 0;
    bad += parsed || may_parse || says_nothing ? 0 : 1;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (good == 0 || good < bad) {  // other text may have lines that end in a number
    return {ProbeAnswer::kNo, "most lines are not a callstack with a count"};
  }
  return {ProbeAnswer::kPossible, "lines that end with a count",
          static_cast<std::uint8_t>(100 * good / (good + bad))};
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
