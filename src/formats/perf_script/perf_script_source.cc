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
#include "capture/text_head.h"
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
constexpr std::string_view kNamelessEvent = "samples";

bool is_text(std::string_view line) {
  return line.find('\0') == std::string_view::npos;
}

std::string hex(std::uint64_t value) {
  char digits[16];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value, 16);
  return "0x" + std::string(digits, end.ptr);
}

bool is_timed(const SampleHead& head) {
  return head.time_ns != kUnknownTime;
}

// The callstack of one sample, leaf first, as it is read.
class ScriptStack {
 public:
  explicit ScriptStack(capture::CallstackSink& sink) : names_(sink.system()) {}

  void clear() {
    addresses_.clear();
    runs_.clear();
    calls_.clear();
    lines_ = 0;
  }

  /// Lines so far; beyond kMostFrames they are counted and not kept.
  [[nodiscard]] std::size_t lines() const { return lines_; }

  /// False: there are too many names.
  bool add(const ScriptFrame& frame) {
    const bool added = put_complete();
    if (++lines_ <= kMostFrames) {
      calls_.push_back(
          {frame.address, std::string(frame.name), std::string(frame.file), frame.inlined, {}, 0});
    }
    return added;
  }

  /// Where the frame is that was added last.
  void place(const SourcePlace& place) {
    if (!calls_.empty() && lines_ <= kMostFrames) {
      calls_.back().source = place.file;
      calls_.back().line = place.line;
      calls_.back().inlined |= place.inlined;
    }
  }

  /// After the last frame. False: there are too many names.
  bool finish() {
    bool added = put_complete();
    for (const Call& call : calls_) {  // inlined into nothing that is there
      capture::FunctionFact fact;
      fact.name = call.name;
      fact.code = {call.source, call.line, {}};
      added = put(names_.address_of(fact)) && added;
    }
    calls_.clear();
    return added;
  }

  [[nodiscard]] capture::StackView view() const { return {addresses_, runs_}; }

 private:
  struct Call {
    std::uint64_t address = 0;
    std::string name;
    std::string file;
    bool inlined = false;
    std::string source;
    std::uint32_t line = 0;
  };

  static std::string text_of(const Call& call) {
    const std::string address = hex(call.address);
    const std::string_view file = std::string_view(call.file).substr(call.file.rfind('/') + 1);
    return file.empty() || call.address >= kMostOffset ? address
                                                       : std::string(file) + "+" + address;
  }

  // A function and what is inlined there: then `calls_` is empty.
  bool put_complete() {
    if (calls_.empty() || calls_.back().inlined) {
      return true;
    }
    const Call& function = calls_.back();
    bool added = true;
    if (function.name.empty() && function.file.empty() && calls_.size() == 1) {
      put(function.address,
          function.address >= kFirstKernelAddress ? FrameMode::kKernel : FrameMode::kUser);
    } else {
      added = put_named(function);
    }
    calls_.clear();
    return added;
  }

  bool put_named(const Call& function) {
    capture::FunctionFact fact;
    const std::string unnamed = function.name.empty() ? text_of(function) : std::string();
    fact.name = function.name.empty() ? unnamed : function.name;
    const Call& innermost = calls_.front();
    inlined_.clear();
    for (std::size_t i = calls_.size() - 1; i-- > 0;) {
      // perf 6.1 gives all calls of an address the line of the innermost one.
      const Call& caller = calls_[i + 1];
      const bool is_told = caller.line != innermost.line || caller.source != innermost.source;
      inlined_.push_back({calls_[i].name,
                          {},
                          is_told ? std::string_view(caller.source) : std::string_view(),
                          is_told ? caller.line : 0});
    }
    fact.code = {innermost.source, innermost.line, inlined_};
    return put(names_.address_of(fact, {function.file}));
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
  std::vector<Call> calls_;  // the frame added last, after those inlined into it
  std::vector<capture::InlinedFact> inlined_;
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
    give_up_bare();
    if (const Status status = end_sample(); !status) {
      return status.error();
    }
    account_.total = reader_.offset();
    if (!any_) {
      return Error{ErrorCode::kCorrupt, 0, "perf script: no line begins a sample"};
    }
    if (unknown_lines_ > lines_) {
      return Error{ErrorCode::kCorrupt, 0, "perf script: most lines belong to no sample"};
    }
    sink_.system().metadata("os.name", "Linux");
    return account_;
  }

 private:
  Status take(capture::TextLine& line) {
    if (line.too_long || !is_text(line.text)) {
      skip(line.too_long ? skip::kLineTooLong : skip::kBinaryLine, LossKind::kDamage, line);
      return {};
    }
    const std::string_view before = without_instruction(line.text);
    const bool metric = is_metric(line.text);
    if (before.size() != line.text.size() || metric) {
      sink_.losses().add(loss::kTraceTextNotKept, LossKind::kNotice, 1, line.offset);
    }
    if (metric) {
      parsed(line.bytes);
      return {};
    }
    line.text = before;
    const std::string_view text = trimmed(line.text);
    if (text.empty()) {
      give_up_bare();
      account_.padding += line.bytes;
      return end_sample();
    }
    if (line.text.starts_with('#')) {
      account_.padding += line.bytes;
      return {};
    }
    const bool indented = line.text.starts_with('\t') || line.text.starts_with(' ');
    auto head = parse_head(line.text);
    bool is_head = head && (is_timed(*head) || head->other_record);
    if (!is_head && !timed_.value_or(false)) {
      const auto aligned = parse_aligned_sample(line.text);
      is_head = aligned.has_value();
      head = aligned ? aligned : head;
    }
    if (indented && !is_head && is_detail(line.text)) {
      parsed(line.bytes);
      return failure_;
    }
    give_up_bare();
    if (!head && !timed_.value_or(false)) {
      head = parse_flat_sample(line.text);
    }
    if (head && !head->other_record && fits_others(*head)) {
      const Status ended = end_sample();
      parsed(line.bytes);
      return ended ? begin_sample(*head, line.offset) : ended;
    }
    if (head && head->other_record) {
      skip(skip::kOtherRecord, LossKind::kNotice, line);
    } else if (!head && !timed_.value_or(false) && !in_sample_) {
      bare_ = line.text;
      bare_line_ = line;
    } else {
      skip(skip::kUnknownLine, LossKind::kDamage, line);
    }
    return {};
  }

  // A line of a sample; its first one may say as little as a name, or be left out.
  bool is_detail(std::string_view line) {
    const std::string_view text = trimmed(line);
    // Addresses that are no callstack are not indented by a tab.
    const bool is_flat = is_headless_ && !line.starts_with('\t');
    if (in_sample_ && !is_flat) {
      return take_detail(text);
    }
    if (timed_.value_or(false) || !parse_frame(text) || begins_with_number(line)) {
      return false;
    }
    failure_ = end_sample();
    parsed(bare_ ? bare_line_.bytes : 0);
    is_headless_ = !bare_;
    const std::string head = bare_.value_or("");
    bare_.reset();
    if (failure_) {
      failure_ = begin_sample(parse_bare_head(head), reader_.offset());
    }
    const bool is_taken = take_detail(text);
    if (is_headless_ && !line.starts_with('\t')) {
      sample_.origin = StackOrigin::kIpOnly;
    }
    return is_taken;
  }

  // All heads have a time, or none, and likewise an event: others are cut, or something else.
  [[nodiscard]] bool fits_others(const SampleHead& head) const {
    return is_timed(head) == timed_.value_or(is_timed(head)) &&
           (!head.event.empty() || names_events_ != true);
  }

  // No callstack followed the line.
  void give_up_bare() {
    if (bare_) {
      skip(skip::kUnknownLine, LossKind::kDamage, bare_line_);
      bare_.reset();
    }
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
      drop_address();
      add_frame(*frame);
      sample_.origin = StackOrigin::kRecorded;
    } else if (const auto place = parse_source_place(text)) {
      stack_.place(*place);
      return true;
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
    if (!timed_ && !is_timed(head)) {
      sink_.system().metadata("samples.aggregated", "1");
    }
    timed_ = is_timed(head);
    names_events_ = names_events_.value_or(!head.event.empty());
    sample_ = Sample{};
    sample_.time_ns = is_timed(head) ? head.time_ns : 0;
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
    take_rest(head);
    return failure_;
  }

  bool take_event(const SampleHead& head) {
    const std::string_view event = head.event.empty() ? kNamelessEvent : head.event;
    event_key_.assign(event);
    event_key_ += head.has_period ? '+' : '-';
    std::uint32_t number = event_keys_.find(event_key_);
    if (number == core::StringTable::kNone && event_keys_.size() >= kMostEvents) {
      sink_.losses().add(loss::kTooManyEvents, LossKind::kDamage, 1, offset_);
      return false;
    }
    if (number == core::StringTable::kNone) {
      number = event_keys_.intern(event_key_);
      events_.push_back(sink_.add_event({std::string(event), head.has_period}));
    }
    sample_.event = events_[number];
    return true;
  }

  // After the event: the address of a sample without a callstack, branches, or the text of a
  // tracepoint. An address has its column, as words of such a text have not.
  void take_rest(const SampleHead& head) {
    if (const std::uint64_t branches = count_branches(head.rest); branches != 0) {
      sink_.losses().add(loss::kBranchesNotKept, LossKind::kNotice, branches);
    }
    const std::string_view rest = head.rest;
    const std::size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
    const std::size_t end = std::min(rest.find(' ', begin), rest.size());
    const std::string_view text = before_branches(rest);
    std::optional<ScriptFrame> frame = parse_traced_branch(rest);
    if (frame) {
      sink_.losses().add(loss::kTracedBranches, LossKind::kNotice, 1);
    } else if (end > kAddressColumns || head.event.empty()) {
      frame = parse_frame(last_location(text));
    }
    if (frame) {
      add_frame(*frame);
      sample_.origin = StackOrigin::kIpOnly;
    } else if (!text.empty()) {
      sink_.losses().add(loss::kTraceTextNotKept, LossKind::kNotice, 1, offset_);
    }
  }

  // Before a callstack the address in the first line is one of data.
  void drop_address() {
    if (sample_.origin == StackOrigin::kIpOnly) {
      stack_.clear();
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
    if (sample_.tid == kUnknownId || sample_.pid == kUnknownId || comm.empty()) {
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
    const std::uint64_t time = fresh || !*timed_ ? kUnknownTime : sample_.time_ns;
    sink_.system().thread_named(sample_.pid, sample_.tid, time, comm);
    if (sample_.pid == sample_.tid) {
      sink_.system().process_named(sample_.pid, time, comm, !fresh);
    }
  }

  void parsed(std::size_t bytes) {
    account_.parsed += bytes;
    ++lines_;
  }

  void skip(SkipReason reason, LossKind kind, const capture::TextLine& line) {
    unknown_lines_ += reason == skip::kUnknownLine ? std::uint64_t{1} : std::uint64_t{0};
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
  std::uint64_t lines_ = 0;  // of samples
  std::uint64_t unknown_lines_ = 0;
  std::optional<bool> timed_;         // whether samples have times, once there is one
  std::optional<bool> names_events_;  // the first one does
  bool is_headless_ = false;          // the sample has no first line
  std::optional<std::string> bare_;   // a line that is a head if a callstack follows
  capture::TextLine bare_line_;       // its place; its text is gone
  std::string event_key_;
  core::StringTable event_keys_;
  std::vector<std::uint32_t> events_;  // by key
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> threads_;
};

// What the lines of a text are, to tell whether they are those of perf script.
class LineCounts {
 public:
  void add(std::string_view whole_line, bool is_cut) {
    const std::string_view line = without_instruction(whole_line);
    const std::string_view text = trimmed(line);
    if (text.empty() || line.starts_with('#') || is_metric(line)) {
      may_be_bare_ = false;
      return;
    }
    const bool indented = line.starts_with('\t') || line.starts_with(' ');
    auto head = parse_head(line);
    bool is_aligned = false;
    if (!head || !is_timed(*head)) {
      const auto aligned = parse_aligned_sample(line);
      is_aligned = aligned.has_value();
      head = aligned ? aligned : head;
    }
    if (indented && !(head && (is_timed(*head) || is_aligned)) && is_detail(text)) {
      return;
    }
    if (is_cut) {
      return;
    }
    head = head ? head : parse_flat_sample(line);
    if (head && heads_ + frames_ + others_ == 0) {
      first_is_head_ = true;
      first_is_timed_ = is_timed(*head);
    }
    ++(head ? heads_ : others_);
    may_be_bare_ = !head;
  }

  [[nodiscard]] capture::Probe answer() const {
    using capture::ProbeAnswer;
    if (first_is_timed_ || (first_is_head_ && frames_ != 0)) {
      return {ProbeAnswer::kCertain, "the first line of a sample"};
    }
    const std::size_t known = heads_ + frames_;
    // The first lines of samples may be as short as a name: each has a callstack then.
    const bool is_possible = frames_ != 0 ? known >= 3 * others_ && frames_ > short_frames_
                                          : heads_ != 0 && others_ == 0;
    if (!is_possible) {
      return {ProbeAnswer::kNo, "has neither first lines of samples nor callstacks of perf script"};
    }
    return {ProbeAnswer::kPossible, "lines of perf script",
            static_cast<std::uint8_t>(100 * known / (known + others_))};
  }

 private:
  bool is_detail(std::string_view text) {
    const auto frame = parse_frame(text);
    if (!frame && count_branches(text) == 0 && (frames_ == 0 || !parse_source_place(text))) {
      return false;
    }
    ++frames_;
    if (may_be_bare_) {  // it was the first line of a sample
      ++heads_;
      --others_;
      may_be_bare_ = false;
    }
    short_frames_ += frame && frame->address < kShortAddress ? std::size_t{1} : std::size_t{0};
    return true;
  }

  static constexpr std::uint64_t kShortAddress = 0x100;  // any word may be a number as short

  std::size_t heads_ = 0;
  std::size_t frames_ = 0;
  std::size_t short_frames_ = 0;
  std::size_t others_ = 0;
  bool may_be_bare_ = false;  // the line before, one of the others
  bool first_is_head_ = false;
  bool first_is_timed_ = false;
};

}  // namespace

capture::Probe probe(const capture::CaptureHead& head) {
  const std::string_view text = capture::text_of_head(head);
  if (text.empty()) {
    return {capture::ProbeAnswer::kNo, "is not text"};
  }
  LineCounts counts;
  capture::for_each_line(text, head.whole, [&counts](std::string_view line, bool is_cut) {
    counts.add(line, is_cut);
  });
  return counts.answer();
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
