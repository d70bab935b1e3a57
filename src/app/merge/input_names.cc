#include "app/merge/input_names.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "capture/interval_lists.h"
#include "capture/rebased_addresses.h"
#include "capture/synthetic_frames.h"
#include "core/sort_rows.h"
#include "symbols/symbol_index.h"

namespace stackpack::app {

namespace {

// Ranges of code that no image has by itself: whose they are.
using RunTimeOwner = std::tuple<FunctionOwner, std::uint32_t, std::uint64_t>;

RunTimeOwner owner_of_range(const CodeRange& range) {
  return {range.owner, range.pid, range.life_ns};
}

std::uint64_t end_of(const CodeRange& range) {
  const std::uint64_t end = range.start + range.size;
  return end < range.start ? ~std::uint64_t{0} : end;
}

constexpr bool kWhen[] = {false, true};

class NameReader {
 public:
  NameReader(const Symbols& symbols, std::span<const InputImage> images, bool merged,
             NameUnion& names)
      : symbols_(symbols),
        input_(symbols.names()),
        modules_(symbols.modules()),
        images_(images),
        merged_(merged),
        calls_(input_, names),
        names_(names) {}

  void run() {
    find_parts();
    for (const CodeLine& line : input_.lines) {
      if (line.owner == FunctionOwner::kImage) {
        each_part(line, [&](std::uint32_t image, std::uint64_t start) { add(line, image, start); });
      } else {
        lines_[owner_of_range(line)].push_back(&line);
      }
    }
    for (const Function& function : input_.functions) {
      if (function.owner == FunctionOwner::kImage) {
        each_part(function, [&](std::uint32_t image, std::uint64_t start) {
          names_.add_function(image, start, input_, function);
        });
      } else {
        add_run_time(function);
      }
    }
    for (const FunctionAlias& row : input_.aliases) {
      names_.add_alias(input_.texts[row.name], input_.texts[row.alias]);
    }
    add_named_modules();
  }

 private:
  /// Offsets in a file that are offsets in an image.
  struct Part {
    std::uint32_t image = 0;
    std::uint64_t shift = 0;
    std::uint64_t first = 0;  // offset in the file
    std::uint64_t end = 0;
  };

  struct Parts {
    std::vector<Part> all;                        // by first offset, where there are lists
    std::optional<capture::IntervalLists> lists;  // only of many
  };
  static constexpr std::size_t kFew = 32;

  // A row of names stands for all modules with the same path and build id: mappings of several
  // parts of a file, which without a build id are images of their own.
  void find_parts() {
    first_rows_ = symbols::first_rows_of(modules_);
    for (std::uint32_t row = 0; row < modules_.size(); ++row) {
      if (images_[row].image == InputImage::kNone) {
        continue;
      }
      const Module& module = modules_[row];
      const Part part{images_[row].image, images_[row].shift, module.file_offset,
                      module.file_offset + module.size};
      std::vector<Part>& parts = parts_[merged_ ? row : first_rows_[row]].all;
      const bool known = parts.size() < kFew &&
                         std::any_of(parts.begin(), parts.end(),
                                     [&part](const Part& other) { return covers(other, part); });
      if (!known) {
        parts.push_back(part);
      }
    }
    for (auto& [row, parts] : parts_) {
      if (parts.all.size() >= kFew) {
        list_parts(parts);
      }
    }
  }

  static bool covers(const Part& part, const Part& other) {
    return part.image == other.image && part.shift == other.shift && part.first <= other.first &&
           part.end >= other.end;
  }

  // A file that is mapped in many parts, or a hostile one: no part is compared with all others.
  static void list_parts(Parts& parts) {
    std::vector<Part>& all = parts.all;
    core::sort_rows(all, [](const Part& a, const Part& b) {
      return std::tuple(a.image, a.shift, a.first, b.end) <
             std::tuple(b.image, b.shift, b.first, a.end);
    });
    // What is left of one place: ends rise with the beginnings.
    std::size_t kept = 0;
    for (const Part& part : all) {
      if (kept == 0 || !covers(all[kept - 1], part)) {
        all[kept++] = part;
      }
    }
    all.resize(kept);
    core::sort_rows(all, [](const Part& a, const Part& b) { return a.first < b.first; });
    std::vector<capture::IntervalLists::Range> ranges;
    ranges.reserve(all.size());
    for (const Part& part : all) {
      // A return address may be right behind the last byte.
      ranges.push_back({part.first, part.end + 1});
    }
    parts.lists.emplace(ranges);
  }

  // Calls visit(part) for those that have the first offset of a range, or begin in the rest.
  template <typename Visit>
  static void each_listed(const Parts& parts, const CodeRange& range, const Visit& visit) {
    parts.lists->each_list(range.start, [&](std::size_t begin, std::size_t end) {
      for (const std::uint32_t at : parts.lists->entries().subspan(begin, end - begin)) {
        visit(parts.all[at]);
      }
    });
    const auto after = [&parts](std::uint64_t offset) {
      return std::partition_point(parts.all.begin(), parts.all.end(),
                                  [offset](const Part& part) { return part.first <= offset; });
    };
    for (auto at = after(range.start); at != parts.all.end() && at->first < end_of(range); ++at) {
      visit(*at);
    }
  }

  template <typename Add>
  void each_part(const CodeRange& range, Add add) {
    if (range.module >= first_rows_.size()) {
      return;
    }
    const auto parts = parts_.find(merged_ ? range.module : first_rows_[range.module]);
    if (parts == parts_.end()) {
      return;
    }
    if (!merged_ && parts->second.lists) {
      each_listed(parts->second, range,
                  [&](const Part& part) { add(part.image, range.start - part.shift); });
      return;
    }
    for (const Part& part : parts->second.all) {
      // Symbols of a kernel are elsewhere; a return address may be right behind the last byte.
      if (merged_ || (range.start <= part.end && end_of(range) > part.first)) {
        add(part.image, range.start - part.shift);
      }
    }
  }

  void add(const CodeLine& line, std::uint32_t image, std::uint64_t start) {
    names_.add_line(image, start, line.size, calls_[line.inlined], input_.texts[line.file],
                    line.line);
  }

  // Whether code of a process or the kernel begins in an image, as a callstack would be located
  // when the code was new, or in the end: of most functions nobody knows when they were made.
  bool begins_in_image(const Function& function, std::uint64_t& offset,
                       std::uint32_t& image) const {
    const bool kernel = symbols::is_of_kernel(function);
    const bool named = capture::RebasedAddresses::is_name(function.start);
    const FrameMode mode = named    ? FrameMode::kUnknown
                           : kernel ? FrameMode::kKernel
                                    : FrameMode::kUser;
    const std::uint64_t life = function.life_ns == kUnknownTime ? 0 : function.life_ns;
    const std::uint64_t born = function.born_ns == kUnknownTime ? life : function.born_ns;
    return std::any_of(std::begin(kWhen), std::end(kWhen), [&](bool in_the_end) {
      return place_of(symbols_.locate({mode, function.start}, function.pid,
                                      in_the_end ? kUnknownTime - 1 : born, AddressUse::kExact),
                      modules_, images_, offset, image);
    });
  }

  void add_run_time(const Function& function) {
    const auto lines = lines_.find(owner_of_range(function));
    std::uint32_t image = 0;
    std::uint64_t offset = 0;
    const bool is_name = function.owner == FunctionOwner::kKernel &&
                         capture::SyntheticFrames::in_range(function.start);
    const bool in_image = !is_name && begins_in_image(function, offset, image);
    if (in_image) {
      names_.add_function(image, offset, input_, function);
    }
    NameUnion::NamedCode name;
    name.function = &function;
    bool covered = false;
    if (lines != lines_.end()) {
      auto at =
          std::partition_point(lines->second.begin(), lines->second.end(),
                               [&](const CodeLine* line) { return line->start < function.start; });
      // The line that the first byte is in may begin before it.
      at -= at != lines->second.begin() ? 1 : 0;
      for (; at != lines->second.end() && (*at)->start < end_of(function); ++at) {
        const CodeLine& line = **at;
        if (line.born_ns != kUnknownTime && line.born_ns != function.born_ns) {
          continue;
        }
        if (end_of(line) <= function.start) {
          continue;
        }
        covered |= line.start <= function.start && end_of(line) >= end_of(function);
        if (in_image) {
          add(line, image, offset + (line.start - function.start));
          continue;
        }
        name.has_code = true;
        name.file = input_.texts[line.file];
        name.line = line.line;
        name.inlined = calls_[line.inlined];
        names_.add_name(input_, name);
      }
    }
    if (!in_image && !covered) {
      name.has_code = false;
      names_.add_name(input_, name);
    }
  }

  // Frames that are names in files of version 1.0.
  void add_named_modules() {
    for (const Module& module : modules_) {
      if (module.size != 1 || !module.build_id.empty()) {
        continue;
      }
      const CodeLocation location =
          symbols_.locate({FrameMode::kUnknown, module.base}, module.pid, 0, AddressUse::kExact);
      NameUnion::NamedCode name;
      if (location.module == nullptr && location.function == nullptr &&
          name_of(location, calls_, name)) {
        names_.add_name(input_, name);
      }
    }
  }

  const Symbols& symbols_;
  const Names& input_;
  std::span<const Module> modules_;
  std::span<const InputImage> images_;
  bool merged_;
  InputCalls calls_;
  NameUnion& names_;
  std::vector<std::uint32_t> first_rows_;
  std::map<std::uint32_t, Parts> parts_;
  std::map<RunTimeOwner, std::vector<const CodeLine*>> lines_;  // by start
};

}  // namespace

InputCalls::InputCalls(const Names& input, NameUnion& names) {
  numbers_.reserve(input.inlined.size());
  for (const InlinedCall& call : input.inlined) {
    const std::uint32_t parent =
        call.parent < numbers_.size() ? numbers_[call.parent] : NameUnion::kNone;
    numbers_.push_back(names.call(parent, input, call));
  }
}

bool name_of(const CodeLocation& location, const InputCalls& calls, NameUnion::NamedCode& name) {
  name = {};
  name.function = location.function;
  name.name = location.name;
  if (location.function == nullptr) {
    return !location.has_address && location.module == nullptr;
  }
  name.file = location.file;
  name.line = location.line;
  name.inlined = calls[location.inlined];
  return location.function->owner != FunctionOwner::kImage;
}

namespace {

// Sources of .NET say by a mapping of its own to which assembly a method belongs: all of them would
// begin at the same place of that file.
bool is_mapping_of_method(const CodeLocation& location) {
  const Function* const function = location.function;
  return function != nullptr && function->source == FunctionSource::kClr &&
         function->owner == FunctionOwner::kProcess && function->start == location.module->base &&
         function->size == location.module->size;
}

}  // namespace

bool place_of(const CodeLocation& location, std::span<const Module> modules,
              std::span<const InputImage> images, std::uint64_t& offset, std::uint32_t& image) {
  if (location.module == nullptr || is_mapping_of_method(location)) {
    return false;
  }
  const auto row = static_cast<std::size_t>(location.module - modules.data());
  image = images[row].image;
  offset = location.offset - images[row].shift;
  return image != InputImage::kNone && offset <= capture::RebasedAddresses::kMostExtent;
}

void add_input_names(const Symbols& symbols, std::span<const InputImage> images, bool merged,
                     NameUnion& names) {
  NameReader(symbols, images, merged, names).run();
}

}  // namespace stackpack::app
