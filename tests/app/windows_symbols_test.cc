#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/symbolize/symbolize.h"
#include "stackpack/convert.h"
#include "stackpack/symbols.h"
#include "support/etl_writer.h"
#include "support/pdb_maker.h"
#include "support/pe_maker.h"
#include "support/ready_to_run_maker.h"
#include "support/temporary_folder.h"

namespace stackpack::test {

namespace {

constexpr std::uint64_t kImageBase = 0x7FF6'0000'0000;
constexpr std::uint64_t kClock = 1'000'000;
constexpr std::uint32_t kProcess = 70;

void put_file(const std::string& path, const std::vector<std::byte>& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream out(path, std::ios::binary);
  for (const std::byte byte : bytes) {
    out.put(static_cast<char>(byte));
  }
}

// A trace with one sample at an RVA of C:\Tool\app.exe, whose PDB is that of the makers.
std::string converted_trace(const ScratchDirectory& folder, std::uint64_t rva, std::uint32_t age) {
  const std::string trace = folder.file("in.etl");
  std::ofstream out(trace, std::ios::binary);
  EtlWriter writer(out, EtlOptions());
  writer.process(0, kClock + 10, 3, kProcess, 4, "app.exe", "app.exe");
  writer.thread(0, kClock + 11, 3, kProcess, 71);
  writer.image(0, kClock + 12, 3, kProcess, kImageBase, 0xB000, "C:\\Tool\\app.exe");
  writer.rsds(0, kClock + 13, kProcess, kImageBase,
              etl::make_guid(0x03020100, 0x0504, 0x0706, 0x0809, 0x0A0B0C0D0E0F), age,
              "c:\\build\\A.pdb");
  writer.sample(0, kClock + 100'000, 71, kImageBase + rva);
  writer.finish();
  out.close();
  const std::string packed = folder.file("in.spk");
  REQUIRE(convert(trace, packed, ConvertOptions(), nullptr).has_value());
  return packed;
}

struct Symbolized {
  app::SymbolizeReport report;
  std::string name;
};

Symbolized symbolized(const ScratchDirectory& folder, const std::string& packed, std::uint64_t rva,
                      const app::SymbolizeOptions& options) {
  const std::string output = folder.file("out.spk");
  const auto report = app::symbolize_file(packed, output, options, nullptr);
  REQUIRE(report.has_value());
  Symbolized result;
  result.report = *report;
  const auto reader = Reader::open(output);
  REQUIRE(reader.has_value());
  const auto symbols = Symbols::load(**reader);
  REQUIRE(symbols.has_value());
  const auto location = (*symbols)->locate({FrameMode::kUser, kImageBase + rva}, kProcess,
                                           kUnknownTime - 1, AddressUse::kExact);
  result.name = std::string(location.name) + ":" + std::to_string(location.line);
  return result;
}

}  // namespace

TEST_CASE("symbolize: an image of Windows is named by its PDB in a symbol store") {
  const ScratchDirectory folder;
  const std::string packed = converted_trace(folder, 0x1048, 1);
  app::SymbolizeOptions options;
  options.places.directories = {folder.file("store")};
  const Symbolized before = symbolized(folder, packed, 0x1048, options);
  CHECK(before.report.named == 0);
  REQUIRE(before.report.images.size() == 1);
  CHECK(before.report.images[0].reason == "no PDB");

  const std::string store = folder.file("store/a.pdb/030201000504070608090A0B0C0D0E0F1");
  put_file(store + "/a.pd_", {});
  CHECK(symbolized(folder, packed, 0x1048, options).report.images[0].reason.find(".pd_") !=
        std::string::npos);

  put_file(store + "/a.pdb", pdb_bytes(pdb_with_inlines()));
  const Symbolized after = symbolized(folder, packed, 0x1048, options);
  CHECK(after.report.named == 1);
  CHECK(after.report.lines == 1);
  CHECK(after.name == "main:8");
  CHECK(after.report.images[0].reason.empty());
  CHECK(after.report.images[0].found == store + "/a.pdb");
}

TEST_CASE("symbolize: a PDB of another build is not believed") {
  const ScratchDirectory folder;
  const std::string packed = converted_trace(folder, 0x1048, 2);
  put_file(folder.file("store/A.PDB"), pdb_bytes(pdb_with_inlines()));
  app::SymbolizeOptions options;
  options.places.directories = {folder.file("store")};
  const Symbolized result = symbolized(folder, packed, 0x1048, options);
  CHECK(result.report.named == 0);
  CHECK(result.report.images[0].reason == "the PDB there is of another build");
}

TEST_CASE("symbolize: without its PDB an image of Windows has the names that it exports") {
  const ScratchDirectory folder;
  const std::string packed = converted_trace(folder, 0x2010, 10);
  put_file(folder.file("root/Tool/app.exe"), pe_file({}));
  app::SymbolizeOptions options;
  options.places.root = folder.file("root");
  options.places.has_root = true;
  const Symbolized result = symbolized(folder, packed, 0x2010, options);
  CHECK(result.report.named == 1);
  CHECK(result.name == "first:0");
  CHECK(result.report.images[0].reason == "no PDB; exported functions only");
  // Of another build: the image names another PDB.
  const std::string other = converted_trace(folder, 0x2010, 9);
  CHECK(symbolized(folder, other, 0x2010, options).report.named == 0);
}

TEST_CASE("symbolize: without its PDB an image of .NET has the methods that were compiled ahead") {
  const ScratchDirectory folder;
  const std::string packed = converted_trace(folder, 0x3044, 10);
  put_file(folder.file("images/app.exe"), ReadyToRunMaker({0x8664}).file());
  app::SymbolizeOptions options;
  options.places.directories = {folder.file("images")};
  const Symbolized result = symbolized(folder, packed, 0x3044, options);
  CHECK(result.report.named == 1);
  CHECK(result.name == "Demo.Main+Inner.Do:0");
  CHECK(result.report.images[0].reason == "no PDB; methods that were compiled ahead only");
  // Of another build: the image names another PDB.
  const std::string other = converted_trace(folder, 0x3044, 9);
  CHECK(symbolized(folder, other, 0x3044, options).report.named == 0);
}

}  // namespace stackpack::test
