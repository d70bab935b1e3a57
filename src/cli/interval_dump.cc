#include "cli/interval_dump.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "app/listing/wait_filter.h"
#include "cli/frame_text.h"
#include "cli/json_text.h"

namespace stackpack::cli {

namespace {

constexpr std::size_t kTogether = 4096;

// Rows that are listed together: their callstacks are looked up by page.
class IntervalLister {
 public:
  IntervalLister(const Reader& reader, std::vector<std::string> reasons, bool as_json,
                 app::TextOutput& out)
      : reader_(reader), reasons_(std::move(reasons)), out_(out) {
    if (as_json) {
      lines_.emplace(out.text());
    } else {
      out.text() += "# tid\tfrom_ns\tto_ns\tstate\treason\tflags\tstack\twaker\twaker_stack\n";
    }
  }

  Status list(std::span<const WaitInterval> rows) {
    ids_.clear();
    for (const WaitInterval& row : rows) {
      for (const StackId id : {row.stack, row.waker_stack}) {
        if (id != kNoStack) {
          ids_.push_back(id);
        }
      }
    }
    texts_.assign(ids_.size(), {});
    const Status looked_up =
        reader_.callstacks(ids_, [this](std::size_t at, std::span<const Frame> frames) {
          append_frames(texts_[at], frames);
          return true;
        });
    if (!looked_up) {
      return looked_up;
    }
    std::size_t next = 0;
    for (const WaitInterval& row : rows) {
      const std::string stack = row.stack == kNoStack ? "-" : texts_[next++];
      const std::string waker_stack = row.waker_stack == kNoStack ? "-" : texts_[next++];
      write(row, stack, waker_stack);
      if (const Status written = out_.checkpoint(); !written) {
        return written;
      }
    }
    return {};
  }

  void end() {
    if (lines_) {
      lines_->end();
    }
  }

 private:
  void write(const WaitInterval& row, const std::string& stack, const std::string& waker_stack) {
    const std::string& reason = reasons_[row.reason];
    if (lines_) {
      JsonText json = lines_->element();
      json.begin_object();
      json.field("tid", row.tid);
      if (row.pid != kUnknownId) {
        json.field("pid", row.pid);
      }
      json.field("from_ns", row.from_ns);
      json.field("to_ns", row.to_ns);
      json.field("state", wait_state_name(row.state));
      json.field("reason", std::string_view(reason));
      json.field("flags", std::string_view(flag_letters(row.flags)));
      json.field("stack", std::string_view(stack));
      json.field("waker", std::string_view(waker_text(row)));
      json.field("waker_stack", std::string_view(waker_stack));
      json.end_object();
      return;
    }
    std::string& text = out_.text();
    text += std::to_string(row.tid);
    text += '\t';
    text += std::to_string(row.from_ns);
    text += '\t';
    text += std::to_string(row.to_ns);
    text += '\t';
    text += wait_state_name(row.state);
    text += '\t';
    text += reason.empty() ? "-" : reason;
    text += '\t';
    text += flag_letters(row.flags);
    text += '\t';
    text += stack;
    text += '\t';
    text += waker_text(row);
    text += '\t';
    text += waker_stack;
    text += '\n';
  }

  const Reader& reader_;
  std::vector<std::string> reasons_;
  app::TextOutput& out_;
  std::optional<JsonLines> lines_;
  std::vector<StackId> ids_;
  std::vector<std::string> texts_;
};

}  // namespace

std::string flag_letters(std::uint8_t flags) {
  std::string text;
  text += (flags & kWaitOpenStart) != 0 ? "s" : "";
  text += (flags & kWaitOpenEnd) != 0 ? "e" : "";
  text += (flags & kWaitCut) != 0 ? "l" : "";
  text += (flags & kWaitNoWaking) != 0 ? "n" : "";
  return text.empty() ? "-" : text;
}

std::string waker_text(const WaitInterval& row) {
  if (row.waker_kind == WakerKind::kNone) {
    return "-";
  }
  std::string text = (row.flags & kWaitHint) != 0 ? "~" : "";
  text += row.waker_kind == WakerKind::kInterrupt  ? "irq:"
          : row.waker_kind == WakerKind::kDeferred ? "dpc:"
                                                   : "";
  // A thread that exits has no id any more.
  return text + (row.waker == kUnknownId ? "-1" : std::to_string(row.waker));
}

Status dump_intervals(const Reader& reader, const DumpArguments& arguments, app::TextOutput& out) {
  app::WaitFilter filter;
  filter.from = arguments.filter.from;
  filter.to = arguments.filter.to;
  app::WaitRange range;
  if (reader.has_intervals() && (filter.from || filter.to)) {
    const Result<app::WaitRange> found = app::wait_range(reader, filter);
    if (!found) {
      return found.error();
    }
    range = *found;
  }
  const WaitQuery query{range.from_ns, range.to_ns, arguments.filter.pid, arguments.filter.tid};
  Result<std::vector<std::string>> reasons = reader.wait_reasons();
  if (!reasons) {
    return reasons.error();
  }
  IntervalLister lister(reader, std::move(*reasons), arguments.json, out);
  Status status;
  const Status read = reader.intervals(query, [&](std::span<const WaitInterval> rows) {
    for (std::size_t begin = 0; begin < rows.size() && status; begin += kTogether) {
      status = lister.list(rows.subspan(begin, std::min(kTogether, rows.size() - begin)));
    }
    return static_cast<bool>(status);
  });
  lister.end();
  return read ? status : read;
}

}  // namespace stackpack::cli
