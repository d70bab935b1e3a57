#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/system_recorder.h"
#include "formats/etl/etl_clock.h"
#include "formats/etl/event_header.h"

namespace stackpack::etl {

/// Reads image events, the PDB records which a merge adds to them, and the table of volumes.
///
/// The volumes come at no certain place of a trace, so images are kept, 32 bytes each and their
/// paths once, and told to the recorder in finish(), with drive letters in place of devices.
class ImageTables {
 public:
  ImageTables(capture::SystemRecorder& system, const EtlClock& clock, std::uint8_t pointer_size);

  /// Load, unload and rundown, of all versions.
  void image_event(const EventView& event);

  /// Class ImageId: type 36 is an RSDS record.
  void image_id_event(const EventView& event);

  /// System config class: type 35 maps a device to a drive, 32 and 33 tell of the system.
  void system_config_event(const EventView& event);

  void finish();

  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }
  [[nodiscard]] std::uint64_t image_events() const { return image_events_; }
  [[nodiscard]] std::uint64_t distinct_images() const { return images_seen_.size(); }
  [[nodiscard]] std::uint64_t pdb_records() const { return pdb_records_; }

 private:
  struct ImageKey {
    std::uint64_t base = 0;
    std::uint32_t pid = 0;
    friend bool operator==(const ImageKey&, const ImageKey&) = default;
  };
  struct ImageKeyHash {
    std::size_t operator()(const ImageKey& key) const;
  };
  struct KeptImage {
    std::uint64_t base = 0;
    std::uint64_t size = 0;
    std::uint64_t start_ns = kUnknownTime;
    std::uint32_t pid = 0;
    std::uint32_t path = 0;
  };

  std::uint32_t intern(const std::string& path);
  [[nodiscard]] std::string dos_path(const std::string& path) const;
  [[nodiscard]] std::uint32_t owner_of(std::uint32_t pid, std::uint64_t base) const;

  capture::SystemRecorder& system_;
  const EtlClock& clock_;
  std::uint8_t pointer_size_;
  std::vector<KeptImage> images_;
  std::vector<std::string> paths_;
  std::unordered_map<std::string, std::uint32_t> path_index_;
  std::unordered_set<ImageKey, ImageKeyHash> mapped_;
  std::unordered_set<ImageKey, ImageKeyHash> images_seen_;
  std::map<std::string, std::string> volumes_;  // device prefix to drive prefix
  std::uint64_t image_events_ = 0;
  std::uint64_t pdb_records_ = 0;
  std::uint64_t damaged_ = 0;
};

}  // namespace stackpack::etl
