#include "app/symbolize/read_plans.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "app/listing/listed_build_id.h"
#include "io/byte_source.h"
#include "io/rooted_file.h"
#include "symbolize/elf_names.h"
#include "symbolize/linked_names.h"
#include "symbolize/pdb/pdb_reader.h"

namespace stackpack::app {

namespace {

using symbolize::FoundFiles;
using symbolize::NameCollector;
using symbolize::SearchEnd;
using symbolize::SymbolPlaces;
using symbolize::SymbolRequest;

std::string_view reason_of(SearchEnd end) {
  switch (end) {
    case SearchEnd::kFound:
      return "";
    case SearchEnd::kNoFile:
      return "no file";
    case SearchEnd::kOtherBuildId:
      return "the file there is of another build";
    case SearchEnd::kNoBuildId:
      return "the capture has no build id of it; --sysroot DIR makes its path believed";
    case SearchEnd::kNotElf:
      return "not an ELF file";
    case SearchEnd::kNotAFile:
      return "not a regular file";
  }
  return "no file";
}

// The parts of a plan that all ELF files have; `elf` are the files as the reader gets them.
ReadPlan plan_of(FoundFiles found, const SymbolPlaces& places, symbolize::ElfFiles& elf) {
  ReadPlan plan;
  plan.reason = reason_of(found.end);
  if (found.end != SearchEnd::kFound) {
    return plan;
  }
  plan.found = found.image ? found.image_path : found.debug_path;
  plan.debug_file = found.image && found.debug ? found.debug_path : "";
  plan.bytes = found.bytes;
  elf.image = found.image.get();
  elf.debug = found.debug.get();
  elf.alternate = found.alternate.get();
  elf.layout = std::move(found.layout);
  if (found.has_split) {
    constexpr unsigned kMostSplitFiles = 16'384;
    plan.new_files = kMostSplitFiles;
    plan.bytes += std::uint64_t{1} << 30;  // their sizes are not known
    elf.split = places.has_root ? symbolize::SplitFiles::kBeside : symbolize::SplitFiles::kAnywhere;
  }
  for (io::Descriptor* const file : {&found.image, &found.debug, &found.alternate}) {
    if (*file) {
      plan.files.push_back(std::move(*file));
    }
  }
  return plan;
}

ReadPlan plan_elf(const Module& module, const SymbolPlaces& places) {
  std::span<const std::uint8_t> build_id;
  if (module.build_id_kind == BuildIdKind::kGnu) {
    build_id = module.build_id;
  }
  symbolize::ElfFiles elf;
  ReadPlan plan = plan_of(symbolize::find_elf_files({module.path, build_id}, places), places, elf);
  if (!plan.files.empty()) {
    plan.read = [elf = std::move(elf)](const SymbolRequest& request, NameCollector& names) {
      return symbolize::read_elf_names(elf, request, names);
    };
  }
  return plan;
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);
}

// `C:\Windows\x.dll` as a path below a root.
std::string path_below_root(std::string_view path) {
  if (path.size() > 1 && path[1] == ':') {
    path.remove_prefix(2);
  }
  std::string text(path);
  std::replace(text.begin(), text.end(), '\\', '/');
  return text.starts_with('/') ? text : "/" + text;
}

/// Where a file may be: below a root, or on its own.
struct Place {
  std::string root;
  std::string path;
};

// Symbol stores with one and with two levels, then beside the image and in the folder itself.
std::vector<Place> pdb_places(const Module& module, const SymbolPlaces& places) {
  const std::string name(last_part(module.debug_name));
  const std::string id = listed_build_id(module);
  std::vector<Place> all;
  for (const std::string& directory : places.directories) {
    all.push_back({"", directory + "/" + name + "/" + id + "/" + name});
    all.push_back({"", directory + "/" + name.substr(0, 2) + "/" + name + "/" + id + "/" + name});
    all.push_back({"", directory + "/" + name});
  }
  if (places.has_root) {
    const std::string image = path_below_root(module.path);
    all.push_back({places.root, image.substr(0, image.rfind('/')) + "/" + name});
  }
  return all;
}

Status read_pdb(int descriptor, const SymbolRequest& request, NameCollector& names) {
  const auto source = io::source_of_descriptor(descriptor);
  const Result<symbolize::PdbReader> pdb = symbolize::PdbReader::open(*source);
  if (!pdb) {
    return pdb.error();
  }
  NameCollector linked;
  if (const auto read = pdb->name(request, linked); !read) {
    return read.error();
  }
  symbolize::add_demangled(std::move(linked).finish(), request.limits, names);
  return {};
}

ReadPlan plan_pdb(const Module& module, const SymbolPlaces& places) {
  ReadPlan plan;
  plan.reason = "no PDB";
  constexpr std::size_t kIdBytes = 20;
  if (module.build_id.size() != kIdBytes || last_part(module.debug_name).empty()) {
    return plan;
  }
  symbolize::PdbIdentity wanted;
  std::copy_n(module.build_id.begin(), wanted.guid.size(), wanted.guid.begin());
  for (std::size_t i = 0; i < sizeof(std::uint32_t); ++i) {
    wanted.age |= std::uint32_t{module.build_id[wanted.guid.size() + i]} << (8 * i);
  }
  for (const Place& place : pdb_places(module, places)) {
    Result<io::RootedFile> file = io::open_rooted_file(place.root, place.path);
    if (!file) {
      continue;
    }
    const auto source = io::source_of_descriptor(file->descriptor.get());
    const Result<symbolize::PdbReader> pdb = symbolize::PdbReader::open(*source);
    if (!pdb || !pdb->fits(wanted)) {
      plan.reason = pdb ? reason_of(SearchEnd::kOtherBuildId) : "not a PDB that can be read";
      continue;
    }
    plan.reason.clear();
    plan.found = place.root + place.path;
    plan.bytes = file->bytes;
    plan.files.push_back(std::move(file->descriptor));
    plan.read = [descriptor = plan.files.front().get()](const SymbolRequest& request,
                                                        NameCollector& names) {
      return read_pdb(descriptor, request, names);
    };
    break;
  }
  return plan;
}

}  // namespace

ReadPlan plan_image(const Module& module, const SymbolPlaces& places) {
  return module.build_id_kind == BuildIdKind::kPdb ? plan_pdb(module, places)
                                                   : plan_elf(module, places);
}

ReadPlan plan_kernel_image(const Module& kernel, const KernelReference& reference,
                           const SymbolPlaces& places) {
  symbolize::ElfFiles elf;
  ReadPlan plan;
  if (kernel.build_id_kind != BuildIdKind::kGnu) {
    plan.reason = "the capture has no build id of it; --kallsyms FILE names it";
    return plan;
  }
  plan = plan_of(symbolize::find_elf_files({"/vmlinux", kernel.build_id}, places), places, elf);
  if (plan.files.empty()) {
    plan.reason = "no vmlinux of that build; --kallsyms FILE names it, too";
    return plan;
  }
  plan.read = [elf = std::move(elf), reference](const SymbolRequest& request,
                                                NameCollector& names) mutable {
    std::uint64_t slide = 0;
    if (!reference.symbol.empty()) {
      const auto linked = symbolize::elf_symbol_address(elf, reference.symbol);
      if (!linked) {
        return Status(Error{ErrorCode::kCorrupt, kNoOffset, "elf: no such symbol"});
      }
      slide = reference.address - *linked;
    }
    // Offsets are addresses of the running kernel.
    for (symbolize::ElfSegment& segment : elf.layout.segments) {
      segment.offset = segment.address + slide;
    }
    return symbolize::read_elf_names(elf, request, names);
  };
  return plan;
}

}  // namespace stackpack::app
