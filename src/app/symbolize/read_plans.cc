#include "app/symbolize/read_plans.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "io/byte_source.h"
#include "io/rooted_file.h"
#include "symbolize/elf_names.h"
#include "symbolize/linked_names.h"
#include "symbolize/pdb/pdb_reader.h"
#include "symbolize/windows/pe_image.h"
#include "symbolize/windows/symbol_store.h"

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

// What the folders have under a name, and what is beside the image below the root.
std::vector<Place> windows_places(const Module& module, std::string_view name, std::string_view id,
                                  const SymbolPlaces& places, std::string& unread) {
  std::vector<Place> all;
  for (const std::string& directory : places.directories) {
    symbolize::StoredFiles stored = symbolize::SymbolStore(directory).find(name, id);
    for (std::string& path : stored.paths) {
      all.push_back({"", std::move(path)});
    }
    unread = unread.empty() ? std::move(stored.unread) : unread;
  }
  if (places.has_root) {
    const std::string image = path_below_root(module.path);
    all.push_back({places.root, image.substr(0, image.rfind('/') + 1) + std::string(name)});
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

Status read_exports(int descriptor, const SymbolRequest& request, NameCollector& names) {
  const auto source = io::source_of_descriptor(descriptor);
  const Result<symbolize::PeImage> image = symbolize::read_pe_image(*source);
  if (!image) {
    return image.error();
  }
  NameCollector linked;
  if (const Status read = symbolize::read_pe_exports(*source, *image, request, linked); !read) {
    return read;
  }
  symbolize::add_demangled(std::move(linked).finish(), request.limits, names);
  return {};
}

// Takes a file for a plan when `fits(source)` says nothing against it, or the reason why not.
template <typename Fits>
bool take_if(const Place& place, const Fits& fits, ReadPlan& plan) {
  Result<io::RootedFile> file = io::open_rooted_file(place.root, place.path);
  if (!file) {
    return false;
  }
  const auto source = io::source_of_descriptor(file->descriptor.get());
  if (const std::string_view reason = fits(*source); !reason.empty()) {
    plan.reason = reason;
    return false;
  }
  plan.reason.clear();
  plan.found = place.root + place.path;
  plan.bytes = file->bytes;
  plan.files.push_back(std::move(file->descriptor));
  return true;
}

symbolize::PdbIdentity pdb_identity_of(const Module& module) {
  symbolize::PdbIdentity identity;
  std::copy_n(module.build_id.begin(), identity.guid.size(), identity.guid.begin());
  for (std::size_t i = 0; i < sizeof identity.age; ++i) {
    identity.age |= std::uint32_t{module.build_id[identity.guid.size() + i]} << (8 * i);
  }
  return identity;
}

// The PDB with the GUID and age of the image.
bool take_pdb(const Module& module, const symbolize::PdbIdentity& wanted,
              const SymbolPlaces& places, ReadPlan& plan) {
  const std::string_view name = symbolize::stored_name(module.debug_name);
  const auto fits = [&wanted](io::ByteSource& source) -> std::string_view {
    const Result<symbolize::PdbReader> pdb = symbolize::PdbReader::open(source);
    return !pdb                ? "not a PDB that can be read"
           : pdb->fits(wanted) ? ""
                               : reason_of(SearchEnd::kOtherBuildId);
  };
  if (name.empty()) {
    return false;
  }
  std::string unread;
  for (const Place& place :
       windows_places(module, name, symbolize::pdb_store_id(wanted), places, unread)) {
    if (take_if(place, fits, plan)) {
      plan.read = [descriptor = plan.files.front().get()](const SymbolRequest& request,
                                                          NameCollector& names) {
        return read_pdb(descriptor, request, names);
      };
      return true;
    }
  }
  if (!unread.empty()) {
    plan.reason = "compressed or elsewhere, which is not read: " + unread;
  }
  return false;
}

// Without a PDB: what the image itself exports.
void take_image(const Module& module, const symbolize::PdbIdentity& wanted,
                const SymbolPlaces& places, ReadPlan& plan) {
  const std::string_view name = symbolize::stored_name(module.path);
  const auto fits = [&wanted](io::ByteSource& source) -> std::string_view {
    const Result<symbolize::PeImage> image = symbolize::read_pe_image(source);
    if (!image) {
      return "not an image that can be read";
    }
    const bool same = std::any_of(
        image->pdbs.begin(), image->pdbs.end(),
        [&wanted](const symbolize::PdbReference& pdb) { return pdb.identity == wanted; });
    return same ? "" : reason_of(SearchEnd::kOtherBuildId);
  };
  if (name.empty()) {
    return;
  }
  std::string unread;
  for (const Place& place : windows_places(module, name, "", places, unread)) {
    if (take_if(place, fits, plan)) {
      plan.read = [descriptor = plan.files.front().get()](const SymbolRequest& request,
                                                          NameCollector& names) {
        return read_exports(descriptor, request, names);
      };
      return;
    }
  }
}

ReadPlan plan_windows(const Module& module, const SymbolPlaces& places) {
  ReadPlan plan;
  plan.reason = "no PDB";
  constexpr std::size_t kIdBytes = 20;  // GUID and age
  if (module.build_id.size() == kIdBytes) {
    const symbolize::PdbIdentity wanted = pdb_identity_of(module);
    if (!take_pdb(module, wanted, places, plan)) {
      take_image(module, wanted, places, plan);
    }
  }
  return plan;
}

}  // namespace

ReadPlan plan_image(const Module& module, const SymbolPlaces& places) {
  return module.build_id_kind == BuildIdKind::kPdb ? plan_windows(module, places)
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
