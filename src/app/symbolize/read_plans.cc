#include "app/symbolize/read_plans.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "app/symbolize/caller_check.h"
#include "app/symbolize/windows_plans.h"
#include "io/byte_source.h"
#include "symbolize/elf_names.h"
#include "symbolize/split_files.h"
#include "symbolize/xz_stream.h"

namespace stackpack::app {

namespace {

using symbolize::FoundFiles;
using symbolize::NameCollector;
using symbolize::SearchEnd;
using symbolize::SymbolPlaces;
using symbolize::SymbolRequest;

// The parts of a plan that all ELF files have; `elf` are the files as the reader gets them.
ReadPlan plan_of(FoundFiles found, const SymbolPlaces& places, symbolize::ElfFiles& elf) {
  ReadPlan plan;
  plan.reason = symbolize::reason_of(
      found.end, "the capture has no build id of it; --sysroot DIR makes its path believed");
  if (found.end != SearchEnd::kFound) {
    return plan;
  }
  plan.found = found.image ? found.image_path : found.debug_path;
  plan.reason = found.by_path ? "believed by its path: the capture has no build id of it" : "";
  plan.debug_file = found.image && found.debug ? found.debug_path : "";
  if (!symbolize::reads_elf_names()) {
    plan.reason = "found, but symbols of ELF files are read on Linux only";
    return plan;
  }
  plan.bytes = found.bytes;
  elf.image = found.image.get();
  elf.debug = found.debug.get();
  elf.alternate = found.alternate.get();
  elf.package = found.package.get();
  elf.layout = std::move(found.layout);
  elf.packed = found.packed;
  plan.bytes += found.packed ? symbolize::kMostUnpackedBytes : 0;
  if (found.has_split) {
    constexpr unsigned kMostSplitFiles = 32'768;
    plan.new_files = kMostSplitFiles;
    plan.bytes += std::uint64_t{1} << 30;  // their sizes are not known
    elf.split = places.has_root ? symbolize::SplitFiles::kBeside : symbolize::SplitFiles::kAnywhere;
    symbolize::SplitFolders where{{}, !places.has_root};
    for (const io::Descriptor* const file : {&found.image, &found.debug}) {
      if (*file) {
        where.folders.push_back(symbolize::folder_of_file(file->get()));
      }
    }
    plan.open = [where = std::move(where)](const std::string& path) {
      return symbolize::open_split_file(path, where);
    };
  }
  for (io::Descriptor* const file :
       {&found.image, &found.debug, &found.alternate, &found.package}) {
    if (*file) {
      plan.files.push_back(std::move(*file));
    }
  }
  return plan;
}

// Whether a file that is believed by its path has other code than what ran.
std::optional<CallerCheck> callers_against(const FoundFiles& found,
                                           std::span<const std::uint64_t> callers) {
  if (!found.by_path || !found.image || found.packed || !found.layout.has_image_offsets) {
    return std::nullopt;
  }
  const auto file = io::source_of_descriptor(found.image.get());
  const CallerCheck check = check_callers(*file, found.layout.machine, callers);
  return check.speaks_against() ? std::optional(check) : std::nullopt;
}

ReadPlan plan_elf(const Module& module, const ImageTraces& traces, const SymbolPlaces& places) {
  std::span<const std::uint8_t> build_id;
  if (module.build_id_kind == BuildIdKind::kGnu) {
    build_id = module.build_id;
  }
  FoundFiles found = symbolize::find_elf_files({module.path, build_id, traces.mappings}, places);
  if (const auto against = callers_against(found, traces.callers)) {
    ReadPlan refused;
    refused.reason = std::to_string(against->after_calls) + " of " +
                     std::to_string(against->looked_at) +
                     " return addresses follow a call in the file with its path: it has changed";
    return refused;
  }
  symbolize::ElfFiles elf;
  ReadPlan plan = plan_of(std::move(found), places, elf);
  if (!plan.files.empty()) {
    elf.build_id.assign(build_id.begin(), build_id.end());
    plan.read = [elf = std::move(elf)](const SymbolRequest& request, NameCollector& names) {
      return symbolize::read_elf_names(elf, request, names);
    };
  }
  return plan;
}

}  // namespace

ReadPlan plan_image(const Module& module, const ImageTraces& traces, const SymbolPlaces& places) {
  return module.build_id_kind == BuildIdKind::kPdb ? plan_windows_image(module, places)
                                                   : plan_elf(module, traces, places);
}

ReadPlan plan_kernel_image(const Module& kernel, const KernelReference& reference,
                           const SymbolPlaces& places) {
  symbolize::ElfFiles elf;
  ReadPlan plan;
  if (kernel.build_id_kind != BuildIdKind::kGnu) {
    plan.reason = "the capture has no build id of it; --kallsyms FILE names it";
    return plan;
  }
  FoundFiles found = symbolize::find_elf_files({"/vmlinux", kernel.build_id}, places);
  // Offsets are addresses of the running kernel, and those a debug file has.
  found.end = found.end == SearchEnd::kNotPlaced ? SearchEnd::kFound : found.end;
  plan = plan_of(std::move(found), places, elf);
  if (plan.found.empty()) {
    plan.reason = "no vmlinux of that build; --kallsyms FILE names it, too";
  }
  if (plan.files.empty()) {
    return plan;
  }
  plan.read = [elf = std::move(elf), reference](const SymbolRequest& request,
                                                NameCollector& names) mutable {
    std::uint64_t slide = 0;
    if (!reference.symbol.empty()) {
      const auto linked = symbolize::elf_symbol_address(elf, reference.symbol);
      if (!linked) {
        names.losses().kernel_not_placed = 1;
        return Status();
      }
      slide = reference.address - *linked;
    }
    for (symbolize::ElfSegment& segment : elf.layout.segments) {
      segment.offset = segment.address + slide;
      segment.file_bytes = segment.memory_bytes;
    }
    return symbolize::read_elf_names(elf, request, names);
  };
  return plan;
}

}  // namespace stackpack::app
