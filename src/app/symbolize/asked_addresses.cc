#include "app/symbolize/asked_addresses.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "app/analysis/placed_callstacks.h"
#include "app/branches/image_addresses.h"
#include "app/symbolize/added_names.h"
#include "capture/life_index.h"
#include "stackpack/symbols.h"
#include "symbolize/packed_module.h"
#include "symbols/interrupt_entries.h"

namespace stackpack::app {

namespace {

/// A frame in a context, with the use of its address.
struct Seen {
  std::uint64_t address = 0;
  std::uint32_t context = 0;
  FrameMode mode = FrameMode::kUnknown;
  AddressUse use = AddressUse::kExact;
  bool called_from_image = false;

  friend bool operator==(const Seen&, const Seen&) = default;
};

struct SeenHash {
  std::size_t operator()(const Seen& seen) const {
    constexpr std::uint64_t kFactor = 0x9E37'79B9'7F4A'7C15ULL;
    std::uint64_t hash = (seen.address ^ (std::uint64_t{seen.context} << 40)) * kFactor;
    hash ^= static_cast<std::uint64_t>(seen.mode) * 4 + static_cast<std::uint64_t>(seen.use) * 2 +
            (seen.called_from_image ? 1 : 0);
    return static_cast<std::size_t>((hash ^ (hash >> 32)) * kFactor);
  }
};

// Memory that has a name and no file: what is in it was made at run time.
bool has_no_file(std::string_view path) {
  constexpr std::array<std::string_view, 7> kNames{
      "//anon", "/anon_hugepage", "/dev/zero", "/memfd:", "[heap]", "[stack", "[anon"};
  return path.empty() || std::any_of(kNames.begin(), kNames.end(), [path](std::string_view name) {
           return path.starts_with(name);
         });
}

void settle(std::vector<std::uint64_t>& addresses) {
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
}

class Collector {
 public:
  Collector(const query::CaptureView& view, const symbols::SymbolIndex& symbols,
            bool modules_as_kernel)
      : view_(view),
        symbols_(symbols),
        modules_as_kernel_(modules_as_kernel),
        lives_(view.processes) {}

  // `number`: of the context.
  void add_stack(std::span<const Frame> frames, const query::MappingContext& context,
                 std::uint32_t number) {
    bool called_from_image = false;
    for (std::size_t i = frames.size(); i-- != 0;) {  // leaf first: callers come after
      const AddressUse use = symbols_.use_of(frames, i, context.pid, context.time_ns);
      const Seen seen{frames[i].address, number, frames[i].mode, use, called_from_image};
      const auto [known, fresh] = seen_.try_emplace(seen, false);
      if (fresh) {
        known->second = add(frames[i], seen, context);
      }
      called_from_image = known->second;
    }
  }

  // Branches have ends in functions that no callstack has.
  void add_branches(const Branches& branches) {
    const ImageAddresses addresses(view_.modules);
    const auto add_end = [&](std::uint32_t image, std::uint64_t offset) {
      const auto query = image == kNoImage ? std::nullopt : addresses.find(image, offset);
      if (query) {
        add(query->frame, {}, {query->pid, query->time_ns});
      }
    };
    for (const BranchEdge& edge : branches.edges) {
      add_end(edge.from_image, edge.from);
      add_end(edge.to_image, edge.to);
    }
  }

  AskedAddresses finish() && {
    AskedAddresses asked;
    for (auto& [module, image] : images_) {
      image.module = module;
      settle(image.offsets);
      settle(image.callers);
      asked.images.push_back(std::move(image));
    }
    for (auto& [owner, addresses] : processes_) {
      settle(addresses);
      asked.processes.push_back({owner.first, owner.second, std::move(addresses)});
    }
    settle(kernel_);
    asked.kernel = std::move(kernel_);
    return asked;
  }

 private:
  // Whether it lies in an image.
  bool add(const Frame& frame, const Seen& seen, const query::MappingContext& context) {
    const CodeLocation location = symbols_.locate(frame, context.pid, context.time_ns, seen.use);
    if (!location.has_address) {
      return false;
    }
    const std::uint64_t back = location.use == AddressUse::kReturn && frame.address != 0 ? 1 : 0;
    if (frame.mode == FrameMode::kKernel &&
        (location.module == nullptr || !has_own_file(*location.module))) {
      kernel_.push_back(frame.address - back);
      return location.module != nullptr;
    }
    const bool of_process = frame.mode == FrameMode::kUser || frame.mode == FrameMode::kUnknown;
    const bool in_image = location.module != nullptr && !has_no_file(location.module->path);
    if (frame.mode == FrameMode::kKernel || (of_process && in_image)) {
      add_to_image(location, back, seen.called_from_image);
      return true;
    }
    if (of_process) {
      processes_[{context.pid, life_of(context)}].push_back(frame.address - back);
    }
    return false;
  }

  void add_to_image(const CodeLocation& location, std::uint64_t back, bool called_from_image) {
    if (location.offset >= back) {
      const auto row = static_cast<std::uint32_t>(location.module - view_.modules.data());
      AskedImage& image = images_[symbols_.image_of(row)];
      image.offsets.push_back(location.offset - back);
      if (back != 0 && called_from_image) {
        image.callers.push_back(location.offset - back);
      }
    }
  }

  // Whether an image of kernel mode is a module, in a file of its own, or one of Windows.
  [[nodiscard]] bool has_own_file(const Module& module) const {
    const bool is_named_alone =
        module.build_id_kind == BuildIdKind::kGnu && module.path.starts_with('[') &&
        !module.path.starts_with("[kernel") && !module.path.starts_with("[guest");
    return module.build_id_kind == BuildIdKind::kPdb ||
           (!modules_as_kernel_ && module.pid == kKernelPid &&
            (symbolize::is_module_file(module.path) || is_named_alone));
  }

  // The start of the process that had the pid then: the one that a look-up of names finds.
  [[nodiscard]] std::uint64_t life_of(const query::MappingContext& context) const {
    const std::uint32_t row = lives_.find(context.pid, context.time_ns).row;
    return row == capture::kNoRow ? kUnknownTime : view_.processes[row].start_ns;
  }

  const query::CaptureView& view_;
  const symbols::SymbolIndex& symbols_;
  bool modules_as_kernel_;
  capture::ProcessLives lives_;
  std::unordered_map<Seen, bool, SeenHash> seen_;  // whether it lies in an image
  std::map<std::uint32_t, AskedImage> images_;     // by their first rows
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::uint64_t>> processes_;
  std::vector<std::uint64_t> kernel_;
};

bool is_entry(const Names& names, const Function& function) {
  const std::string_view linkage =
      names.texts[function.linkage == kNoText ? function.name : function.linkage];
  return symbols::entry_kind(linkage, true) != symbols::EntryKind::kNone ||
         symbols::entry_kind(linkage, false) != symbols::EntryKind::kNone;
}

}  // namespace

Result<AskedAddresses> asked_addresses(const Reader& reader, bool modules_as_kernel,
                                       const SampleFilter& filter, std::optional<Names> names) {
  const Result<PlacedCallstacks> callstacks =
      PlacedCallstacks::open(reader, std::move(names), filter);
  if (!callstacks) {
    return callstacks.error();
  }
  Collector collector(callstacks->view(), callstacks->symbols(), modules_as_kernel);
  const Status visited = callstacks->each(
      [&](const query::MappingContext& context, std::uint32_t number,
          std::span<const Frame> frames) { collector.add_stack(frames, context, number); });
  if (!visited) {
    return visited.error();
  }
  const Result<Branches> branches = reader.branches();
  if (!branches) {
    return branches.error();
  }
  collector.add_branches(*branches);
  return std::move(collector).finish();
}

std::optional<Names> names_with_entries(const Names& old, std::span<const std::uint32_t> first_rows,
                                        std::span<const AskedOwner> parts,
                                        std::span<const NamingAnswer> answers) {
  const auto has_entry = [](const NamingAnswer& answer) {
    return std::any_of(
        answer.names.functions.begin(), answer.names.functions.end(),
        [&answer](const Function& function) { return is_entry(answer.names, function); });
  };
  if (std::none_of(answers.begin(), answers.end(), has_entry)) {
    return std::nullopt;
  }
  AddedNames names(old, first_rows);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    names.add(answers[i].names, parts[i].owner, parts[i].addresses);
  }
  return std::move(names).finish();
}

}  // namespace stackpack::app
