#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "capture/system_recorder.h"
#include "core/index_table.h"
#include "formats/etl/event/etl_clock.h"
#include "formats/etl/event/event_header.h"
#include "scratch/spill_records.h"
#include "scratch/spill_space.h"
#include "scratch/spill_table.h"
#include "stackpack/result.h"

namespace stackpack::etl {

/// Reads image events, the PDB records which a merge adds to them, and the table of volumes.
///
/// The volumes come at no certain place of a trace, so images are kept and given to the recorder in
/// finish(), with drive letters in place of devices.
class ImageTables {
 public:
  /// All references must outlive this. What fails in `space` is in its status().
  ImageTables(scratch::SpillSpace& space, capture::SystemRecorder& system, const EtlClock& clock,
              std::uint8_t pointer_size);

  /// Load, unload and rundown, of all versions.
  void image_event(const EventView& event);

  /// Class ImageId: type 36 is an RSDS record.
  void image_id_event(const EventView& event);

  /// System config class: type 35 maps a device to a drive, 32 and 33 describe the system.
  void system_config_event(const EventView& event);

  /// Gives all images to the recorder.
  Status finish();

  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }
  [[nodiscard]] std::uint64_t image_events() const { return image_events_; }
  [[nodiscard]] std::uint64_t distinct_images() const { return distinct_images_; }
  [[nodiscard]] std::uint64_t pdb_records() const { return pdb_records_; }

 private:
  enum KnownKinds : std::uint32_t { kMapped = 1, kSeen };
  struct Known {
    std::uint64_t base = 0;
    std::uint32_t pid = 0;
    std::uint32_t kind = 0;
    [[nodiscard]] bool used() const { return kind != 0; }
    [[nodiscard]] std::uint64_t hash() const {
      return core::mix_bits(base) ^ core::mix_bits((std::uint64_t{kind} << 32) | pid);
    }
    [[nodiscard]] bool same_key(const Known& other) const {
      return base == other.base && pid == other.pid && kind == other.kind;
    }
  };
  struct alignas(64) KeptImage {
    std::uint64_t base = 0;
    std::uint64_t size = 0;
    std::uint64_t start_ns = kUnknownTime;
    std::uint32_t pid = 0;
    std::uint32_t path = 0;  // a chain
    std::uint32_t path_bytes = 0;
  };

  void keep(const KeptImage& image, const std::string& path);
  [[nodiscard]] std::string dos_path(const std::string& path) const;
  [[nodiscard]] std::uint32_t owner_of(std::uint32_t pid, std::uint64_t base) const;

  capture::SystemRecorder& system_;
  const EtlClock& clock_;
  std::uint8_t pointer_size_;
  scratch::SpillArray<KeptImage> images_;
  scratch::SpillChains paths_;
  scratch::SpillTable<Known> known_;
  std::uint64_t image_count_ = 0;
  std::uint64_t distinct_images_ = 0;
  std::map<std::string, std::string> volumes_;  // device prefix to drive prefix
  std::size_t volume_bytes_ = 0;
  std::uint64_t image_events_ = 0;
  std::uint64_t pdb_records_ = 0;
  std::uint64_t damaged_ = 0;
};

}  // namespace stackpack::etl
