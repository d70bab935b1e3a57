#include "export/naming/location_table.h"

#include <array>
#include <charconv>
#include <map>
#include <tuple>

namespace stackpack::exporting {

namespace {

void append_hex(std::uint64_t value, std::string& out) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  out += "0x";
  out.append(digits.data(), end);
}

bool is_kernel(FrameMode mode) {
  return mode == FrameMode::kKernel || mode == FrameMode::kGuestKernel;
}

}  // namespace

std::size_t LocationTable::LocationHash::operator()(const Location& location) const {
  std::uint64_t hash = location.address * 0x9E37'79B9'7F4A'7C15ULL;
  hash ^= (std::uint64_t{location.image} << 8) | static_cast<std::uint64_t>(location.mode);
  hash ^= hash >> 32;
  hash *= 0xD6E8'FEB8'6659'FD93ULL;
  return static_cast<std::size_t>(hash ^ (hash >> 32));
}

LocationTable::LocationTable(const CaptureView& view, const Naming& naming)
    : view_(view),
      naming_(naming),
      synthetic_frames_(view.fact(kSyntheticFramesKey) == "1"),
      modules_(view.processes, view.modules) {
  number_images();
}

void LocationTable::number_images() {
  using Identity = std::tuple<std::string_view, std::vector<std::uint8_t>, std::uint64_t,
                              std::uint64_t, std::uint64_t>;
  std::map<Identity, std::uint32_t> numbers;
  const bool by_place = naming_.identity == ImageIdentity::kMapping;
  for (std::uint32_t i = 0; i < view_.modules.size(); ++i) {
    const Module& module = view_.modules[i];
    const Identity identity{module.path, module.build_id, by_place ? module.base : 0,
                            by_place ? module.size : 0, by_place ? module.file_offset : 0};
    const auto [image, fresh] =
        numbers.try_emplace(identity, static_cast<std::uint32_t>(module_of_image_.size()));
    if (fresh) {
      module_of_image_.push_back(i);
    }
    image_of_module_.push_back(image->second);
  }
}

bool LocationTable::is_synthetic(const Module& module) const {
  return synthetic_frames_ && module.size == 1 && module.build_id.empty();
}

std::string_view LocationTable::file_name(const Module& module) {
  const std::string_view path = module.path;
  const std::size_t slash = path.find_last_of("/\\");
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return name.empty() ? path : name;
}

Location LocationTable::locate(std::uint32_t pid, std::uint64_t time_ns, const Frame& frame) const {
  Location location{kNoImage, frame.mode, frame.address};
  if (naming_.style == FrameStyle::kAddress) {
    return location;
  }
  if (const auto hit = modules_.find(pid, time_ns, frame)) {
    location.image = image_of_module_[hit->module];
    if (naming_.identity == ImageIdentity::kFile) {
      location.address = hit->offset;
    }
  }
  return location;
}

std::uint32_t LocationTable::intern(std::uint32_t pid, std::uint64_t time_ns, const Frame& frame) {
  const Location location = locate(pid, time_ns, frame);
  const auto [number, fresh] =
      numbers_.try_emplace(location, static_cast<std::uint32_t>(locations_.size()));
  if (fresh && naming_.by_text) {
    scratch_.clear();
    append_text(location, scratch_);
    number->second = texts_.intern(scratch_);
  } else if (fresh) {
    locations_.push_back(location);
  }
  return number->second;
}

std::uint32_t LocationTable::intern_text(std::string_view text) {
  scratch_ = text;
  for (char& c : scratch_) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    c = c == naming_.separator ? ':' : control ? '?' : c;
  }
  return texts_.intern(scratch_);
}

void LocationTable::append_text(std::uint32_t number, std::string& out) const {
  if (naming_.by_text) {
    out += texts_.text(number);
  } else {
    append_text(locations_[number], out);
  }
}

void LocationTable::append_address(std::uint32_t number, std::string& out) const {
  const Location& place = locations_[number];
  if (place.image != kNoImage && is_synthetic(module_of_image(place.image))) {
    out += module_of_image(place.image).path;
  } else {
    append_hex(place.address, out);
  }
}

void LocationTable::append_text(const Location& location, std::string& out) const {
  const std::size_t start = out.size();
  if (location.image == kNoImage) {
    append_hex(location.address, out);
  } else {
    const Module& module = module_of_image(location.image);
    if (is_synthetic(module)) {
      out += module.path;
    } else {
      out += module.path.empty() ? std::string_view("[unknown]") : file_name(module);
      out += '+';
      append_hex(naming_.identity == ImageIdentity::kFile
                     ? location.address
                     : location.address - module.base + module.file_offset,
                 out);
    }
  }
  for (std::size_t i = start; i < out.size() && naming_.separator != '\0'; ++i) {
    const bool control = static_cast<unsigned char>(out[i]) < 0x20 || out[i] == 0x7F;
    out[i] = out[i] == naming_.separator ? ':' : control ? '?' : out[i];
  }
  if (naming_.annotate_kernel && is_kernel(location.mode)) {
    out += "_[k]";
  }
}

}  // namespace stackpack::exporting
