#include "formats/etl/system/image_tables.h"

#include <algorithm>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "formats/etl/etl_sample_writer.h"
#include "formats/etl/event/windows_text.h"
#include "formats/etl/system/kernel_tables.h"

namespace stackpack::etl {

namespace {

enum ImageTypes : std::uint8_t {
  kImageUnload = 2,
  kImageDcStart = 3,
  kImageDcEnd = 4,
  kImageLoad = 10
};

constexpr std::size_t kMostVolumes = 256;
constexpr std::size_t kMostVolumeBytes = std::size_t{1} << 20;

struct ImageFacts {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  std::uint32_t pid = 0;
  std::string path;
};

bool read_image(const EventView& event, ImageFacts& facts) {
  bytes::ByteCursor in(event.payload, event.position);
  const std::uint8_t pointer = event.pointer_size;
  facts.base = read_pointer(in, pointer);
  facts.size = event.version == 0 ? in.read<std::uint32_t>() : read_pointer(in, pointer);
  facts.pid = event.version == 0 ? event.pid : in.read<std::uint32_t>();
  if (!in.ok()) {
    return false;
  }
  if (event.version >= 2) {
    in.skip(12);  // checksum, time stamp, reserved or signature
    read_pointer(in, pointer);
    in.skip(16);
  }
  facts.path = in.ok() ? read_wide_text(in) : std::string();
  return true;
}

}  // namespace

ImageTables::ImageTables(scratch::SpillSpace& space, capture::SystemRecorder& system,
                         const EtlClock& clock, std::uint8_t pointer_size)
    : system_(system),
      clock_(clock),
      pointer_size_(pointer_size),
      images_(space),
      paths_(space),
      known_(space) {}

std::uint32_t ImageTables::owner_of(std::uint32_t pid, std::uint64_t base) const {
  return pid == 0 || is_kernel_address(base, pointer_size_) ? kKernelPid : pid;
}

void ImageTables::keep(const KeptImage& image, const std::string& path) {
  KeptImage kept = image;
  kept.path = paths_.add(std::as_bytes(std::span(path)));
  kept.path_bytes = static_cast<std::uint32_t>(path.size());
  images_.set(image_count_++, kept);
}

void ImageTables::image_event(const EventView& event) {
  ++image_events_;
  ImageFacts facts;
  if (!read_image(event, facts)) {
    ++damaged_;
    return;
  }
  distinct_images_ += known_.put({facts.base, event.version == 0 ? 0 : facts.pid, kSeen}) ? 1U : 0U;
  const std::uint32_t owner = owner_of(facts.pid, facts.base);
  const Known mapped{facts.base, owner, kMapped};
  const std::uint64_t now = clock_.unix_ns(event.clock);
  if (event.type == kImageUnload) {
    if (!known_.take(mapped).used()) {  // it was there before the trace, and nothing said so
      keep({facts.base, facts.size, kUnknownTime, owner}, facts.path);
    }
    system_.module_unmapped(owner, facts.base, now);
    return;
  }
  const bool fresh = known_.put(mapped);
  if (fresh || event.type == kImageLoad) {
    const std::uint64_t since = event.type == kImageLoad ? now : kUnknownTime;
    keep({facts.base, facts.size, since, owner}, facts.path);
  }
}

void ImageTables::image_id_event(const EventView& event) {
  if (event.type != kRsds) {
    return;
  }
  ++pdb_records_;
  bytes::ByteCursor in(event.payload, event.position);
  const std::uint64_t base = read_pointer(in, event.pointer_size);
  const auto pid = in.read<std::uint32_t>();
  const std::span<const std::byte> identity = in.read_bytes(20);  // GUID, age
  if (!in.ok()) {
    ++damaged_;
    return;
  }
  std::vector<std::uint8_t> build_id(identity.size());
  std::transform(identity.begin(), identity.end(), build_id.begin(),
                 [](std::byte byte) { return static_cast<std::uint8_t>(byte); });
  system_.build_id_of_base(owner_of(pid, base), base, BuildIdKind::kPdb, build_id,
                           from_ansi(in.read_c_string()));
}

void ImageTables::system_config_event(const EventView& event) {
  bytes::ByteCursor in(event.payload, event.position);
  switch (event.type) {
    case kBuildInfo: {
      in.skip(8);
      const std::string lab = read_wide_text(in);
      const std::string product = read_wide_text(in);
      if (in.ok() && !lab.empty()) {
        system_.metadata("os.build_lab", lab);
      }
      if (in.ok() && !product.empty()) {
        system_.metadata("os.product", product);
      }
      break;
    }
    case kSystemPaths: {
      read_wide_text(in);
      const std::string root = read_wide_text(in);
      if (!root.empty()) {
        system_.metadata("os.root", root);
      }
      break;
    }
    case kVolume: {
      const std::string device = read_wide_text(in);
      const std::string drive = read_wide_text(in);
      volume_bytes_ += device.size() + drive.size();
      if (!device.empty() && volumes_.size() < kMostVolumes && volume_bytes_ < kMostVolumeBytes) {
        volumes_[device] = drive;
      }
      break;
    }
    default:
      break;
  }
}

std::string ImageTables::dos_path(const std::string& path) const {
  const std::string* best = nullptr;
  const std::string* drive = nullptr;
  for (const auto& [prefix, letter] : volumes_) {
    if (path.compare(0, prefix.size(), prefix) == 0 &&
        (best == nullptr || prefix.size() > best->size())) {
      best = &prefix;
      drive = &letter;
    }
  }
  return best == nullptr ? path : *drive + path.substr(best->size());
}

Status ImageTables::finish() {
  Module module;
  std::string path;
  for (std::uint64_t i = 0; i < image_count_; ++i) {
    const KeptImage image = images_.get(i);
    path.resize(image.path_bytes);
    paths_.read(image.path, std::as_writable_bytes(std::span(path)));
    module.pid = image.pid;
    module.base = image.base;
    module.size = image.size;
    module.start_ns = image.start_ns;
    module.path = dos_path(path);
    system_.module_mapped(module);
  }
  return images_.space().status();
}

}  // namespace stackpack::etl
