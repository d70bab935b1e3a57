#include "export/naming/location_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "export/naming/build_id_text.h"

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
  hash ^= (std::uint64_t{location.image} << 8) | (location.returns ? 0x80U : 0U) |
          static_cast<std::uint64_t>(location.mode);
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
  name_images();
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

// A short piece of a build id is enough, unless two of them begin alike.
void LocationTable::name_images() {
  constexpr std::size_t kShort = 8;
  std::map<std::string_view, std::set<std::string>> ids_of_name;
  for (const std::uint32_t row : module_of_image_) {
    const Module& module = view_.modules[row];
    if (module.build_id_kind != BuildIdKind::kNone) {
      ids_of_name[file_name(module)].insert(build_id_text(module));
    }
  }
  for (const std::uint32_t row : module_of_image_) {
    const Module& module = view_.modules[row];
    std::string& name = name_of_image_.emplace_back(
        module.path.empty() ? std::string_view("[unknown]") : file_name(module));
    const auto ids = ids_of_name.find(file_name(module));
    if (module.build_id_kind == BuildIdKind::kNone || ids->second.size() == 1) {
      continue;
    }
    const std::string id = build_id_text(module);
    const auto like = [&](const std::string& other) {
      return other.starts_with(id.substr(0, kShort));
    };
    const bool clear = std::count_if(ids->second.begin(), ids->second.end(), like) == 1;
    name += '[' + (clear ? id.substr(0, kShort) : id) + ']';
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

Location LocationTable::locate(std::uint32_t pid, std::uint64_t time_ns, const Frame& frame,
                               bool returns) const {
  if (naming_.style == FrameStyle::kAddress) {
    return {kNoImage, frame.mode, frame.address, false};
  }
  Frame place = frame;
  place.address -= returns ? 1 : 0;
  auto hit = modules_.find(pid, time_ns, place);
  if (returns && (!hit || synthetic_frames_)) {
    const auto exact = modules_.find(pid, time_ns, frame);
    if (exact && (!hit || is_synthetic(view_.modules[exact->module]))) {
      hit = exact;
      returns = false;
      place.address = frame.address;
    }
  }
  Location location{kNoImage, frame.mode, place.address, false};
  if (hit) {
    location.image = image_of_module_[hit->module];
    if (naming_.identity == ImageIdentity::kFile) {
      location.address = hit->offset;
    }
  }
  if (naming_.recorded && returns) {
    location.address += 1;
    location.returns = true;
  }
  return location;
}

std::uint32_t LocationTable::intern(std::uint32_t pid, std::uint64_t time_ns, const Frame& frame,
                                    bool returns) {
  const Location location =
      locate(pid, time_ns, frame, returns && frame.address != 0 && view_.has_return_addresses());
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

std::uint64_t LocationTable::file_offset(const Location& location) const {
  const std::uint64_t place = location.address - (location.returns ? 1 : 0);
  if (location.image == kNoImage || naming_.identity == ImageIdentity::kFile) {
    return place;
  }
  const Module& module = module_of_image(location.image);
  return place - module.base + module.file_offset;
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
    append_hex(location.address - (location.returns ? 1 : 0), out);
  } else if (is_synthetic(module_of_image(location.image))) {
    out += module_of_image(location.image).path;
  } else {
    out += image_name(location.image);
    out += '+';
    append_hex(file_offset(location), out);
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
