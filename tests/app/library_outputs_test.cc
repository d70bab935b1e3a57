// What a call of the library has read it never writes, whatever it was told to replace.
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include <doctest/doctest.h>

#include "app/collect/collect.h"
#include "app/diff/difference_page.h"
#include "app/symbolize/symbolize.h"
#include "stackpack/c_api.h"
#include "stackpack/convert.h"
#include "stackpack/export.h"
#include "stackpack/merge.h"
#include "stackpack/reader.h"
#include "support/source_folder.h"
#include "support/temporary_folder.h"
#include "support/test_bytes.h"

namespace stackpack::test {

namespace {

std::string dumps() {
  return std::string(source_folder()) + "/testdata/unwind/dumps.data";
}

/// A folder with a copy of all that the calls below read.
struct ReadFiles {
  ReadFiles() {
    std::filesystem::create_directory(folder.file("here"));
    std::filesystem::copy(std::string(source_folder()) + "/testdata/unwind/framed", image);
    std::filesystem::copy(dumps(), capture);
    REQUIRE(convert(capture, packed, unwinding(image_folder), nullptr).has_value());
    app::CollectOptions options;
    options.places.directories = {image_folder};
    REQUIRE(app::collect_bundle({capture}, bundle, options, nullptr).has_value());
  }

  static ConvertOptions unwinding(const std::string& place) {
    ConvertOptions options;
    options.unwind = true;
    options.force = true;
    options.binary_folders = {place};
    return options;
  }

  ScratchDirectory folder;
  std::string image_folder = folder.file("here");
  std::string image = folder.file("here/framed");
  std::string capture = folder.file("dumps.data");
  std::string packed = folder.file("dumps.spk");
  std::string bundle = folder.file("bundle.zip");
};

template <typename Report>
Status status_of(const Result<Report>& result) {
  return result ? Status() : Status(result.error());
}

Status status_of_c(stackpack_status status) {
  const ErrorCode code = status == STACKPACK_USAGE ? ErrorCode::kUsage : ErrorCode::kInternal;
  return status == STACKPACK_OK ? Status() : Status(Error{code, kNoOffset, "c"});
}

}  // namespace

TEST_CASE("library: no call replaces a file that it reads, under any of its names") {
  const ReadFiles files;
  app::CollectOptions collecting;
  collecting.force = true;
  app::SymbolizeOptions naming;
  naming.force = true;
  ExportOptions exporting;
  exporting.force = true;
  MergeOptions merging;
  merging.force = true;
  stackpack_merge_options c_merging{};
  c_merging.struct_size = sizeof c_merging;
  c_merging.force = 1;
  stackpack_convert_options c_converting{};
  c_converting.struct_size = sizeof c_converting;
  c_converting.force = 1;
  const auto opened = Reader::open(files.packed);
  REQUIRE(opened.has_value());
  const Reader* const reader = opened->get();

  struct Call {
    const char* name;
    std::string reads;
    std::function<Status(const std::string& output)> run;
  };
  const auto collect_from = [&](const std::string& place) {
    return [&, place](const std::string& output) {
      app::CollectOptions options = collecting;
      options.places.directories = {place};
      return status_of(app::collect_bundle({files.packed}, output, options, nullptr));
    };
  };
  const auto convert_with = [&](const std::string& place) {
    return [&, place](const std::string& output) {
      return status_of(convert(files.capture, output, ReadFiles::unwinding(place), nullptr));
    };
  };
  const auto name_with = [&](const std::string& place) {
    return [&, place](const std::string& output) {
      app::SymbolizeOptions options = naming;
      options.places.directories = {place};
      return status_of(app::symbolize_file(files.packed, output, options, nullptr));
    };
  };
  const std::vector<Call> calls = {
      {"convert", files.capture, convert_with(files.bundle)},
      {"convert with a bundle", files.bundle, convert_with(files.bundle)},
      {"convert with an image", files.image, convert_with(files.image_folder)},
      {"symbolize", files.packed, name_with(files.bundle)},
      {"symbolize with a bundle", files.bundle, name_with(files.bundle)},
      {"symbolize with an image", files.image, name_with(files.image_folder)},
      {"collect", files.packed, collect_from(files.bundle)},
      {"collect from a bundle", files.bundle, collect_from(files.bundle)},
      {"collect from an image", files.image, collect_from(files.image_folder)},
      {"merge", files.packed,
       [&](const std::string& output) {
         return status_of(merge({files.packed}, output, merging, nullptr));
       }},
      {"export of a reader that was opened before", files.packed,
       [&](const std::string& output) {
         return status_of(export_capture(*reader, output, exporting));
       }},
      {"export of a page", files.packed,
       [&](const std::string& output) {
         return status_of(export_page(std::vector{files.packed}, output, exporting));
       }},
      {"page of a difference", files.packed,
       [&](const std::string& output) {
         app::DifferencePage page;
         page.output = output;
         page.force = true;
         page.about_json = "{}";
         return status_of(app::write_difference_page({&reader, 1}, {&reader, 1}, {}, page));
       }},
      {"C: convert", files.capture,
       [&](const std::string& output) {
         return status_of_c(
             stackpack_convert(files.capture.c_str(), output.c_str(), &c_converting, nullptr));
       }},
      {"C: merge", files.packed,
       [&](const std::string& output) {
         const char* const input = files.packed.c_str();
         return status_of_c(
             stackpack_merge(&input, 1, output.c_str(), &c_merging, nullptr, nullptr));
       }},
  };
  const std::string other = files.folder.file("other");
  const std::string link = files.folder.file("link");
  for (const Call& call : calls) {
    CAPTURE(call.name);
    const std::vector<std::byte> content = read_test_file(call.reads);
    CHECK(call.run(other).has_value());
    std::filesystem::remove(other);
    std::filesystem::create_hard_link(call.reads, other);
    std::vector<std::string> names = {call.reads, other};
    std::error_code no_links;  // wine has none
    std::filesystem::create_symlink(call.reads, link, no_links);
    if (!no_links) {
      names.push_back(link);
    }
    for (const std::string& name : names) {
      CAPTURE(name);
      const Status done = call.run(name);
      REQUIRE_FALSE(done.has_value());
      CHECK(done.error().code == ErrorCode::kUsage);
      CHECK(read_test_file(call.reads) == content);
    }
    CHECK(std::filesystem::equivalent(call.reads, other));
    std::filesystem::remove(other);
    std::filesystem::remove(link);
  }
}

TEST_CASE("library: what an earlier call has read may be replaced by a later one") {
  const ReadFiles files;
  const std::string output = files.folder.file("other");
  REQUIRE(convert(files.capture, output, ReadFiles::unwinding(files.bundle), nullptr).has_value());
  MergeOptions merging;
  REQUIRE(merge({output}, files.packed, merging, nullptr).has_value());
  CHECK(convert(files.capture, output, ReadFiles::unwinding(files.bundle), nullptr).has_value());
}

}  // namespace stackpack::test
