#include "app/symbolize/symbolize.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bytes/byte_text.h"
#include "stackpack/symbols.h"
#include "support/file_bytes.h"
#include "support/own_code.h"
#include "support/pdb_maker.h"
#include "support/spk_reading.h"
#include "support/temporary_folder.h"
#include "support/test_bytes.h"
#include "symbolize/traced_code.h"

namespace stackpack::test {

namespace {

constexpr std::uint64_t kBase = 0x5000'0000;

// One sample in traced_outer of this program, called from nowhere; the program is mapped from its
// first byte on.
std::string write_own_capture(const ScratchDirectory& folder, const std::string& path,
                              const std::vector<std::uint8_t>& build_id) {
  SpkContent content;
  const Frame leaf{FrameMode::kUser, kBase + own_offset_of(&traced_outer) + 2};
  const Frame caller{FrameMode::kUser, kBase + 8};
  content.stacks = {{caller, leaf}};
  StoredSample sample;
  sample.time_ns = 100;
  sample.pid = sample.tid = 7;
  sample.origin = StackOrigin::kRecorded;
  sample.stack = 0;
  content.samples = {sample};
  content.tables.processes = {{7, 1, kUnknownTime, kUnknownTime, false, "prog", ""}};
  Module module;
  module.pid = 7;
  module.base = kBase;
  module.size = std::uint64_t{1} << 30;
  module.path = path;
  module.build_id_kind = build_id.empty() ? BuildIdKind::kNone : BuildIdKind::kGnu;
  module.build_id = build_id;
  content.tables.modules = {module};
  const std::string file = folder.file("in.spk");
  write_file(file, spk_bytes(content));
  return file;
}

std::string leaf_name(const std::string& file) {
  const auto reader = Reader::open(file);
  REQUIRE(reader.has_value());
  CHECK((*reader)->verify().has_value());
  const auto symbols = Symbols::load(**reader);
  REQUIRE(symbols.has_value());
  const Frame leaf{FrameMode::kUser, kBase + own_offset_of(&traced_outer) + 2};
  return std::string((*symbols)->locate(leaf, 7, 100, AddressUse::kExact).linkage);
}

}  // namespace

TEST_CASE("symbolize: names what occurs, keeps the rest, and a second run changes nothing") {
  const ScratchDirectory folder;
  const symbolize::ElfIdentity own = own_identity();
  app::SymbolizeOptions options;
  options.places.has_root = own.build_id.empty();  // linkers may make no build id
  const std::string input = write_own_capture(folder, own_path(), own.build_id);
  const std::string output = folder.file("out.spk");
  const auto report = app::symbolize_file(input, output, options, nullptr);
  REQUIRE_MESSAGE(report.has_value(), failure(report));
  CHECK(report->asked == 2);
  CHECK(report->named == 1);
  REQUIRE(report->images.size() == 1);
  CHECK(report->images.front().found == own_path());
  CHECK(report->images.front().reason.empty());
  CHECK(leaf_name(output) == "_ZN9stackpack4test12traced_outerEi");
  const std::string again = folder.file("again.spk");
  REQUIRE(app::symbolize_file(output, again, options, nullptr).has_value());
  CHECK(read_test_file(again) == read_test_file(output));
}

TEST_CASE("symbolize: symbols that simpleperf recorded as linked get readable names") {
  const ScratchDirectory folder;
  SpkContent content = random_content(65, 10, 20);
  Module module;
  module.path = "/system/lib64/libapp.so";
  module.size = 0x1000;
  content.tables.modules = {module};
  content.add_names = [](spk::NameWriter& names) {
    Function row;
    row.owner = FunctionOwner::kImage;
    row.size = 0x10;
    row.source = FunctionSource::kSimpleperf;
    const Status added = names.add(row, {"_ZN3app4drawEi", "", ""});
    row.start = 0x10;
    return added ? names.add(row, {"main", "", ""}) : added;
  };
  write_file(folder.file("in.spk"), spk_bytes(content));
  const std::string output = folder.file("out.spk");
  REQUIRE(app::symbolize_file(folder.file("in.spk"), output, {}, nullptr).has_value());
  const auto reader = Reader::open(output);
  REQUIRE(reader.has_value());
  const auto names = (*reader)->names();
  REQUIRE(names.has_value());
  REQUIRE(names->functions.size() == 2);
  CHECK(names->texts[names->functions[0].name] == "app::draw(int)");
  CHECK(names->texts[names->functions[0].linkage] == "_ZN3app4drawEi");
  CHECK(names->texts[names->functions[1].name] == "main");
  CHECK(names->functions[1].linkage == kNoText);
  const std::string again = folder.file("again.spk");
  REQUIRE(app::symbolize_file(output, again, {}, nullptr).has_value());
  CHECK(read_test_file(again) == read_test_file(output));
}

TEST_CASE("symbolize: a file of another build is not believed") {
  const ScratchDirectory folder;
  const std::string input = write_own_capture(folder, own_path(), {1, 2, 3, 4});
  const auto report =
      app::symbolize_file(input, folder.file("out.spk"), app::SymbolizeOptions(), nullptr);
  REQUIRE(report.has_value());
  CHECK(report->named == 0);
  REQUIRE(report->images.size() == 1);
  CHECK(report->images.front().reason == "the file there is of another build");
}

TEST_CASE("symbolize: without a build id only a given root is believed") {
  const ScratchDirectory folder;
  const std::string input = write_own_capture(folder, own_path(), {});
  app::SymbolizeOptions options;
  const auto refused = app::symbolize_file(input, folder.file("out.spk"), options, nullptr);
  REQUIRE(refused.has_value());
  CHECK(refused->named == 0);
  CHECK(refused->images.front().found.empty());
  options.places.has_root = true;
  const auto believed = app::symbolize_file(input, folder.file("out.spk"), options, nullptr);
  REQUIRE(believed.has_value());
  CHECK(believed->named == 1);
}

TEST_CASE("symbolize: the kernel by its image, moved as far as its reference symbol") {
  const ScratchDirectory folder;
  const symbolize::ElfIdentity own = own_identity();
  if (own.build_id.size() < 2) {
    return;  // linkers may make no build id
  }
  // This program stands for the kernel, loaded 0x7000'0000'0000 above its linked addresses.
  constexpr std::uint64_t kSlide = 0x7000'0000'0000;
  const std::string id = symbolize::build_id_text(own.build_id);
  std::filesystem::create_directories(folder.file(".build-id/" + id.substr(0, 2)));
  std::filesystem::create_symlink(
      own_path(), folder.file(".build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug"));
  const std::uint64_t place = own.address_of(own_offset_of(&traced_outer)).value();
  const std::uint64_t entry = own.address_of(own_offset_of(&stackpack_traced_reference)).value();
  SpkContent content;
  content.stacks = {{{FrameMode::kKernel, place + kSlide + 2}}};
  StoredSample sample;
  sample.time_ns = 100;
  sample.origin = StackOrigin::kRecorded;
  sample.stack = 0;
  content.samples = {sample};
  Module kernel;
  kernel.base = place + kSlide - 0x1000;
  kernel.size = 0x10000;
  kernel.path = "[kernel.kallsyms]";
  kernel.build_id_kind = BuildIdKind::kGnu;
  kernel.build_id = own.build_id;
  content.tables.modules = {kernel};
  std::string reference = "0x";
  bytes::append_hex(reference, entry + kSlide, 16);
  content.tables.metadata = {{"kernel.reference_address", reference},
                             {"kernel.reference_symbol", "stackpack_traced_reference"}};
  const std::string input = folder.file("kernel.spk");
  write_file(input, spk_bytes(content));
  app::SymbolizeOptions options;
  options.places.directories = {folder.file("")};
  const std::string output = folder.file("out.spk");
  const auto report = app::symbolize_file(input, output, options, nullptr);
  REQUIRE_MESSAGE(report.has_value(), failure(report));
  CHECK(report->named == 1);
  const auto reader = Reader::open(output);
  REQUIRE(reader.has_value());
  CHECK((*reader)->verify().has_value());
  const auto symbols = Symbols::load(**reader);
  const CodeLocation location = (*symbols)->locate({FrameMode::kKernel, place + kSlide + 2},
                                                   kKernelPid, 100, AddressUse::kExact);
  CHECK(location.linkage == "_ZN9stackpack4test12traced_outerEi");
  CHECK(location.function_offset == 2);
  REQUIRE(location.function != nullptr);
  CHECK(location.function->owner == FunctionOwner::kKernel);
}

TEST_CASE("symbolize: what an interrupt interrupted is named by its own address") {
  // A page fault at the first instruction of a function, right behind another one.
  const ScratchDirectory folder;
  constexpr std::uint64_t kText = 0xffff'ffff'8100'0000;
  const std::string list = folder.file("kallsyms");
  std::ofstream(list) << "ffffffff81000000 T _text\n"
                         "ffffffff81000100 t __pfx_interrupted\n"
                         "ffffffff81000110 T interrupted\n"
                         "ffffffff81000200 T caller\n"
                         "ffffffff81000300 T exc_page_fault\n"
                         "ffffffff81000400 T asm_exc_page_fault\n"
                         "ffffffff81000440 T _etext\n";
  const FrameMode k = FrameMode::kKernel;
  SpkContent content;
  content.stacks = {
      {{k, kText + 0x250}, {k, kText + 0x110}, {k, kText + 0x422}, {k, kText + 0x310}}};
  StoredSample sample;
  sample.time_ns = 100;
  sample.origin = StackOrigin::kRecorded;
  sample.stack = 0;
  content.samples = {sample};
  const std::string input = folder.file("kernel.spk");
  write_file(input, spk_bytes(content));
  app::SymbolizeOptions options;
  options.kallsyms = list;
  const std::string output = folder.file("out.spk");
  const auto report = app::symbolize_file(input, output, options, nullptr);
  REQUIRE_MESSAGE(report.has_value(), failure(report));
  CHECK(report->asked == 4);
  CHECK(report->named == 4);
  const auto reader = Reader::open(output);
  REQUIRE(reader.has_value());
  const auto symbols = Symbols::load(**reader);
  REQUIRE(symbols.has_value());
  std::vector<Frame> frames;
  REQUIRE((*reader)->callstack(0, frames).has_value());
  std::vector<CodeLocation> locations;
  (*symbols)->locate_stack(frames, kUnknownId, 100, locations);
  std::string names;
  for (const CodeLocation& location : locations) {
    names += std::string(location.name) + "+" + std::to_string(location.function_offset) + " ";
  }
  CHECK(names == "exc_page_fault+16 asm_exc_page_fault+34 interrupted+0 caller+80 ");
  for (const Function& function : (*symbols)->names().functions) {
    CHECK((*symbols)->names().texts[function.name] != "__pfx_interrupted");
  }
  const std::string again = folder.file("again.spk");
  REQUIRE(app::symbolize_file(output, again, options, nullptr).has_value());
  CHECK(read_test_file(again) == read_test_file(output));
}

TEST_CASE("symbolize: images of Windows by the PDB with their GUID and age, from a symbol store") {
  const ScratchDirectory folder;
  PdbRecipe recipe;
  recipe.contributions = {{1, 0, 0x100}};
  recipe.objects.resize(1);
  put_procedure(recipe.objects[0].symbols, 0x20, 8, "parse");
  put_public(recipe.public_symbols, 0x40, "?third@@YAXXZ");
  const std::string store = folder.file("store/Demo.pdb/030201000504070608090A0B0C0D0E0F1");
  std::filesystem::create_directories(store);
  write_file(store + "/demo.pdb", pdb_bytes(recipe));
  SpkContent content;
  content.stacks = {{{FrameMode::kUser, kBase + 0x1022}}};
  StoredSample sample;
  sample.time_ns = 100;
  sample.pid = sample.tid = 7;
  sample.origin = StackOrigin::kRecorded;
  sample.stack = 0;
  content.samples = {sample};
  content.tables.processes = {{7, 1, kUnknownTime, kUnknownTime, false, "prog", ""}};
  Module module;
  module.pid = 7;
  module.base = kBase;
  module.size = 0x10000;
  module.path = R"(C:\demo\demo.exe)";
  module.debug_name = "demo.pdb";
  module.build_id_kind = BuildIdKind::kPdb;
  for (const std::uint8_t byte : pdb_guid()) {
    module.build_id.push_back(byte);
  }
  module.build_id.insert(module.build_id.end(), {1, 0, 0, 0});
  for (const std::uint8_t age : {std::uint8_t{1}, std::uint8_t{9}}) {
    module.build_id[16] = age;
    content.tables.modules = {module};
    const std::string input = folder.file("in.spk");
    write_file(input, spk_bytes(content));
    app::SymbolizeOptions options;
    options.places.directories = {folder.file("store")};
    const std::string output = folder.file("out.spk");
    const auto report = app::symbolize_file(input, output, options, nullptr);
    REQUIRE_MESSAGE(report.has_value(), failure(report));
    REQUIRE(report->images.size() == 1);
    CHECK(report->named == (age == 1 ? 1 : 0));
    CHECK(report->images.front().reason.empty() == (age == 1));
    const auto reader = Reader::open(output);
    REQUIRE(reader.has_value());
    const auto symbols = Symbols::load(**reader);
    const CodeLocation location =
        (*symbols)->locate({FrameMode::kUser, kBase + 0x1022}, 7, 100, AddressUse::kExact);
    CHECK(location.name == (age == 1 ? "parse" : ""));
    CHECK(location.function_offset == (age == 1 ? 2 : 0));
  }
}

TEST_CASE("symbolize: the input is never the output") {
  const ScratchDirectory folder;
  const std::string input = write_own_capture(folder, own_path(), {});
  const auto report = app::symbolize_file(input, input, app::SymbolizeOptions(), nullptr);
  REQUIRE(!report.has_value());
  CHECK(report.error().code == ErrorCode::kUsage);
}

}  // namespace stackpack::test
