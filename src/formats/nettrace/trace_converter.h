// Makes samples and facts of the blocks of a trace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/callstack_sink.h"
#include "capture/recent_chains.h"
#include "formats/dotnet/method_modules.h"
#include "formats/dotnet/runtime_values.h"
#include "formats/nettrace/event_uses.h"
#include "formats/nettrace/row_reader.h"
#include "formats/nettrace/sequence_numbers.h"
#include "formats/nettrace/stack_table.h"
#include "formats/nettrace/thread_table.h"
#include "formats/nettrace/trace_blocks.h"
#include "formats/nettrace/universal_system.h"

namespace stackpack::nettrace {

class TraceConverter {
 public:
  static constexpr std::size_t kMostKinds = std::size_t{1} << 18;
  /// Most fields of all kinds that are kept for a capture::PayloadSink.
  static constexpr std::size_t kMostDescribedFields = std::size_t{1} << 18;

  /// `header` and `sink` must outlive this.
  TraceConverter(const TraceHeader& header, capture::CallstackSink& sink);

  /// Names of methods may be read from `source` until the sink's functions are finished, and need
  /// not be kept.
  void read_names_again(io::ByteSource& source);

  /// The next block. Errors: those of the sink.
  Status block(const Block& block);

  /// Once, in the end.
  void finish();

 private:
  void describe();
  Status events(const Block& block);
  Status event(const EventRow& row);
  void metadata_block(const Block& block);
  void old_metadata(const EventRow& row);
  void add_metadata(EventMetadata metadata, std::uint64_t offset);
  void sequence_point(const Block& block);
  void count_end_of(const RowReader& rows);
  EventUse& use_of_row(const EventRow& row);
  std::uint32_t event_row(EventUse& use, std::uint32_t type);
  void facts(const EventUse& use, const EventRow& row, const ThreadIdentity& thread);
  void method(const EventUse& use, const EventRow& row, std::uint32_t pid);
  void process_info(const EventRow& row);
  Status sample(EventUse& use, const EventRow& row, const ThreadIdentity& thread,
                std::span<const std::uint64_t> addresses);
  std::span<const std::uint64_t> callstack_of(const EventRow& row);
  std::uint32_t type_of_sample(const EventRow& row);
  std::uint64_t weight_of(const EventUse& use, const EventRow& row);
  struct KnownStack {
    capture::StackView view;  // empty when the sink knows it by the memo
    capture::StackMemo memo;
  };
  KnownStack known_stack(std::span<const std::uint64_t> addresses);
  Status with_callstack(const Sample& sample, std::span<const std::uint64_t> addresses);
  Status add_wait(const EventUse& use, const EventRow& row, const ThreadIdentity& thread,
                  std::span<const std::uint64_t> addresses);
  Status add_switch(const Sample& sample, std::span<const std::uint64_t> addresses);
  capture::StackView view_of(std::span<const std::uint64_t> addresses);
  void damage(std::string_view what, std::uint64_t offset) {
    losses_.add(what, LossKind::kDamage, 1, offset);
  }

  const TraceHeader& header_;
  capture::CallstackSink& sink_;
  capture::LossCounters& losses_;
  StackTable stacks_;
  SequenceNumbers numbers_;
  ThreadTable threads_;
  UniversalSystem universal_;
  dotnet::MethodModules modules_;
  dotnet::RuntimeValues values_;
  capture::PayloadSink* payloads_;
  std::size_t described_fields_ = 0;
  std::unordered_map<std::uint32_t, EventUse> uses_;
  EventUse unknown_;
  std::map<std::string, std::uint32_t> event_rows_;
  capture::RecentChains recent_;
  bool knows_stacks_;
  std::vector<capture::ModeRun> runs_;
  std::string name_;
  std::uint8_t method_names_ = 0;  // NamePlace::source of those that are read again; 0: none are
  std::uint64_t bookkeeping_stacks_ = 0;
  std::uint64_t without_callstack_ = 0;
  std::uint64_t cut_stacks_ = 0;
  std::uint64_t switches_ = 0;
  bool has_rundown_ = false;
  bool has_thread_samples_ = false;
};

}  // namespace stackpack::nettrace
