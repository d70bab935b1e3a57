#include "query/naming/location_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "capture/module_map.h"
#include "query/naming/build_id_text.h"
#include "query/naming/inlined_chain.h"
#include "query/selection/file_name.h"
#include "symbols/symbol_index.h"

namespace stackpack::query {

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

std::uint64_t LocationTable::LocationHash::operator()(const Location& location) const {
  std::uint64_t hash = location.address * 0x9E37'79B9'7F4A'7C15ULL;
  hash ^= (std::uint64_t{location.image} << 8) | (location.returns ? 0x80U : 0U) |
          static_cast<std::uint64_t>(location.mode);
  hash += (std::uint64_t{location.code} << 32) + location.inline_depth;
  hash ^= hash >> 32;
  hash *= 0xD6E8'FEB8'6659'FD93ULL;
  return hash ^ (hash >> 32);
}

LocationTable::LocationTable(const SampleSelection& selection, const Naming& naming)
    : view_(selection.view()), symbols_(selection.symbols()), naming_(naming) {
  names_.intern("");
  number_images();
  name_images();
  if (naming_.style == FrameStyle::kFunction) {
    find_ambiguous_names();
  }
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
      ids_of_name[file_name_of(module)].insert(build_id_text(module));
    }
  }
  for (const std::uint32_t row : module_of_image_) {
    const Module& module = view_.modules[row];
    std::string& name = name_of_image_.emplace_back(
        module.path.empty() ? std::string_view("[unknown]") : file_name_of(module));
    const auto ids = ids_of_name.find(file_name_of(module));
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

// Where a name occurs decides, not who has called it: the text of a frame is the same in all
// exports of a file.
void LocationTable::find_ambiguous_names() {
  const capture::ModuleMap modules(view_.processes, view_.modules);
  std::map<std::string_view, std::uint32_t> image_of_name;
  for (const Function& function : view_.names.functions) {
    std::uint32_t image = kNoImage;
    if (function.owner == FunctionOwner::kImage) {
      image = function.module < image_of_module_.size() ? image_of_module_[function.module] : image;
    } else {
      const bool kernel = symbols::is_of_kernel(function);
      const std::uint64_t life = function.life_ns == kUnknownTime ? 0 : function.life_ns;
      const std::uint64_t born = function.born_ns == kUnknownTime ? 0 : function.born_ns;
      const auto hit =
          modules.find(function.pid, std::max(life, born),
                       {kernel ? FrameMode::kKernel : FrameMode::kUser, function.start});
      image = hit ? image_of_module_[hit->module] : image;
    }
    const std::string_view name = view_.names.texts[function.name];
    if (image_of_name.try_emplace(name, image).first->second != image) {
      ambiguous_names_.insert(name);
    }
  }
}

Location LocationTable::locate(std::uint32_t pid, std::uint64_t time_ns, const Frame& frame,
                               bool returns) {
  if (naming_.style == FrameStyle::kAddress) {
    return {kNoImage, frame.mode, frame.address, false};
  }
  const CodeLocation found =
      symbols_.locate(frame, pid, time_ns, returns ? AddressUse::kReturn : AddressUse::kExact);
  const std::uint64_t back = found.use == AddressUse::kReturn ? 1 : 0;
  Location location{kNoImage, frame.mode, frame.address - back, false};
  if (found.module != nullptr) {
    location.image =
        image_of_module_[static_cast<std::size_t>(found.module - view_.modules.data())];
    if (naming_.identity == ImageIdentity::kFile) {
      location.address = found.offset - back;
    }
  }
  if (naming_.recorded && back != 0) {
    location.address += 1;
    location.returns = true;
  }
  location.has_address = found.has_address;
  // Without an address the name is all there is.
  if (!found.has_address || (naming_.style == FrameStyle::kFunction && !found.name.empty())) {
    location.code = code_of(found);
  }
  return location;
}

// The number of the innermost place of a named address. Where functions are wanted and nothing
// below them, lines are left out.
std::uint32_t LocationTable::code_of(const CodeLocation& found) {
  const CodeKey key{found.function, found.name.data(), found.inlined, found.line,
                    found.file.data()};
  const auto [known, fresh] = codes_.try_emplace(key, kNoCode);
  if (!fresh) {
    return known->second;
  }
  chain_.clear();
  symbols_.expand(found, chain_);
  std::uint32_t outer = kNoCode;
  for (std::size_t i = chain_.size(); i-- > 0;) {
    const InlineFrame& frame = chain_[i];
    const bool outermost = i + 1 == chain_.size();
    FunctionName function;
    function.name = names_.intern(frame.name);
    function.linkage = names_.intern(frame.linkage);
    function.file = names_.intern(frame.file);
    if (found.function != nullptr) {
      if (outermost && found.function->file != kNoText) {
        function.file = names_.intern(view_.names.texts[found.function->file]);
      }
      function.start_line = outermost ? found.function->line : 0;
      if (outermost && naming_.by_range) {
        function.row = static_cast<std::uint32_t>(found.function - view_.names.functions.data());
      }
      function.source = found.function->source;
      function.made_at_run_time = found.function->owner == FunctionOwner::kProcess;
    }
    outer = place_of({function_of(function), naming_.by_function ? 0 : frame.line, outer});
  }
  known->second = outer;
  return outer;
}

std::uint32_t LocationTable::function_of(const FunctionName& function) {
  const auto [number, fresh] =
      function_numbers_.try_emplace(function, static_cast<std::uint32_t>(functions_.size()));
  if (fresh) {
    functions_.push_back(function);
  }
  return number->second;
}

std::uint32_t LocationTable::place_of(const SourcePlace& place) {
  const auto [number, fresh] =
      place_numbers_.try_emplace(place, static_cast<std::uint32_t>(places_.size()));
  if (fresh) {
    places_.push_back(place);
  }
  return number->second;
}

std::uint32_t LocationTable::number_of(const Location& location) {
  const std::uint32_t number = locations_.number(location);
  if (!naming_.by_text) {
    return number;
  }
  if (number == text_of_location_.size()) {
    scratch_.clear();
    append_text(location, scratch_);
    text_of_location_.push_back(texts_.intern(scratch_));
  }
  return text_of_location_[number];
}

std::uint32_t LocationTable::unfolded(const Location& location) {
  const std::uint32_t number = folded_.number(location);
  if (number + 1 < first_part_.size()) {
    return number;
  }
  const std::size_t first = parts_.size();
  if (location.code == kNoCode) {
    parts_.push_back(number_of(location));
  }
  std::uint32_t depth = 0;
  for (std::uint32_t at = location.code; at != kNoCode; at = places_[at].outer) {
    ++depth;
  }
  const std::size_t hidden = InlinedChain::hidden(depth);
  const std::uint32_t first_hidden = depth - static_cast<std::uint32_t>(InlinedChain::kShownAtEnd);
  for (std::uint32_t at = location.code; at != kNoCode;) {
    if (hidden != 0 && depth == first_hidden) {
      Location part = location;
      part.code = place_of({function_of({names_.intern(InlinedChain::title(hidden))}), 0, kNoCode});
      part.inline_depth = naming_.by_function ? 0 : depth - 1;
      parts_.push_back(number_of(part));
      for (std::size_t i = 0; i < hidden; ++i) {
        at = places_[at].outer;
      }
      depth -= static_cast<std::uint32_t>(hidden);
    }
    const SourcePlace place = places_[at];
    Location part = location;
    // As a function it is the same wherever it was inlined.
    part.code = naming_.by_function ? place_of({place.function, 0, kNoCode}) : at;
    part.inline_depth = naming_.by_function ? 0 : depth - 1;
    --depth;
    parts_.push_back(number_of(part));
    at = place.outer;
  }
  std::reverse(parts_.begin() + static_cast<std::ptrdiff_t>(first), parts_.end());
  first_part_.push_back(parts_.size());
  return number;
}

std::uint32_t LocationTable::intern(std::uint32_t pid, std::uint64_t time_ns, const Frame& frame,
                                    bool returns) {
  Location location =
      locate(pid, time_ns, frame, returns && frame.address != 0 && view_.has_return_addresses());
  if (naming_.by_function && location.code != kNoCode) {
    location.address = 0;
    location.returns = false;
  }
  return naming_.unfold ? unfolded(location) : number_of(location);
}

std::uint32_t LocationTable::name_alone(std::string_view name) {
  FunctionName function;
  function.name = names_.intern(name);
  const auto [number, fresh] =
      function_numbers_.try_emplace(function, static_cast<std::uint32_t>(functions_.size()));
  if (fresh) {
    functions_.push_back(function);
  }
  Location location{kNoImage, FrameMode::kUser, 0, false};
  location.has_address = false;
  location.code = place_of({number->second, 0, kNoCode});
  return naming_.unfold ? unfolded(location) : number_of(location);
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

std::string_view LocationTable::name_of(const Location& location) const {
  if (std::uint32_t at = location.code; at != kNoCode) {
    while (!naming_.unfold && places_[at].outer != kNoCode) {
      at = places_[at].outer;  // the function that has the code stands for all
    }
    return names_.text(functions_[places_[at].function].name);
  }
  return {};
}

bool LocationTable::is_qualified(const Location& location) const {
  return location.code != kNoCode && location.image != kNoImage &&
         ambiguous_names_.contains(name_of(location));
}

void LocationTable::append_address(std::uint32_t number, std::string& out) const {
  const std::string_view name = name_of(locations_[number]);
  if (locations_[number].code == kNoCode) {
    append_hex(locations_[number].address, out);
  } else {
    out += name;
  }
}

void LocationTable::append_text(const Location& location, std::string& out) const {
  const std::size_t start = out.size();
  const std::string_view name = name_of(location);
  if (location.code != kNoCode) {  // the frame of an imported profile may have an empty name
    if (is_qualified(location)) {
      out += image_name(location.image);
      out += '!';
    }
    out += name;
  } else if (location.image == kNoImage) {
    append_hex(location.address - (location.returns ? 1 : 0), out);
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

}  // namespace stackpack::query
