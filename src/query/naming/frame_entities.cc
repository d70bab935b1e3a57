#include "query/naming/frame_entities.h"

#include <memory>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "capture/memory_name.h"
#include "query/naming/inlined_chain.h"
#include "query/selection/file_name.h"

namespace stackpack::query {

namespace {

std::string place_text(std::string_view file, std::uint32_t line) {
  return file.empty() ? "" : line == 0 ? std::string(file) : fmt::format("{}:{}", file, line);
}

// Where the instruction is, of a caller its last byte: in the file of its image, or in memory.
std::string offset_text(const Frame& frame, const CodeLocation& location) {
  const std::uint64_t back = location.use == AddressUse::kReturn ? 1 : 0;
  return fmt::format("+0x{:x}",
                     (location.module == nullptr ? frame.address : location.offset) - back);
}

std::string place_of(const Frame& frame, const CodeLocation& location, const InlineFrame& function,
                     FrameGrain grain) {
  if (grain == FrameGrain::kLine) {
    return place_text(function.file, function.line);
  }
  const bool has_line = !function.file.empty() && function.line != 0;
  return grain == FrameGrain::kUnlinedAddress && !has_line && location.has_address
             ? offset_text(frame, location)
             : "";
}

std::string unnamed_text(const Frame& frame, const CodeLocation& location, FrameGrain grain) {
  // Where a caller is, and not where it goes on: as exports name it.
  const std::uint64_t back = location.use == AddressUse::kReturn ? 1 : 0;
  if (grain == FrameGrain::kAddress) {
    return fmt::format("0x{:x}", frame.address);
  }
  if (grain == FrameGrain::kOffset && location.module == nullptr) {
    return fmt::format("0x{:x}", frame.address - back);
  }
  if (grain == FrameGrain::kOffset) {
    return fmt::format("{}+0x{:x}", file_name_of(*location.module), location.offset - back);
  }
  return code_without_name(frame, location);
}

CodeMode mode_of(const Frame& frame, const CodeLocation& location) {
  const bool made_at_run_time =
      location.function != nullptr && is_made_at_run_time(*location.function);
  return code_mode(frame.mode, made_at_run_time);
}

}  // namespace

std::string code_without_name(const Frame& frame, const CodeLocation& location) {
  if (location.module == nullptr) {
    return frame.mode == FrameMode::kKernel ? "[kernel]" : "[unknown]";
  }
  const std::string_view module = file_name_of(*location.module);
  return module.starts_with('[') ? std::string(module) : fmt::format("[{}]", module);
}

std::uint64_t FrameEntities::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = key.frame.address * 0x9E37'79B9'7F4A'7C15ULL;
  hash ^= (std::uint64_t{key.context} << 8) | (static_cast<std::uint64_t>(key.frame.mode) << 1) |
          static_cast<std::uint64_t>(key.use);
  hash = (hash ^ (hash >> 32)) * 0xD6E8'FEB8'6659'FD93ULL;
  return hash ^ (hash >> 32);
}

std::uint32_t FrameEntities::number_of(FrameEntity entity) {
  entity.aliases = aliases_of(entity.function.empty() ? entity.name : entity.function);
  return entities_.number(std::move(entity));
}

std::uint32_t FrameEntities::whole_of(std::uint32_t number) {
  if (entities_[number].function.empty()) {
    return number;
  }
  if (number >= wholes_.size()) {
    wholes_.resize(entities_.size());
  }
  if (wholes_[number] == 0) {
    FrameEntity whole = entities_[number];
    whole.function.clear();
    whole.function_module.clear();
    wholes_[number] = number_of(std::move(whole)) + 1;
  }
  return wholes_[number] - 1;
}

std::vector<AliasList> FrameEntities::aliases_of(std::string_view name) {
  if (!aliases_) {
    const Names& names = selection_.view().names;
    std::unordered_map<std::string_view, std::vector<std::string>> lists;
    for (const FunctionAlias& row : names.aliases) {
      lists[names.texts[row.name]].emplace_back(names.texts[row.alias]);
    }
    aliases_.emplace();
    for (auto& [of, list] : lists) {
      aliases_->emplace(of, AliasList{std::make_shared<std::vector<std::string>>(std::move(list))});
    }
  }
  const auto found = aliases_->find(name);
  return found == aliases_->end() ? std::vector<AliasList>() : std::vector{found->second};
}

std::string FrameEntities::made_by(const MappingContext& context) {
  const std::vector<Process>& processes = selection_.view().processes;
  if (!lives_) {
    lives_.emplace(processes);
  }
  const std::uint32_t row = lives_->find(context.pid, context.time_ns).row;
  return row == capture::kNoRow || processes[row].name.empty() ? "[JIT]"
                                                               : "[JIT] " + processes[row].name;
}

std::string FrameEntities::group_text(const Module* image, const std::string& module) const {
  std::string group = image == nullptr ? std::string() : group_of_(*image);
  if (!group.empty()) {
    return group;
  }
  return module.starts_with('[') ? module : '[' + module + ']';
}

std::string FrameEntities::module_title(const Frame& frame, const Module* image,
                                        const std::string& module) const {
  const std::string title =
      !module.empty() ? module : unnamed_text(frame, {}, FrameGrain::kFunction);
  return group_of_ ? group_text(image, title) : title;
}

FrameEntities::Range FrameEntities::resolve(const Key& key) {
  const MappingContext& context = selection_.contexts()[key.context];
  const symbols::SymbolIndex& symbols = selection_.symbols();
  const CodeLocation location = symbols.locate(key.frame, context.pid, context.time_ns, key.use);
  const bool has_image = location.module != nullptr;
  // Code that was made at run time may have an image: .NET says of which assembly a method is.
  const bool of_process = location.function != nullptr && is_made_at_run_time(*location.function) &&
                          (!has_image || capture::is_memory_name(location.module->path));
  const std::string module(of_process  ? made_by(context)
                           : has_image ? std::string(file_name_of(*location.module))
                                       : std::string());
  Range range{static_cast<std::uint32_t>(lists_.size()), 0};
  const CodeMode mode = mode_of(key.frame, location);
  const bool by_module = grain_ == FrameGrain::kModule;
  const std::string title =
      by_module ? module_title(key.frame, of_process ? nullptr : location.module, module) : "";
  // `file`: counts under it, of the function or inlined call that has the code.
  const auto add = [&](FrameEntity code, std::string_view file = {}) {
    const std::string& whole = by_module ? title : std::string(file);
    if (!whole.empty()) {
      FrameEntity entity{whole, "", "", mode};
      if (keeps_functions_) {
        entity.function = std::move(code.name);
        entity.function_module = std::move(code.module);
      }
      code = std::move(entity);
    }
    lists_.push_back(number_of(std::move(code)));
    ++range.count;
  };
  if ((by_module && !keeps_functions_) ||
      (location.has_address && (location.name.empty() || grain_ == FrameGrain::kAddress))) {
    add({unnamed_text(key.frame, location, by_module ? FrameGrain::kFunction : grain_), module, "",
         mode});
    return range;
  }
  inlined_.clear();
  symbols.expand(location, inlined_);
  const std::size_t hidden = folds_inlined_ ? InlinedChain::hidden(inlined_.size()) : 0;
  for (std::size_t i = 0; i < inlined_.size(); ++i) {
    if (hidden != 0 && i == InlinedChain::kShownAtEnd) {
      add({InlinedChain::title(hidden), module, "", CodeMode::kInlined});
      i += hidden;
    }
    const InlineFrame& frame = inlined_[i];
    const bool outermost = &frame == &inlined_.back();
    std::string place = place_of(key.frame, location, frame, grain_);
    if (grain_ == FrameGrain::kCodeAddress && has_image && location.has_address) {
      place = std::to_string(location.module - selection_.view().modules.data()) +
              offset_text(key.frame, location);
    }
    const std::string unlined = of_process ? module : code_without_name(key.frame, location);
    add({std::string(linkage_ ? frame.linkage : frame.name), module, std::move(place),
         outermost ? mode : CodeMode::kInlined},
        grain_ != FrameGrain::kFile ? std::string_view()
        : frame.file.empty()        ? std::string_view(unlined)
                                    : frame.file);
  }
  return range;
}

std::span<const std::uint32_t> FrameEntities::of(const Frame& frame, AddressUse use,
                                                 std::uint32_t context) {
  const Key key{frame, use, context};
  const std::uint32_t number = known_.number(key);
  if (number == ranges_.size()) {
    ranges_.push_back(resolve(key));
  }
  return std::span(lists_).subspan(ranges_[number].first, ranges_[number].count);
}

}  // namespace stackpack::query
