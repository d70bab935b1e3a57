#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "app/arrow/callstack_numbers.h"
#include "app/arrow/frame_rows.h"
#include "query/selection/capture_view.h"
#include "stackpack/branches.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/sources.h"
#include "stackpack/waits.h"
#include "symbols/symbol_index.h"

namespace stackpack::app {

/// What the tables of an open file are made of, each part at its first use.
/// Threads: any number; what is given out is immutable and lives as long as this.
class CaptureTables {
 public:
  explicit CaptureTables(std::shared_ptr<const Reader> reader) : reader_(std::move(reader)) {}

  [[nodiscard]] const Reader& reader() const { return *reader_; }

  // Errors: those of the reader. A failure is tried again at the next call.
  Result<const query::CaptureView*> view();
  Result<const CallstackNumbers*> stacks();
  Result<const FrameRows*> frames();
  /// Of a file that is not merged one, made of what is known of it.
  Result<const std::vector<MergedSource>*> sources();
  /// Empty in a file without branches.
  Result<const Branches*> branches();
  /// Of all threads, in the order of the file. Memory: 48 bytes each.
  Result<const std::vector<WaitInterval>*> intervals();

 private:
  Status load_view();
  Status load_stacks();
  Status load_frames();

  const std::shared_ptr<const Reader> reader_;
  std::mutex mutex_;  // guards the loading of what follows
  std::optional<query::CaptureView> view_;
  std::unique_ptr<const symbols::SymbolIndex> symbols_;
  std::unique_ptr<const CallstackNumbers> stacks_;
  std::unique_ptr<const FrameRows> frames_;
  std::optional<std::vector<MergedSource>> sources_;
  std::optional<Branches> branches_;
  std::optional<std::vector<WaitInterval>> intervals_;
};

}  // namespace stackpack::app
