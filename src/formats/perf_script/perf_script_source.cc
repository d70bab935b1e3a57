#include "formats/perf_script/perf_script_source.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/byte_text.h"
#include "capture/line_reader.h"
#include "capture/synthetic_frames.h"
#include "core/string_table.h"
#include "formats/perf_script/perf_script_losses.h"
#include "formats/perf_script/script_line.h"

namespace stackpack::perf_script {

using capture::SkipReason;

namespace {

constexpr std::size_t kMostFrames = 65'535;  // of a callstack that can be stored
constexpr std::size_t kMostEvents = 4'096;
constexpr std::size_t kMostThreads = std::size_t{1} << 20;
constexpr std::uint64_t kFirstKernelAddress = std::uint64_t{1} << 63;
constexpr std::uint64_t kMostOffset = std::uint64_t{1}
                                      << 32;  // larger ones are addresses in memory
constexpr std::size_t kAddressColumns = 16;   // in which perf right-aligns an address

bool is_text(std::string_view line) {
  return line.find('\0') == std::string_view::npos;
}

std::string hex(std::uint64_t value) {
  char digits[16];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value, 16);
  return "0x" + std::string(digits, end.ptr);
}

// The callstack of one sample, leaf first, as it is read.
class ScriptStack {
 public:
  explicit ScriptStack(capture::CallstackSink& sink) : names_(sink.system()) {}

  void clear() {
    addresses_.clear();
    runs_.clear();
    inlined_.clear();
    lines_ = 0;
  }

  /// Lines so far; beyond kMostFrames they are counted and not kept.
  [[nodiscard]] std::size_t lines() const { return lines_; }

  /// False: there are too many names.
  bool add(const ScriptFrame& frame) {
    if (++lines_ > kMostFrames) {
      return true;
    }
    if (frame.inlined) {
      inlined_.emplace_back(frame.name);
      return true;
    }
    if (frame.name.empty() && frame.file.empty() && inlined_.empty()) {
      put(frame.address,
          frame.address >= kFirstKernelAddress ? FrameMode::kKernel : FrameMode::kUser);
      return true;
    }
    capture::FunctionFact fact;
    const std::string unnamed = frame.name.empty() ? text_of(frame) : std::string();
    fact.name = frame.name.empty() ? std::string_view(unnamed) : frame.name;
    facts_.clear();
    for (auto call = inlined_.rbegin(); call != inlined_.rend(); ++call) {
      facts_.push_back({*call, {}, {}, 0});
    }
    fact.code.inlined = facts_;
    const bool added = put(names_.address_of(fact, {frame.file}));
    inlined_.clear();
    return added;
  }

  /// After the last frame. False: there are too many names.
  bool finish() {
    bool added = true;
    for (const std::string& name : inlined_) {  // into nothing that is there
      capture::FunctionFact fact;
      fact.name = name;
      added = put(names_.address_of(fact)) && added;
    }
    inlined_.clear();
    return added;
  }

  [[nodiscard]] capture::StackView view() const { return {addresses_, runs_}; }

 private:
  static std::string text_of(const ScriptFrame& frame) {
    const std::string address = hex(frame.address);
    const std::string_view file = frame.file.substr(frame.file.rfind('/') + 1);
    return file.empty() || frame.address >= kMostOffset ? address
                                                        : std::string(file) + "+" + address;
  }

  bool put(std::optional<std::uint64_t> name) {
    if (name) {
      put(*name, FrameMode::kUnknown);
    }
    return name.has_value();
  }

  void put(std::uint64_t address, FrameMode mode) {
    addresses_.push_back(address);
    if (runs_.empty() || runs_.back().mode != mode) {
      runs_.push_back({mode, 0});
    }
    ++runs_.back().count;
  }

  capture::SyntheticFrames names_;
  std::vector<std::uint64_t> addresses_;
  std::vector<capture::ModeRun> runs_;
  std::vector<std::string> inlined_;  // innermost first, into the frame to come
  std::vector<capture::InlinedFact> facts_;
  std::size_t lines_ = 0;
};

class ScriptReader {
 public:
  ScriptReader(io::ByteSource& source, capture::CallstackSink& sink, const ReadOptions& options)
      : reader_(source, options.max_line_bytes), sink_(sink), options_(options), stack_(sink) {}

  Result<capture::ByteAccount> run() {
    capture::TextLine line;
    while (true) {
      if (options_.control.stop_requested()) {
        return Error{ErrorCode::kCancelled, reader_.offset(), "perf script: cancelled"};
      }
      const Result<bool> more = reader_.next(line);
      if (!more) {
        return more.error();
      }
      if (!*more) {
        break;
      }
      if (const Status status = take(line); !status) {
        return status.error();
      }
      options_.control.advance_to(reader_.offset());
    }
    if (const Status status = end_sample(); !status) {
      return status.error();
    }
    account_.total = reader_.offset();
    if (!any_) {
      return Error{ErrorCode::kCorrupt, 0, "perf script: no line begins a sample"};
    }
    sink_.system().metadata("os.name", "Linux");
    return account_;
  }

 private:
  Status take(const capture::TextLine& line) {
    if (line.too_long || !is_text(line.text)) {
      skip(line.too_long ? skip::kLineTooLong : skip::kBinaryLine, LossKind::kDamage, line);
      return {};
    }
    const std::string_view text = trimmed(line.text);
    if (text.empty()) {
      account_.padding += line.bytes;
      return end_sample();
    }
    if (line.text.starts_with('#')) {
      account_.padding += line.bytes;
      return {};
    }
    const bool indented = line.text.starts_with('\t') || line.text.starts_with(' ');
    if (indented && in_sample_ && take_detail(text)) {
      account_.parsed += line.bytes;
      return failure_;
    }
    const auto head = parse_head(line.text);
    if (!head || head->other_record) {
      skip(head ? skip::kOtherRecord : skip::kUnknownLine,
           head ? LossKind::kNotice : LossKind::kDamage, line);
      return {};
    }
    const Status ended = end_sample();
    account_.parsed += line.bytes;
    return ended ? begin_sample(*head, line.offset) : ended;
  }

  // A line of the callstack, or its branches.
  bool take_detail(std::string_view text) {
    const std::uint64_t branches = count_branches(text);
    if (branches != 0 && before_branches(text).empty()) {
      sink_.losses().add(loss::kBranchesNotKept, LossKind::kNotice, branches);
      return true;
    }
    const auto frame = parse_frame(text);
    if (frame) {
      add_frame(*frame);
      sample_.origin = StackOrigin::kRecorded;
    }
    return frame.has_value();
  }

  void add_frame(const ScriptFrame& frame) {
    if (!stack_.add(frame)) {
      failure_ = Error{ErrorCode::kLimit, reader_.offset(), "perf script: too many names"};
    }
  }

  Status begin_sample(const SampleHead& head, std::uint64_t offset) {
    any_ = true;
    sample_ = Sample{};
    sample_.time_ns = head.time_ns;
    sample_.tid = head.tid;
    sample_.pid = head.pid;
    if (head.pid == kUnknownId && head.tid != kUnknownId) {
      sample_.pid = head.tid;
      sink_.losses().add(loss::kProcessNotTold, LossKind::kNotice, 1);
    }
    sample_.cpu = head.cpu;
    sample_.weight = head.period;
    sample_.flags = sample_.pid == 0 && sample_.tid == 0 ? kSampleIdle : 0;
    offset_ = offset;
    stack_.clear();
    name_thread(head.comm);
    in_sample_ = true;
    keeps_ = take_event(head);
    take_rest(head.rest);
    return failure_;
  }

  bool take_event(const SampleHead& head) {
    event_key_.assign(head.event);
    event_key_ += head.has_period ? '+' : '-';
    std::uint32_t number = event_keys_.find(event_key_);
    if (number == core::StringTable::kNone && event_keys_.size() >= kMostEvents) {
      sink_.losses().add(loss::kTooManyEvents, LossKind::kDamage, 1, offset_);
      return false;
    }
    if (number == core::StringTable::kNone) {
      number = event_keys_.intern(event_key_);
      events_.push_back(sink_.add_event({std::string(head.event), head.has_period}));
    }
    sample_.event = events_[number];
    return true;
  }

  // After the event: the address of a sample without a callstack, branches, or the text of a
  // tracepoint. An address has its column, as words of such a text have not.
  void take_rest(std::string_view rest) {
    if (const std::uint64_t branches = count_branches(rest); branches != 0) {
      sink_.losses().add(loss::kBranchesNotKept, LossKind::kNotice, branches);
    }
    const std::size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
    const std::size_t end = std::min(rest.find(' ', begin), rest.size());
    const std::string_view text = before_branches(rest);
    const auto frame = end > kAddressColumns ? parse_frame(text) : std::nullopt;
    if (frame) {
      add_frame(*frame);
      sample_.origin = StackOrigin::kIpOnly;
    } else if (!text.empty()) {
      sink_.losses().add(loss::kTraceTextNotKept, LossKind::kNotice, 1, offset_);
    }
  }

  Status end_sample() {
    if (!in_sample_ || !failure_) {
      return failure_;
    }
    in_sample_ = false;
    if (stack_.lines() > kMostFrames) {
      sink_.losses().add(loss::kTooDeep, LossKind::kDamage, 1, offset_);
      return {};
    }
    if (!stack_.finish()) {
      return Error{ErrorCode::kLimit, offset_, "perf script: too many names"};
    }
    return keeps_ ? sink_.add_sample(sample_, stack_.view()) : Status{};
  }

  // A thread has a name until a sample says another one.
  void name_thread(std::string_view comm) {
    const std::pair key{sample_.pid, sample_.tid};
    if (sample_.tid == kUnknownId || sample_.pid == kUnknownId) {
      return;
    }
    const auto known = threads_.find(key);
    if (known == threads_.end() && threads_.size() >= kMostThreads) {
      return;
    }
    const bool fresh = known == threads_.end();
    if (!fresh && known->second == comm) {
      return;
    }
    threads_.insert_or_assign(key, std::string(comm));
    const std::uint64_t time = fresh ? kUnknownTime : sample_.time_ns;
    sink_.system().thread_named(sample_.pid, sample_.tid, time, comm);
    if (sample_.pid == sample_.tid) {
      sink_.system().process_named(sample_.pid, time, comm, !fresh);
    }
  }

  void skip(SkipReason reason, LossKind kind, const capture::TextLine& line) {
    account_.skipped.add(reason, line.bytes);
    if (line.begins) {
      sink_.losses().add(name_of(reason), kind, 1, line.offset);
    }
  }

  capture::LineReader reader_;
  capture::CallstackSink& sink_;
  ReadOptions options_;
  capture::ByteAccount account_;
  ScriptStack stack_;
  Status failure_;
  Sample sample_;
  std::uint64_t offset_ = 0;  // of the sample
  bool in_sample_ = false;
  bool keeps_ = false;
  bool any_ = false;
  std::string event_key_;
  core::StringTable event_keys_;
  std::vector<std::uint32_t> events_;  // by key
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> threads_;
};

}  // namespace

capture::Probe probe(const capture::CaptureHead& head) {
  using capture::ProbeAnswer;
  std::string_view text = bytes::text_of(head.bytes);
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    if (!is_text(line)) {
      return {ProbeAnswer::kNo, "is not text"};
    }
    if (!trimmed(line).empty() && !line.starts_with('#') && line != "\r") {
      return parse_head(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line)
                 ? capture::Probe{ProbeAnswer::kCertain, "the first line of a sample"}
                 : capture::Probe{ProbeAnswer::kNo,
                                  "the first line is not that of a sample of perf script"};
    }
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  }
  return {ProbeAnswer::kNo, "has no line of a sample"};
}

Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  return ScriptReader(source, sink, options).run();
}

constinit const capture::SourceFormat source_format = {
    .name = "perf-script",
    .probe = probe,
    .streams = capture::always_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::perf_script
