#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "query/selection/capture_view.h"
#include "query/selection/sample_selection.h"
#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/symbols.h"

namespace stackpack::app {

/// The callstacks of a file, with where their addresses are looked up.
class PlacedCallstacks {
 public:
  /// The reader must outlive this. `names`: in place of those of the file. `filter`: the samples
  /// whose callstacks they are.
  /// Errors: those of the reader; kUsage when the filter asks for what the capture cannot have.
  static Result<PlacedCallstacks> open(const Reader& reader,
                                       std::optional<Names> names = std::nullopt,
                                       const SampleFilter& filter = {});

  /// Visits each callstack once in each mapping context that has it, leaf first; those without
  /// samples are left out. Memory: some 16 bytes per pair, for a million of them at a time.
  Status each(const std::function<void(const query::MappingContext&, std::uint32_t context,
                                       std::span<const Frame>)>& visit) const;

  [[nodiscard]] const query::CaptureView& view() const { return opened_->view; }
  [[nodiscard]] const symbols::SymbolIndex& symbols() const {
    return opened_->selection->symbols();
  }

 private:
  // The selection refers to the others.
  struct Opened {
    query::CaptureView view;
    ExportOptions everything;
    std::unique_ptr<query::SampleSelection> selection;
  };
  explicit PlacedCallstacks(std::unique_ptr<Opened> opened) : opened_(std::move(opened)) {}

  std::unique_ptr<Opened> opened_;
};

/// An address that samples of a process have, and that has a name.
struct NamedFrame {
  std::uint32_t pid = kUnknownId;  ///< unknown: an address of the kernel
  Frame frame;
  CodeLocation location;
};

/// Visits each (pid, address, name) once, by pid, then address.
/// Memory: proportional to the distinct (pid, address).
Status visit_named_frames(const Reader& reader,
                          const std::function<Status(const NamedFrame&)>& visit);

}  // namespace stackpack::app
