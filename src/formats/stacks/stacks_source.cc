#include "formats/stacks/stacks_source.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "capture/json_outline.h"
#include "capture/line_reader.h"
#include "capture/text_head.h"
#include "formats/stacks/map_json.h"
#include "formats/stacks/stack_dialects.h"
#include "formats/stacks/stack_writer.h"
#include "formats/stacks/stacks_losses.h"
#include "formats/stacks/text_tree.h"

namespace stackpack::stacks {

using capture::SkipReason;

namespace {

class StacksReader {
 public:
  StacksReader(io::ByteSource& source, capture::CallstackSink& sink, const ReadOptions& options)
      : reader_(source, options.max_line_bytes), sink_(sink), options_(options), writer_(sink) {}

  Result<capture::ByteAccount> run() {
    const auto head = reader_.head(capture::kProbeBytes);
    if (!head) {
      return head.error();
    }
    const bool whole = head->size() < capture::kProbeBytes;
    const StackDialect* const dialect =
        dialect_of({head->first(std::min(head->size(), capture::kProbeBytes)), whole}).dialect;
    if (dialect == nullptr) {
      return kNoStack;
    }
    sink_.system().metadata("samples.aggregated", "1");
    return read_lines(*dialect);
  }

 private:
  Result<capture::ByteAccount> read_lines(const StackDialect& dialect) {
    TextTree tree(writer_, dialect.tree);
    capture::TextLine line;
    while (true) {
      if (options_.control.stop_requested()) {
        return Error{ErrorCode::kCancelled, reader_.offset(), "stacks: cancelled"};
      }
      const Result<bool> more = reader_.next(line);
      if (!more) {
        return more.error();
      }
      if (!*more) {
        break;
      }
      if (const Status status = take(dialect, line, tree); !status) {
        return status.error();
      }
      options_.control.advance_to(reader_.offset());
    }
    account_.total = reader_.offset();
    const Status ended = end_stack(dialect.counts_itself ? std::optional(kOne) : std::nullopt);
    if (const Status finished = ended ? tree.finish() : ended; !finished) {
      return finished.error();
    }
    if (writer_.is_empty()) {
      return kNoStack;
    }
    return account_;
  }

  Status take(const StackDialect& dialect, const capture::TextLine& text, TextTree& tree) {
    if (text.too_long || text.text.find('\0') != std::string_view::npos) {
      skip(text.too_long ? skip::kLineTooLong : skip::kBinaryLine, LossKind::kDamage, text);
      return {};
    }
    return dialect.is_json ? take_message(dialect, text, tree)
                           : take_line(dialect, text.text, text, tree);
  }

  Status take_message(const StackDialect& dialect, const capture::TextLine& text, TextTree& tree) {
    if (text.text.empty() || !print_message(text.text, printed_)) {
      account_for(text.text.empty() ? LineKind::kHeader : LineKind::kUnknown, text);
      return {};
    }
    account_for(printed_.empty() ? LineKind::kOther : LineKind::kFrame, text);
    Status taken;
    capture::for_each_line(printed_, true, [&](std::string_view line, bool /*is_cut*/) {
      taken = taken ? take_line(dialect, line, text, tree) : taken;
    });
    return taken;
  }

  Status take_line(const StackDialect& dialect, std::string_view words,
                   const capture::TextLine& text, TextTree& tree) {
    const StackLine line = dialect.read(words, state_);
    if (!dialect.is_json) {
      account_for(line.kind, text);
    } else if (line.kind == LineKind::kOther) {  // an entry without a callstack
      sink_.losses().add(name_of(skip::kOtherLine), LossKind::kNotice, 1, text.offset);
    }
    if (line.kind == LineKind::kBegin || line.is_first) {
      const Status ended = end_stack(dialect.counts_itself ? std::optional(kOne) : std::nullopt);
      if (!ended) {
        return ended;
      }
      begin_ = text.offset;
    }
    take_owner(line);
    Status taken;
    if (line.kind == LineKind::kNode) {
      taken = tree.add(line, text.offset);
    } else if (line.kind == LineKind::kFrame) {
      taken = add_frame(line.frame, text.offset);
    } else if (line.kind == LineKind::kEnd) {
      taken =
          dialect.tree == TreeOrder::kNone ? end_stack(line.weight, line.is_first) : tree.finish();
    }
    follow(line, state_);
    return taken;
  }

  void account_for(LineKind kind, const capture::TextLine& text) {
    if (kind == LineKind::kUnknown || kind == LineKind::kOther) {
      const bool is_other = kind == LineKind::kOther;
      skip(is_other ? skip::kOtherLine : skip::kUnknownLine,
           is_other ? LossKind::kNotice : LossKind::kDamage, text);
    } else {
      (kind == LineKind::kHeader ? account_.padding : account_.parsed) += text.bytes;
    }
  }

  void skip(SkipReason reason, LossKind kind, const capture::TextLine& line) {
    account_.skipped.add(reason, line.bytes);
    if (line.begins) {
      sink_.losses().add(name_of(reason), kind, 1, line.offset);
    }
  }

  void take_owner(const StackLine& line) {
    owner_.event = line.event.empty() ? owner_.event : std::string(line.event);
    owner_.pid = line.pid != kUnknownId ? line.pid : owner_.pid;
    owner_.tid = line.tid != kUnknownId ? line.tid : owner_.tid;
    owner_.comm = line.comm.empty() ? owner_.comm : std::string(line.comm);
    if (!line.root.empty()) {
      root_ += root_.empty() ? "" : ", ";
      root_ += line.root;
    }
  }

  Status add_frame(const TextFrame& frame, std::uint64_t offset) {
    begin_ = stack_.empty() ? offset : begin_;
    if (stack_.size() > kMostFrames) {
      return {};
    }
    const auto address = writer_.address_of(frame);
    if (!address) {
      return Error{ErrorCode::kLimit, offset, "stacks: too many names"};
    }
    stack_.push_back(*address);
    return {};
  }

  // The callstack so far; without a weight it is lost.
  Status end_stack(const std::optional<core::DecimalWeight>& weight, bool is_frameless = false) {
    Status added;
    const bool is_stack = is_frameless || !stack_.empty();
    if (!weight && is_stack) {
      writer_.lose(loss::kWithoutCount, begin_);
    } else if (weight && is_stack) {
      TextFrame root;
      root.name = root_;
      added = root_.empty() ? Status{} : add_frame(root, begin_);
      added = added ? writer_.add(stack_, owner_, *weight, begin_) : added;
    }
    stack_.clear();
    root_.clear();
    return added;
  }

  static constexpr core::DecimalWeight kOne{1, 0, false};
  static constexpr Error kNoStack{ErrorCode::kCorrupt, 0, "stacks: no callstack with a count"};

  capture::LineReader reader_;
  capture::CallstackSink& sink_;
  ReadOptions options_;
  StackWriter writer_;
  capture::ByteAccount account_;
  LineState state_;
  StackOwner owner_;
  std::string root_;
  std::string printed_;  // of a message
  std::vector<std::uint64_t> stack_;
  std::uint64_t begin_ = 0;  // of the callstack
};

}  // namespace

capture::Probe probe(const capture::CaptureHead& head) {
  const DialectAnswer answer = dialect_of(head);
  if (answer.dialect == nullptr) {
    return {capture::ProbeAnswer::kNo, "has no callstacks of several lines"};
  }
  if (!answer.dialect->is_json && capture::JsonOutline(head.bytes).is_json()) {
    return {capture::ProbeAnswer::kNo, "is JSON"};
  }
  return {capture::ProbeAnswer::kPossible, answer.dialect->writer, answer.share};
}

Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  return StacksReader(source, sink, options).run();
}

constinit const capture::SourceFormat source_format = {
    .name = "stacks",
    .probe = probe,
    .streams = capture::always_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::stacks
