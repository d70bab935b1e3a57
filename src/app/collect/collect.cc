#include "app/collect/collect.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "app/collect/slim_elf.h"
#include "app/convert/capture_input.h"
#include "app/convert/capture_probe.h"
#include "app/unwind/image_store.h"
#include "app/unwind/image_unwinder.h"
#include "capture/fact_sink.h"
#include "codec/zip_writer.h"
#include "core/guard.h"
#include "core/sort_rows.h"
#include "io/directories.h"
#include "io/files_read.h"
#include "io/output_file.h"
#include "io/output_rules.h"
#include "stackpack/convert.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "symbolize/segment_placement.h"

namespace stackpack::app {

namespace {

// A file that processes of a capture had mapped.
struct CapturedImage {
  std::vector<std::uint8_t> build_id;  // empty: not recorded
  std::string path;

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
  friend auto operator<=>(const CapturedImage&, const CapturedImage&) = default;
};

using CapturedImages = std::map<CapturedImage, std::vector<symbolize::ImageMapping>>;

Result<std::vector<Module>> modules_of(const std::string& input, const ConvertOptions& options,
                                       ConvertProgress& progress) {
  if (looks_like_packed(input)) {
    Result<std::unique_ptr<Reader>> reader = Reader::open(input);
    return reader ? (*reader)->modules() : Result<std::vector<Module>>(reader.error());
  }
  Result<CaptureInput> capture =
      CaptureInput::open(input, options, io::temporary_directory(), progress.tried);
  if (!capture) {
    return capture.error();
  }
  progress.bytes_total = capture->size().value_or(0);
  capture::FactSink sink;
  const Result<capture::ByteAccount> account =
      capture->read(sink, {&progress.bytes_done, &progress.cancelled});
  return account ? Result<std::vector<Module>>(sink.system().finish().modules)
                 : Result<std::vector<Module>>(account.error());
}

// Adds the images of user processes in a capture (options.format: which) or a .spk file, with
// where they are mapped. What has a name and is no file is left out, but for the code that the
// kernel maps.
// Errors: those of convert() and of Reader::open; kCancelled.
Status add_captured_images(const std::string& input, const ConvertOptions& options,
                           ConvertProgress& progress, CapturedImages& images) {
  Result<std::vector<Module>> modules = modules_of(input, options, progress);
  if (!modules) {
    return modules.error();
  }
  for (Module& module : *modules) {
    if (module.pid == kKernelPid || (is_no_file(module.path) && module.path != "[vdso]")) {
      continue;
    }
    const symbolize::ImageMapping mapping = symbolize::mapping_of(module);
    CapturedImage image{{}, std::move(module.path)};
    if (module.build_id_kind == BuildIdKind::kGnu) {
      image.build_id = std::move(module.build_id);
    }
    images[std::move(image)].push_back(mapping);
  }
  return {};
}

using symbolize::SearchEnd;
using BuildId = std::vector<std::uint8_t>;

Error in_output(Error error) {
  error.part = kOutputPart;
  return error;
}

// Whether a file that begins so is an archive of this command, which may be replaced by a new one.
// One without entries has nothing that anyone could miss.
bool is_bundle(std::span<const std::byte> head) {
  constexpr std::string_view kFolder = ".build-id/";  // symbolize::bundle_entry_name()
  return codec::ZipWriter::wrote(head, kFolder);
}

// One run: images, and the archive that their files go into.
class BundleRun {
 public:
  BundleRun(const CollectOptions& options, ConvertProgress& progress)
      : options_(options), progress_(progress) {}

  Result<CollectReport> run(const std::vector<std::string>& inputs, const std::string& output) {
    io::OutputRules rules;
    rules.force = options_.force;
    rules.replaceable = is_bundle;
    rules.refusal = "exists and is not an archive of stackpack collect; option force replaces it";
    if (const Status noted = io::add_inputs(rules, inputs); !noted) {
      return noted.error();
    }
    if (const Status allowed = io::check_output(output, rules); !allowed) {
      return in_output(allowed.error());
    }
    if (const Status found = find_images(inputs); !found) {
      return found.error();
    }
    Result<std::unique_ptr<io::OutputFile>> out = io::OutputFile::create(output, rules);
    if (!out) {
      return in_output(out.error());
    }
    codec::ZipWriter zip([&out](std::span<const std::byte> bytes) { return (*out)->write(bytes); });
    if (const Status added = add_images(zip); !added) {
      return added.error();
    }
    Status done = zip.finish();
    report_.bundle_bytes = (*out)->offset();
    done = done ? (*out)->commit() : done;
    if (!done) {
      return in_output(done.error());
    }
    core::sort_rows(report_.images, [](const CollectedImage& a, const CollectedImage& b) {
      return std::tuple(a.bundle_bytes != 0, a.path) < std::tuple(b.bundle_bytes != 0, b.path);
    });
    return std::move(report_);
  }

 private:
  Status find_images(const std::vector<std::string>& inputs) {
    ConvertOptions options;
    options.format = options_.format;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (Status added = add_captured_images(inputs[i], options, progress_, images_); !added) {
        Error error = added.error();
        error.part = static_cast<std::uint32_t>(i);
        return error;
      }
    }
    return {};
  }

  // By build id, which is the order of the entries' names.
  Status add_images(codec::ZipWriter& zip) {
    progress_.bytes_total = images_.size();
    progress_.bytes_done = 0;
    const BuildId* added = nullptr;
    for (const auto& [captured, mappings] : images_) {
      const BuildId& build_id = captured.build_id;
      if (progress_.cancelled) {
        return Error{ErrorCode::kCancelled, kNoOffset, "interrupted"};
      }
      ++progress_.bytes_done;
      if (added != nullptr && *added == build_id) {
        continue;  // the same file under another path
      }
      const Result<bool> is_in = add_image(captured, mappings, zip);
      if (!is_in) {
        return is_in.error();
      }
      added = *is_in ? &build_id : added;
    }
    return {};
  }

  void count_left_out(SearchEnd end, bool without_build_id) {
    if (end == SearchEnd::kNotElf || end == SearchEnd::kNotAFile) {
      ++report_.not_elf;
    } else if (without_build_id) {
      ++report_.without_build_id;
    } else {
      ++report_.missing;
    }
  }

  // Whether the image is in the archive now.
  Result<bool> add_image(const CapturedImage& captured,
                         std::span<const symbolize::ImageMapping> mappings, codec::ZipWriter& zip) {
    const auto& [build_id, path] = captured;
    CollectedImage image;
    image.path = path;
    image.build_id = symbolize::build_id_text(build_id);
    symbolize::SymbolPlaces places = options_.places;
    places.has_root = false;  // elsewhere, nothing but the build id says which file is meant
    symbolize::FoundFiles found = symbolize::find_elf_files({path, build_id, mappings}, places);
    if (found.end == SearchEnd::kShortage) {
      return found.shortage;
    }
    if (found.image && found.debug_path == found.image_path) {
      found.debug.reset();  // a folder's file is also looked at for what was stripped
    }
    image.found = found.image ? found.image_path : found.debug_path;
    image.debug_file = found.image && found.debug ? found.debug_path : "";
    // The kernel says nothing with the mapping of what is no file; perf looks it up at the end.
    image.reason = symbolize::reason_of(
        found.end,
        path == "[vdso]"
            ? "the capture has no build id of it; perf record keeps that without "
              "--buildid-mmap only"
            : "the capture has no build id of it; perf record --buildid-mmap keeps them");
    const bool has_files = found.end == SearchEnd::kFound || found.end == SearchEnd::kNotPlaced;
    std::optional<SlimElf> slim;
    if (has_files) {
      slim = make_slim(found, build_id, image);
    }
    if (slim) {
      image.bundle_bytes = slim->bytes.size();
      if (const Status stored = zip.add(symbolize::bundle_entry_name(build_id), slim->bytes);
          !stored) {
        return in_output(stored.error());
      }
      ++report_.collected;
      report_.file_bytes += image.file_bytes;
    } else {
      count_left_out(has_files ? SearchEnd::kNotElf : found.end, build_id.empty());
    }
    const bool added = image.bundle_bytes != 0;
    report_.images.push_back(std::move(image));
    return added;
  }

  static std::optional<SlimElf> make_slim(const symbolize::FoundFiles& found,
                                          const BuildId& build_id, CollectedImage& image) {
    const auto open = [](const io::Descriptor& file) {
      return file ? io::source_of_descriptor(file.get()) : std::unique_ptr<io::ByteSource>();
    };
    const auto main = open(found.image);
    const auto debug = open(found.debug);
    image.file_bytes = (main ? main->size().value_or(0) : 0) + (debug ? *debug->size() : 0);
    const bool placed_here = found.end == SearchEnd::kFound && !found.layout.has_image_offsets;
    Result<SlimElf> slim = make_slim_elf(
        main.get(), debug.get(), build_id,
        placed_here ? found.layout.segments : std::span<const symbolize::ElfSegment>());
    if (!slim) {
      image.reason = "not a little-endian ELF file of 64 bits";
      return std::nullopt;
    }
    image.has_tables = slim->has_tables;
    image.has_symbols = slim->has_symbols;
    if (found.end != SearchEnd::kNotPlaced) {
      image.reason = slim->left_out     ? "a part of it is damaged, or too large"
                     : slim->has_tables ? ""
                                        : "no unwind tables in it";
    }
    return std::move(*slim);
  }

  const CollectOptions& options_;
  ConvertProgress& progress_;
  CapturedImages images_;
  CollectReport report_;
};

}  // namespace

std::optional<BadBundle> find_bad_bundle(const std::vector<std::string>& places) {
  for (const std::string& place : places) {
    symbolize::SymbolPlaces one;
    one.directories = {place};
    std::error_code failed;
    if (place.ends_with(".zip") && !std::filesystem::exists(place, failed)) {
      return BadBundle{place, {ErrorCode::kNotFound, kNoOffset, "cannot open", ENOENT}};
    }
    if (const Status opened = symbolize::open_bundles(one); !opened) {
      return BadBundle{place, opened.error()};
    }
  }
  return std::nullopt;
}

Result<CollectReport> collect_bundle(const std::vector<std::string>& inputs,
                                     const std::string& output, const CollectOptions& options,
                                     ConvertProgress* progress) {
  const io::FilesRead files_read;
  ConvertProgress unwatched;
  return core::guarded([&]() -> Result<CollectReport> {
    CollectOptions opened = options;
    if (const Status bundles = symbolize::open_bundles(opened.places); !bundles) {
      return bundles.error();
    }
    for (std::string& folder : perf_cache_folders()) {
      opened.places.directories.push_back(std::move(folder));
    }
    return BundleRun(opened, progress != nullptr ? *progress : unwatched).run(inputs, output);
  });
}

}  // namespace stackpack::app
