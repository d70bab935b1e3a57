// Files of real tools: testdata/symbols/README.md.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/symbolize/symbolize.h"
#include "io/byte_source.h"
#include "stackpack/convert.h"
#include "stackpack/symbols.h"
#include "support/etl_writer.h"
#include "support/source_folder.h"
#include "support/temporary_folder.h"
#include "symbolize/windows/pe_image.h"

namespace stackpack::test {

namespace {

constexpr std::uint64_t kUserBase = 0x7FF6'0000'0000;
constexpr std::uint64_t kKernelBase = 0xFFFF'F800'1000'0000;
constexpr std::uint64_t kTraceClock = 1'000'000;
constexpr std::uint32_t kTraceProcess = 70;
constexpr std::uint64_t kCodeBegin = 0x1000;
constexpr std::uint64_t kCodeEnd = 0x1280;

std::string real_file(const std::string& name) {
  return source_folder() + "/testdata/symbols/" + name;
}

// A trace that has samples in the whole code of inlined.dll, loaded at `base`.
std::string trace_of_image(const ScratchDirectory& folder, std::uint64_t base) {
  const auto source = io::open_regular_file(real_file("inlined.dll"));
  REQUIRE(source.has_value());
  const auto image = symbolize::read_pe_image(**source);
  REQUIRE(image.has_value());
  REQUIRE(image->pdbs.size() == 1);
  const auto& id = image->pdbs[0].identity;
  std::uint64_t last = 0;
  for (std::size_t i = 10; i < id.guid.size(); ++i) {
    last = last << 8 | id.guid[i];
  }
  const auto number = [&id](std::size_t at, unsigned bytes) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) {
      value |= std::uint32_t{id.guid[at + i]} << (8 * i);
    }
    return value;
  };
  const std::string trace = folder.file("in.etl");
  std::ofstream out(trace, std::ios::binary);
  EtlWriter writer(out, EtlOptions());
  const std::uint32_t owner = base == kKernelBase ? 0 : kTraceProcess;
  writer.process(0, kTraceClock + 10, 3, kTraceProcess, 4, "app.exe", "app.exe");
  writer.thread(0, kTraceClock + 11, 3, kTraceProcess, 71);
  writer.image(0, kTraceClock + 12, 3, owner, base, image->image_size, "C:\\Tool\\inlined.dll");
  writer.rsds(0, kTraceClock + 13, owner, base,
              etl::make_guid(number(0, 4), static_cast<std::uint16_t>(number(4, 2)),
                             static_cast<std::uint16_t>(number(6, 2)),
                             static_cast<std::uint16_t>(id.guid[8] << 8 | id.guid[9]), last),
              id.age, "inlined.pdb");
  for (std::uint64_t rva = kCodeBegin; rva < kCodeEnd; ++rva) {
    writer.sample(0, kTraceClock + 100'000 + rva, 71, base + rva);
  }
  writer.finish();
  out.close();
  std::string packed = folder.file("in.spk");
  REQUIRE(convert(trace, packed, ConvertOptions(), nullptr).has_value());
  return packed;
}

struct NamedTrace {
  app::SymbolizeReport report;
  std::vector<std::string> chains;  // of each byte of the code: `function:line < function:line`
};

NamedTrace name_trace(const ScratchDirectory& folder, std::uint64_t base,
                      const app::SymbolizeOptions& options) {
  const std::string packed = trace_of_image(folder, base);
  const std::string output = folder.file("out.spk");
  const auto report = app::symbolize_file(packed, output, options, nullptr);
  REQUIRE(report.has_value());
  NamedTrace named;
  named.report = *report;
  const auto reader = Reader::open(output);
  REQUIRE(reader.has_value());
  const auto symbols = Symbols::load(**reader);
  REQUIRE(symbols.has_value());
  const FrameMode mode = base == kKernelBase ? FrameMode::kKernel : FrameMode::kUser;
  for (std::uint64_t rva = kCodeBegin; rva < kCodeEnd; ++rva) {
    const auto location =
        (*symbols)->locate({mode, base + rva}, kTraceProcess, kUnknownTime - 1, AddressUse::kExact);
    std::vector<InlineFrame> frames;
    (*symbols)->expand(location, frames);
    std::string chain;
    for (const InlineFrame& frame : frames) {
      chain += chain.empty() ? "" : " < ";
      chain += std::string(frame.name) + ":" + std::to_string(frame.line);
    }
    named.chains.push_back(chain);
  }
  return named;
}

// What DWARF says of the same code.
std::vector<std::string> expected_chains() {
  std::vector<std::string> chains(kCodeEnd - kCodeBegin);
  std::ifstream in(real_file("inlined.expected.txt"));
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::string chain;
    fields >> std::hex >> begin >> end >> std::ws;
    std::getline(fields, chain);
    for (std::uint64_t rva = begin; rva < end; ++rva) {
      chains.at(rva - kCodeBegin) = chain;
    }
  }
  return chains;
}

}  // namespace

TEST_CASE("symbolize: a PDB of lld, in user and in kernel mode") {
  for (const std::uint64_t base : {kUserBase, kKernelBase}) {
    CAPTURE(base);
    const ScratchDirectory folder;
    app::SymbolizeOptions options;
    options.places.directories = {source_folder() + "/testdata/symbols"};
    const NamedTrace named = name_trace(folder, base, options);
    const std::vector<std::string> expected = expected_chains();
    std::size_t inlined = 0;
    std::size_t compared = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      // PDBs have no line 0; what lies after the end of a function is padding.
      if (expected[i].find(":0") == std::string::npos && i % 0x140 < 0x134) {
        CHECK(named.chains[i] == expected[i]);
        ++compared;
      }
      inlined += named.chains[i].find("square:") == 0 ? 1U : 0U;
    }
    CHECK(inlined > 100);
    CHECK(compared > 550);
    CHECK(named.report.named == 0x274);
    REQUIRE(named.report.images.size() == 1);
    CHECK(named.report.images[0].reason.empty());
  }
}

TEST_CASE("symbolize: an image of lld without its PDB has the names that it exports") {
  const ScratchDirectory folder;
  std::filesystem::create_directories(folder.file("root/Tool"));
  std::filesystem::copy_file(real_file("inlined.dll"), folder.file("root/Tool/inlined.dll"));
  app::SymbolizeOptions options;
  options.places.root = folder.file("root");
  options.places.has_root = true;
  const NamedTrace named = name_trace(folder, kUserBase, options);
  for (std::size_t i = 0; i < named.chains.size(); ++i) {
    CAPTURE(i);
    CHECK(named.chains[i] == (i < 0x134 ? "exported:0" : ""));
  }
  CHECK(named.report.named == 0x134);
}

}  // namespace stackpack::test
