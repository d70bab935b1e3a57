#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/loss_counters.h"
#include "capture/recorder_losses.h"
#include "capture/value_kinds.h"
#include "scratch/external_sort.h"
#include "stackpack/event_values.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::capture {

/// One event as a source finds it.
struct RecordedValue {
  static constexpr std::uint8_t kNoEvent = 0xFF;

  std::uint64_t time_ns = 0;
  /// Its callstack is that of the sample of this event (valued_event()), thread and time; of the
  /// kernel's events, whose threads not every recorder writes, of this event and time.
  std::uint64_t stack_time_ns = 0;
  std::uint32_t stack_tid = kUnknownId;
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  ValueKind kind = ValueKind::kGcStart;
  std::uint8_t stack_event = kNoEvent;
  std::uint16_t keyed = 0;  ///< bits of fields that are keys of name_file()
  /// It is of the sample of the value before, which has the same time, thread and event.
  bool with_previous = false;
  std::array<std::uint64_t, kMostValueFields> values{};
};

/// A value as it comes back.
struct FoundValue : EventValue {
  std::uint16_t segment = 0;  ///< of add_placed(); `stack` is what was given there
};

/// Collects the values of events, and finds the callstack of each among the samples.
///
/// Use: text(), name_file() and add() while the capture is read; offer_stack() for every sample in
/// their order; finish() once.
/// Memory: nothing without values; kRows of them, sorted runs in scratch beyond; kMostTextBytes of
/// texts, each once; kMostFiles names of files.
/// Threads: one at a time.
class ValueRecorder {
 public:
  static constexpr std::size_t kMostTextBytes = std::size_t{16} << 20;
  static constexpr std::size_t kLongestText = 4096;
  static constexpr std::size_t kMostFiles = std::size_t{1} << 20;

  ValueRecorder() = default;

  void configure(std::string scratch_directory) {
    scratch_directory_ = std::move(scratch_directory);
  }

  /// Leaves messages out, and user names in paths.
  void set_redaction(bool redact) { redact_ = redact; }

  /// The number of a text, for a field; 0 is the empty one. Cut at kLongestText.
  std::uint64_t text(std::string_view text);
  /// What a program wrote: redaction leaves it out.
  std::uint64_t message(std::string_view text) { return redact_ ? 0 : this->text(text); }
  /// The path of a file.
  std::uint64_t path(std::string_view path);

  static constexpr std::size_t kMostOwnKinds = 200;
  static constexpr std::size_t kMostOwnEvents = 190;
  static constexpr std::size_t kLongestFieldName = 255;

  /// The number of a kind that a capture describes itself, beyond those of value_kinds(); the same
  /// for the same schema. Nothing: it is one too many.
  std::optional<ValueKind> own_kind(const ValueSchema& schema);
  /// For RecordedValue::stack_event: a row of the event table whose samples have the callstacks of
  /// values. Nothing: it is one too many.
  std::optional<std::uint8_t> own_event(std::uint32_t event);
  /// That of a row of the event table, whose name is known by now; nothing: it has no values.
  [[nodiscard]] std::optional<std::uint8_t> event_number(std::uint32_t event,
                                                         std::string_view name) const;
  /// All kinds as finish() numbers them: those of value_kinds() but later ones without values, then
  /// its own by name and fields.
  [[nodiscard]] std::vector<ValueSchema> kinds() const;

  /// From `time_ns` on a key stands for this path; before its first name it stands for that, too.
  void name_file(std::uint64_t key, std::uint64_t time_ns, std::string_view path);

  /// Takes a value. What cannot be written to scratch is an error of finish().
  void add(const RecordedValue& value);

  /// Takes a value that has its callstack already, by the caller's own numbers. Those of one time
  /// come by `rank`, then as they were added.
  void add_placed(const RecordedValue& value, StackId stack, std::uint16_t segment,
                  std::uint32_t rank);

  [[nodiscard]] bool empty() const { return count_ == 0; }

  /// A sample with the callstack that it has in the file, by the number of its event.
  /// A value whose thread is not known gets that of the sample.
  Status offer_stack(std::uint8_t event, const Sample& sample, StackId stack);

  /// All values in order of time, with their callstacks. Errors: kIo, and those of the visitor.
  Status finish(LossCounters& losses, const std::function<Status(const FoundValue&)>& visit);

  /// After finish(): the texts of those values, by number.
  [[nodiscard]] const std::vector<std::string>& texts() const { return used_texts_; }

 private:
  static constexpr std::size_t kRows = std::size_t{1} << 15;

  // A value, or the callstack that one of the same key gets: those come first.
  struct Row {
    RecordedValue value;
    std::uint64_t order = 0;
    StackId stack = kNoStack;
    std::uint16_t segment = 0;
    bool is_value = false;
  };
  struct NamedFile {
    std::uint64_t key = 0;
    std::uint64_t time_ns = 0;
    std::uint32_t text = 0;
  };
  struct ByCallstack {
    static std::uint64_t key(const Row& row) { return row.value.stack_time_ns; }
    static bool before(const Row& a, const Row& b);
  };
  struct ByTime {
    static std::uint64_t key(const Row& row) { return row.value.time_ns; }
    static bool before(const Row& a, const Row& b);
  };
  using Joined = scratch::ExternalSort<Row, ByCallstack>;
  using Timed = scratch::ExternalSort<Row, ByTime>;

  Joined& joined();
  Timed& timed();
  Status join();
  using ValueFields = std::array<std::uint64_t, kMostValueFields>;
  using TextFields = std::uint16_t;
  void name_files(const RecordedValue& value, ValueFields& values) const;
  [[nodiscard]] TextFields texts_of_kind(std::size_t kind) const;
  void number_texts(TextFields fields, ValueFields& values);
  [[nodiscard]] std::vector<std::size_t> own_order() const;
  [[nodiscard]] bool is_described(std::size_t kind) const;
  [[nodiscard]] std::vector<std::uint32_t> kind_numbers() const;
  void note_use(ValueKind kind);
  [[nodiscard]] std::uint64_t file_at(std::uint64_t key, std::uint64_t time_ns) const;

  std::string scratch_directory_ = ".";
  bool redact_ = false;
  Status status_;
  std::unique_ptr<Joined> joined_;  // those that have a callstack among the samples
  std::unique_ptr<Timed> timed_;    // those that have none, or have it already
  std::uint64_t count_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t texts_over_limit_ = 0;
  std::size_t text_bytes_ = 0;
  std::vector<std::string> texts_{std::string()};
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::uint32_t> used_numbers_;  // by number of texts_: 0, or that of used_texts_
  std::vector<std::string> used_texts_{std::string()};
  std::vector<NamedFile> files_;
  std::vector<ValueSchema> own_kinds_;
  std::uint64_t used_kinds_ = 0;  // of value_kinds(), a bit for each
  std::vector<std::uint32_t> own_events_;
};

}  // namespace stackpack::capture
