#include "app/symbolize/read_plans.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/symbolize/caller_check.h"
#include "app/symbolize/image_names.h"
#include "io/byte_source.h"
#include "io/system_file.h"
#include "stackpack/model.h"
#include "symbolize/elf_names.h"
#include "symbolize/linked_names.h"
#include "symbolize/pdb/pdb_reader.h"
#include "symbolize/split_files.h"
#include "symbolize/symbol_files.h"
#include "symbolize/windows/pe_image.h"
#include "symbolize/windows/ready_to_run.h"
#include "symbolize/windows/symbol_store.h"
#include "symbolize/xz_stream.h"

namespace stackpack::app {

namespace {

// How the names of an image are read that has a PDB's GUID and age: by that PDB, from a symbol
// store or a folder of `places`, or beside the image below the root; else by the exported
// functions of the image itself, if it is there and names that PDB.
ReadPlan plan_windows_image(const Module& module, const symbolize::SymbolPlaces& places);

using symbolize::NameCollector;
using symbolize::PdbIdentity;
using symbolize::StoredFiles;
using symbolize::SymbolPlaces;
using symbolize::SymbolRequest;

// `C:\Windows\x.dll` as a path below a root.
std::string path_below_root(std::string_view path) {
  if (path.size() > 1 && path[1] == ':') {
    path.remove_prefix(2);
  }
  std::string text(path);
  std::replace(text.begin(), text.end(), '\\', '/');
  return text.starts_with('/') ? text : "/" + text;
}

// Where a file may be: below a root, or on its own.
struct FilePlace {
  std::string root;
  std::string path;
};

std::optional<PdbIdentity> identity_of(const Module& module) {
  PdbIdentity identity;
  if (module.build_id.size() != identity.guid.size() + sizeof(identity.age)) {
    return std::nullopt;
  }
  std::copy_n(module.build_id.begin(), identity.guid.size(), identity.guid.begin());
  for (std::size_t i = 0; i < sizeof(identity.age); ++i) {
    identity.age |= std::uint32_t{module.build_id[identity.guid.size() + i]} << (8 * i);
  }
  return identity;
}

Status name_by_pdb(io::ByteSource& source, const SymbolRequest& request, NameCollector& names) {
  const Result<symbolize::PdbReader> pdb = symbolize::PdbReader::open(source);
  if (!pdb) {
    return pdb.error();
  }
  const Result<symbolize::PdbDamage> damage = pdb->name(request, names);
  if (!damage) {
    return damage.error();
  }
  names.losses().damaged_parts += damage->modules + damage->tables;
  return {};
}

Status name_by_exports(io::ByteSource& source, const SymbolRequest& request, NameCollector& names) {
  const Result<symbolize::PeImage> image = symbolize::read_pe_image(source);
  names.losses().functions_there = 1;  // else it would not have been taken
  return image ? symbolize::read_pe_exports(source, *image, request, names) : image.error();
}

Status name_by_methods(io::ByteSource& source, const SymbolRequest& request, NameCollector& names) {
  const Result<symbolize::PeImage> image = symbolize::read_pe_image(source);
  names.losses().functions_there = 1;  // else it would not have been taken
  return image ? symbolize::read_precompiled_methods(source, *image, request, names)
               : image.error();
}

using ReadNames = Status (*)(io::ByteSource&, const SymbolRequest&, NameCollector&);

// Makes the plan one that reads the file, whose names are as linked.
void read_file(ReadPlan& plan, const FilePlace& place, io::RootedFile file, ReadNames read) {
  plan.found = place.root + place.path;
  plan.bytes = file.bytes;
  plan.files.push_back(std::move(file.descriptor));
  plan.read = [descriptor = plan.files.front().get(), read](const SymbolRequest& request,
                                                            NameCollector& names) {
    const auto source = io::source_of_descriptor(descriptor);
    NameCollector linked;
    if (const Status done = read(*source, request, linked); !done) {
      return done;
    }
    names.losses() = linked.losses();
    symbolize::add_demangled(std::move(linked).finish(), request.limits, names);
    return Status();
  };
}

class WindowsSearch {
 public:
  WindowsSearch(const Module& module, const PdbIdentity& wanted, const SymbolPlaces& places)
      : module_(module), wanted_(wanted), places_(places) {}

  ReadPlan run() {
    plan_.reason = "no PDB";
    if (find_pdb()) {
      plan_.reason.clear();
    } else if (find_image()) {
      plan_.reason += "; " + what_of_image_ + " only";
    }
    return std::move(plan_);
  }

 private:
  bool find_pdb() {
    const std::string_view name = symbolize::stored_name(module_.debug_name);
    if (name.empty()) {
      return false;
    }
    for (const std::string& directory : places_.directories) {
      const StoredFiles stored =
          symbolize::SymbolStore(directory).find(name, symbolize::pdb_store_id(wanted_));
      if (!stored.unread.empty()) {
        plan_.reason = stored.unread.ends_with('_')
                           ? "its PDB is compressed: expand the .pd_ file first"
                           : "file.ptr says that its PDB is elsewhere";
      }
      if (std::any_of(stored.paths.begin(), stored.paths.end(), [this](const std::string& path) {
            return take_pdb({"", path});
          })) {
        return true;
      }
    }
    const std::string image = path_below_root(module_.path);
    return places_.has_root &&
           take_pdb({places_.root, image.substr(0, image.rfind('/') + 1) + std::string(name)});
  }

  bool take_pdb(const FilePlace& place) {
    Result<io::RootedFile> file = io::open_rooted_file(place.root, place.path);
    if (!file) {
      return false;
    }
    const auto source = io::source_of_descriptor(file->descriptor.get());
    const Result<symbolize::PdbReader> pdb = symbolize::PdbReader::open(*source);
    if (!pdb || !pdb->fits(wanted_)) {
      plan_.reason =
          pdb ? "the PDB there is of another build" : "the PDB there is none that is read";
      return false;
    }
    read_file(plan_, place, std::move(*file), &name_by_pdb);
    return true;
  }

  bool find_image() {
    const std::string_view name = symbolize::stored_name(module_.path);
    if (name.empty()) {
      return false;
    }
    for (const std::string& directory : places_.directories) {
      const std::vector<std::string> paths = symbolize::SymbolStore(directory).find_all(name);
      if (std::any_of(paths.begin(), paths.end(), [this](const std::string& path) {
            return take_image({"", path});
          })) {
        return true;
      }
    }
    return places_.has_root && take_image({places_.root, path_below_root(module_.path)});
  }

  bool take_image(const FilePlace& place) {
    Result<io::RootedFile> file = io::open_rooted_file(place.root, place.path);
    if (!file) {
      return false;
    }
    const auto source = io::source_of_descriptor(file->descriptor.get());
    const Result<symbolize::PeImage> image = symbolize::read_pe_image(*source);
    const bool same = image && std::any_of(image->pdbs.begin(), image->pdbs.end(),
                                           [this](const symbolize::PdbReference& pdb) {
                                             return pdb.identity == wanted_;
                                           });
    if (same && symbolize::has_precompiled_methods(*source, *image)) {
      what_of_image_ = "methods that were compiled ahead";
      read_file(plan_, place, std::move(*file), &name_by_methods);
      return true;
    }
    if (!same || !symbolize::has_export_ends(*image)) {
      return false;
    }
    what_of_image_ = "exported functions";
    read_file(plan_, place, std::move(*file), &name_by_exports);
    return true;
  }

  const Module& module_;
  PdbIdentity wanted_;
  const SymbolPlaces& places_;
  ReadPlan plan_;
  std::string what_of_image_;  // that it names, without its PDB
};

ReadPlan plan_windows_image(const Module& module, const SymbolPlaces& places) {
  const std::optional<PdbIdentity> wanted = identity_of(module);
  if (!wanted) {
    ReadPlan plan;
    plan.reason = "no PDB";
    return plan;
  }
  return WindowsSearch(module, *wanted, places).run();
}

using symbolize::FoundFiles;
using symbolize::SearchEnd;

std::string_view why_believed(const FoundFiles& found) {
  if (!found.by_path) {
    return "";
  }
  if (!found.same_inode) {
    return "believed by its path: the capture has no build id of it";
  }
  return found.other_device ? "believed by its inode, on another device than recorded: the capture "
                              "has no build id of it"
                            : "believed by its inode: the capture has no build id of it";
}

// The parts of a plan that all ELF files have; `elf` are the files as the reader gets them.
ReadPlan plan_of(FoundFiles found, const SymbolPlaces& places, symbolize::ElfFiles& elf) {
  ReadPlan plan;
  plan.reason = symbolize::reason_of(
      found.end, "the capture has no build id of it; --sysroot DIR makes its path believed");
  if (found.end != SearchEnd::kFound) {
    plan.replaced = found.end == SearchEnd::kOtherBuildId || found.end == SearchEnd::kOtherFile ||
                    found.end == SearchEnd::kChanged;
    return plan;
  }
  plan.found = found.image ? found.image_path : found.debug_path;
  plan.reason = why_believed(found);
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

// Whether a file that is believed by its path alone has other code than what ran.
std::optional<CallerCheck> callers_against(const FoundFiles& found,
                                           std::span<const std::uint64_t> callers) {
  if (!found.by_path || found.same_inode || !found.image || found.packed ||
      !found.layout.has_image_offsets) {
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
    refused.replaced = true;
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
  const bool has_build_id = kernel.build_id_kind == BuildIdKind::kGnu;
  FoundFiles found = has_build_id ? symbolize::find_elf_files({"/vmlinux", kernel.build_id}, places)
                                  : symbolize::find_kernel_file(places);
  if (!has_build_id && found.end != SearchEnd::kFound) {
    plan.reason = "the capture has no build id of it; --kallsyms FILE names it";
    return plan;
  }
  // Offsets are addresses of the running kernel, and those a debug file has.
  found.end = found.end == SearchEnd::kNotPlaced ? SearchEnd::kFound : found.end;
  plan = plan_of(std::move(found), places, elf);
  if (!has_build_id && plan.reason.empty()) {
    plan.reason = "believed as it was named: the capture has no build id of it";
  }
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
