#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "unwind/frame_section.h"

namespace stackpack::unwind {

/// Finds the FDE of an address: by the table that linkers make (.eh_frame_hdr) where there is one
/// in the usual form, else by a table made of all FDEs, once.
///
/// The bytes of the sections must outlive it. A table that lies gives no FDE, or one that does not
/// cover the address, which is the same.
class FdeIndex {
 public:
  /// FDEs of a table that is made; there are 160,000 in the largest file known.
  static constexpr std::size_t kMostMade = std::size_t{1} << 20;

  FdeIndex() = default;
  /// `header`: the content of .eh_frame_hdr, at `header_address`; empty: there is none.
  FdeIndex(const FrameSection& section, std::span<const std::byte> header,
           std::uint64_t header_address);

  /// The FDE that covers `address`. Cost: logarithmic.
  [[nodiscard]] std::optional<Fde> find(std::uint64_t address) const;

  /// Whether a table made of the FDEs is the one of the header, so that nothing is lost without
  /// the header. Cost: as of making it.
  [[nodiscard]] bool is_as_made() const;

  /// What the made table takes.
  [[nodiscard]] std::size_t memory_bytes() const { return made_.size() * sizeof(Made); }

 private:
  struct Made {
    std::uint64_t begin = 0;
    std::uint64_t offset = 0;
  };
  bool use_header(std::span<const std::byte> header, std::uint64_t header_address);
  [[nodiscard]] std::vector<Made> made_table() const;
  [[nodiscard]] std::optional<Fde> find_by_header(std::uint64_t address) const;

  FrameSection section_;
  std::span<const std::byte> pairs_;  // of .eh_frame_hdr: address, place of the FDE
  std::uint64_t base_ = 0;            // which they are relative to
  std::vector<Made> made_;
};

}  // namespace stackpack::unwind
