#include "formats/pprof/pprof_source.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/field_recorder.h"
#include "capture/first_date.h"
#include "formats/pprof/legacy_profile.h"
#include "formats/pprof/message_stream.h"
#include "formats/pprof/pprof_losses.h"
#include "formats/pprof/profile_tables.h"
#include <protozero/exception.hpp>

namespace stackpack::pprof {

namespace {

// Texts are numbers of the profile's strings.
struct LabelEntry {
  std::uint64_t key = 0;
  std::uint64_t text = 0;
  std::int64_t number = 0;
  std::uint64_t unit = 0;
};

LabelEntry label_of(protozero::pbf_reader message) {
  LabelEntry label;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case number(kLabelKey):
        label.key = message.get_uint64();
        break;
      case number(kLabelText):
        label.text = message.get_uint64();
        break;
      case number(kLabelNumber):
        label.number = message.get_int64();
        break;
      case number(kLabelUnit):
        label.unit = message.get_uint64();
        break;
      default:
        message.skip();
    }
  }
  return label;
}

// Where reading ended early: the file breaks there, and what was read counts.
bool is_damage(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kTruncated;
}

class ProfileReader {
 public:
  ProfileReader(io::ByteSource& source, capture::CallstackSink& sink, const ReadOptions& options)
      : source_(source),
        sink_(sink),
        options_(options),
        tables_(sink.system(), sink.losses(), options.max_table_bytes) {}

  Result<capture::ByteAccount> run() {
    const Status tables = for_each_field(
        [this](const Field& field, std::uint64_t offset) { return tables_.take(field, offset); });
    if (!tables) {
      return tables.error();
    }
    if (const Status finished = tables_.finish(); !finished) {
      return finished.error();
    }
    if (tables_.sample_types().empty()) {
      return Error{ErrorCode::kCorrupt, 0, "pprof: the profile has no sample type"};
    }
    describe();
    second_pass_ = true;
    const Status samples = for_each_field([this](const Field& field, std::uint64_t offset) {
      return field.number == kSample && field.has_bytes ? take_sample(field.bytes, offset)
                                                        : Status{};
    });
    if (!samples) {
      return samples.error();
    }
    capture::ByteAccount account;
    account.total = source_.size().value_or(bytes_parsed_);
    account.parsed = std::min(account.total, bytes_parsed_);
    account.skipped.add(skip::kPprofDamagedStream, account.total - account.parsed);
    return account;
  }

 private:
  // Damage ends the pass; both passes end at the same place, and the first one counts it.
  template <typename Take>
  Status for_each_field(Take take) {
    MessageStream stream(source_, options_.max_message_bytes);
    Field field;
    while (true) {
      if (options_.control.stop_requested()) {
        return Error{ErrorCode::kCancelled, stream.offset(), "pprof: cancelled"};
      }
      const Result<bool> more = stream.next(field);
      bytes_parsed_ = stream.consumed();
      if (!more && !is_damage(more.error())) {
        return more.error();
      }
      if (!more && !second_pass_) {
        sink_.losses().add(name_of(skip::kPprofDamagedStream), LossKind::kDamage, 1,
                           stream.offset());
      }
      if (!more || !*more) {
        return {};
      }
      if (const Status status = take(field, stream.offset()); !status) {
        return status;
      }
      if (second_pass_) {
        options_.control.advance_to(stream.offset());
      }
    }
  }

  // Events, and facts about the whole profile.
  void describe() {
    std::set<std::string> names;
    std::string shown_first;
    for (const ProfileTables::ValueType& type : tables_.sample_types()) {
      std::string name = type.type.empty() ? "[unnamed]" : type.type;
      if (!names.insert(name).second) {
        name += "/" + type.unit;
      }
      if (events_.size() == tables_.default_type()) {
        shown_first = name;
      }
      events_.push_back(sink_.add_event({name, true}));
      sink_.system().metadata("pprof.unit." + name, type.unit);
    }
    if (events_.size() > 1) {
      sink_.system().metadata("pprof.default_event", shown_first);
    }
    sink_.system().metadata("samples.aggregated", "1");
    if (tables_.time_ns() >= static_cast<std::int64_t>(capture::kFirstDateNs)) {
      sink_.system().metadata("clock.wall_offset_ns", "0");
    }
    if (tables_.duration_ns() > 0) {
      sink_.system().metadata("pprof.duration_ns", std::to_string(tables_.duration_ns()));
    }
  }

  Status take_sample(std::span<const std::byte> content, std::uint64_t offset) {
    Sample sample;
    sample.time_ns = tables_.time_ns() > 0 ? static_cast<std::uint64_t>(tables_.time_ns()) : 0;
    frames_.clear();
    addresses_.clear();
    runs_.clear();
    values_.clear();
    comm_.reset();
    event_label_.reset();
    labels_.clear();
    try {
      for (auto message = message_of(content); message.next();) {
        switch (message.tag_and_type()) {
          case number(kSampleLocation):
          case bytes(kSampleLocation):
            protobuf::each_number(message, [&](std::uint64_t id) { add_location(id, offset); });
            break;
          case number(kSampleValue):
          case bytes(kSampleValue):
            protobuf::each_number(message, [&](std::uint64_t value) { values_.push_back(value); });
            break;
          case bytes(kSampleLabel):
            take_label(label_of(message.get_message()), sample);
            break;
          default:
            message.skip();
        }
      }
    } catch (const protozero::exception&) {
      sink_.losses().add(loss::kDamagedSample, LossKind::kDamage, 1, offset);
      return {};
    }
    if (values_.size() != events_.size()) {
      sink_.losses().add(loss::kSampleOfOtherWidth, LossKind::kDamage, 1, offset);
      return {};
    }
    take_frames();
    take_event_label(sample);
    name_thread(sample);
    return add(sample, offset);
  }

  void add_location(std::uint64_t id, std::uint64_t offset) {
    if (const std::optional<PrunedFrame> frame = tables_.frame_of(id)) {
      frames_.push_back(*frame);
    } else {
      sink_.losses().add(loss::kUnknownLocation, LossKind::kDamage, 1, offset);
    }
  }

  // Drops what a frame that stays calls, from the root on.
  void drop_frames() {
    bool found_kept = false;
    for (std::size_t i = frames_.size(); i-- > 0;) {
      const Pruning pruning = frames_[i].pruning;
      if (pruning == Pruning::kKeep) {
        found_kept = true;
      } else if (found_kept) {
        const std::size_t dropped = i + (pruning == Pruning::kDrop ? 1 : 0);
        frames_.erase(frames_.begin(), frames_.begin() + static_cast<std::ptrdiff_t>(dropped));
        sink_.losses().add(loss::kDroppedFrames, LossKind::kNotice, dropped);
        return;
      }
    }
  }

  void take_frames() {
    drop_frames();
    for (const PrunedFrame& pruned : frames_) {
      addresses_.push_back(pruned.frame.address);
      if (runs_.empty() || runs_.back().mode != pruned.frame.mode) {
        runs_.push_back({pruned.frame.mode, 0});
      }
      ++runs_.back().count;
    }
  }

  // A text, or a number with or without a unit: what has neither says nothing, as in pprof.
  void take_label(const LabelEntry& label, Sample& sample) {
    const std::string& key = tables_.text(label.key);
    const bool is_id = label.number >= 0 && label.number < std::int64_t{kUnknownId};
    if (key == "pid" && label.text == 0 && is_id) {
      sample.pid = static_cast<std::uint32_t>(label.number);
    } else if (key == "tid" && label.text == 0 && is_id) {
      sample.tid = static_cast<std::uint32_t>(label.number);
    } else if (key == "comm" && label.text != 0) {
      comm_ = label.text;
    } else if (label.text != 0) {
      const std::string& text = tables_.text(label.text);
      if (key == "event") {
        event_label_ = label.text;
      } else {
        labels_.push_back({key, LabelType::kText, text, 0, {}});
      }
    } else if (label.number != 0 || label.unit != 0) {
      labels_.push_back({key,
                         LabelType::kInteger,
                         {},
                         static_cast<std::uint64_t>(label.number),
                         tables_.text(label.unit)});
    }
  }

  [[nodiscard]] std::optional<std::uint32_t> event_of(const std::string& text) const {
    const auto& types = tables_.sample_types();
    const auto found = std::find_if(types.begin(), types.end(),
                                    [&text](const auto& type) { return type.type == text; });
    return found == types.end()
               ? std::nullopt
               : std::optional(events_[static_cast<std::size_t>(found - types.begin())]);
  }

  // Of many events all weights are one type.
  [[nodiscard]] bool shares_column() const {
    const auto& types = tables_.sample_types();
    return types.size() == 2 && types.back().type == "period" && types.back().unit == "count";
  }

  // The export labels samples with their event and thread. One that has weights is a type of values
  // as well; samples of others are counted alone.
  [[nodiscard]] bool is_counted_event(const Sample& sample) const {
    const ProfileTables::ValueType& first = tables_.sample_types().front();
    const bool has_thread = sample.pid != kUnknownId || sample.tid != kUnknownId || comm_;
    return first.type == "samples" && first.unit == "count" &&
           (shares_column() ||
            (has_thread && std::all_of(values_.begin() + 1, values_.end(),
                                       [](std::uint64_t value) { return value == 0; })));
  }

  // What the label `event` says: what the values say as well, the event of samples that count, but
  // weigh nothing or have no weight, or whatever a program means by it.
  void take_event_label(const Sample& sample) {
    counted_event_.reset();
    weighs_nothing_ = false;
    if (!event_label_) {
      return;
    }
    const std::string& name = tables_.text(*event_label_);
    if (const std::optional<std::uint32_t> known = event_of(name)) {
      weighs_nothing_ = *known != events_.front() && is_counted_event(sample) && !shares_column();
      counted_event_ = weighs_nothing_ ? known : std::nullopt;
      return;
    }
    if (is_counted_event(sample) &&
        (counted_events_.contains(name) || counted_events_.size() < kMostCountedEvents)) {
      const auto [known, fresh] = counted_events_.try_emplace(name, 0);
      if (fresh) {
        known->second = sink_.add_event({name, true});
        sink_.system().metadata("pprof.unit." + name, "count");
      }
      counted_event_ = known->second;
      values_.front() = shares_column() && values_.back() != 0 ? 0 : values_.front();
    } else {
      labels_.push_back({"event", LabelType::kText, name, 0, {}});
    }
  }

  // The fields of a sample with labels.
  std::optional<FieldRow> field_row() {
    if (labels_.empty()) {
      return std::nullopt;
    }
    capture::FieldRecorder* const fields = sink_.sample_fields();
    if (fields == nullptr) {
      sink_.losses().add(loss::kLabelsNotKept, LossKind::kNotice, labels_.size());
      return std::nullopt;
    }
    const std::uint64_t cut = fields->labels().cut();
    FieldRow row;
    row.set(stackpack::SampleField::kLabelSet, fields->labels().number_of(labels_));
    if (fields->labels().cut() != cut) {
      sink_.losses().add(loss::kLabelsCut, LossKind::kNotice, fields->labels().cut() - cut);
    }
    return row;
  }

  void name_thread(const Sample& sample) {
    if (sample.pid == kUnknownId || !comm_ || threads_.size() >= kMostThreads ||
        !threads_.insert({sample.pid, sample.tid}).second) {
      return;
    }
    const std::string& name = tables_.text(*comm_);
    if (sample.tid == kUnknownId || sample.tid == sample.pid) {
      sink_.system().process_named(sample.pid, kUnknownTime, name, false);
    }
    if (sample.tid != kUnknownId) {
      sink_.system().thread_named(sample.pid, sample.tid, kUnknownTime, name);
    }
  }

  Status add(Sample& sample, std::uint64_t offset) {
    sample.origin = addresses_.empty() ? StackOrigin::kNone : StackOrigin::kRecorded;
    bool any = false;
    const std::optional<FieldRow> fields = field_row();
    if (fields) {
      sample.flags |= capture::kSampleHasFields;
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (static_cast<std::int64_t>(values_[i]) < 0) {
        sink_.losses().add(loss::kNegativeValue, LossKind::kDamage, 1, offset);
        any = true;
        continue;
      }
      if (values_[i] == 0) {
        continue;
      }
      any = true;
      sample.event = counted_event_.value_or(events_[i]);
      sample.weight = weighs_nothing_ ? 0 : values_[i];
      if (fields) {
        sink_.sample_fields()->add(sample.time_ns, 0, *fields);
      }
      if (const Status status = sink_.add_sample(sample, {addresses_, runs_}); !status) {
        return status;
      }
    }
    if (!any) {
      sink_.losses().add(loss::kSampleOfZeros, LossKind::kNotice, 1);
    }
    return {};
  }

  static constexpr std::size_t kMostThreads = std::size_t{1} << 20;
  static constexpr std::size_t kMostCountedEvents = 1'024;

  io::ByteSource& source_;
  capture::CallstackSink& sink_;
  ReadOptions options_;
  ProfileTables tables_;
  bool second_pass_ = false;
  std::uint64_t bytes_parsed_ = 0;
  std::vector<std::uint32_t> events_;  // by column
  std::vector<PrunedFrame> frames_;    // of the present sample
  std::vector<std::uint64_t> addresses_;
  std::vector<capture::ModeRun> runs_;
  std::vector<std::uint64_t> values_;
  std::optional<std::uint64_t> comm_;
  std::optional<std::uint64_t> event_label_;
  std::optional<std::uint32_t> counted_event_;           // that it names
  bool weighs_nothing_ = false;                          // its samples have weights, all of zero
  std::map<std::string, std::uint32_t> counted_events_;  // by name
  LabelSet labels_;                                      // of the present sample
  std::set<std::pair<std::uint32_t, std::uint32_t>> threads_;
};

}  // namespace

// A profile of another format that pprof reads, as a profile.proto.
static Result<capture::ByteAccount> read_as_proto(io::ByteSource& source,
                                                  const std::string& content,
                                                  capture::CallstackSink& sink,
                                                  const ReadOptions& options) {
  const Result<LegacyProfile> profile = read_legacy(content);
  if (!profile) {
    return profile.error();
  }
  if (profile->damaged != 0) {
    sink.losses().add(loss::kDamagedSample, LossKind::kDamage, profile->damaged);
  }
  const std::string proto = profile->proto();
  const auto message = io::source_of_memory(std::as_bytes(std::span(proto)));
  const auto read = ProfileReader(*message, sink, options).run();
  if (!read) {
    return read.error();
  }
  capture::ByteAccount account;
  account.total = source.size().value_or(content.size());
  account.parsed = account.total;
  return account;
}

Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  if (!source.seekable()) {
    return Error{ErrorCode::kUsage, kNoOffset, "pprof: the source must be seekable"};
  }
  auto legacy = legacy_content(source, options.max_table_bytes);
  if (!legacy) {
    return legacy.error();
  }
  if (!legacy->empty()) {
    return read_as_proto(source, *legacy, sink, options);
  }
  return ProfileReader(source, sink, options).run();
}

constinit const capture::SourceFormat source_format = {
    .name = "pprof",
    .probe = probe,
    .streams = capture::never_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::pprof
