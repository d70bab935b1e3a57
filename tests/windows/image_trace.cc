// Makes a trace in which an image runs: image_trace IMAGE OUT.etl. It has a sample at every third
// byte of the image, and the identity of the image's PDB.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>

#include "io/byte_source.h"
#include "support/etl_writer.h"
#include "symbolize/windows/pe_image.h"

namespace {

namespace sp = stackpack;

constexpr std::uint64_t kBase = 0x7FF6'0000'0000;
constexpr std::uint64_t kStart = 1'000'000;
constexpr std::uint32_t kProcess = 70;
constexpr std::uint32_t kThread = 71;
constexpr std::uint64_t kStep = 3;

sp::etl::Guid guid_of(const sp::symbolize::PdbIdentity& identity) {
  const auto number = [&identity](std::size_t at, unsigned bytes) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) {
      value |= std::uint32_t{identity.guid[at + i]} << (8 * i);
    }
    return value;
  };
  std::uint64_t last = 0;
  for (std::size_t i = 10; i < identity.guid.size(); ++i) {
    last = last << 8 | identity.guid[i];
  }
  return sp::etl::make_guid(number(0, 4), static_cast<std::uint16_t>(number(4, 2)),
                            static_cast<std::uint16_t>(number(6, 2)),
                            static_cast<std::uint16_t>(identity.guid[8] << 8 | identity.guid[9]),
                            last);
}

std::string last_part(const std::string& path) {
  return path.substr(path.find_last_of("/\\") + 1);
}

void write_trace(std::ostream& out, const sp::symbolize::PeImage& image, const std::string& name) {
  const sp::symbolize::PdbReference& pdb = image.pdbs.front();
  sp::test::EtlWriter writer(out, sp::test::EtlOptions());
  writer.process(0, kStart + 10, 3, kProcess, 4, "app.exe", "app.exe");
  writer.thread(0, kStart + 11, 3, kProcess, kThread);
  writer.image(0, kStart + 12, 3, kProcess, kBase, image.image_size, "C:\\Tool\\" + name);
  writer.rsds(0, kStart + 13, kProcess, kBase, guid_of(pdb.identity), pdb.identity.age,
              last_part(pdb.path));
  std::uint64_t clock = kStart + 100;
  for (std::uint64_t rva = 0; rva < image.image_size; rva += kStep) {
    writer.sample(0, clock++, kThread, kBase + rva);
  }
  writer.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: image_trace IMAGE OUT.etl\n";
    return 1;
  }
  const auto source = sp::io::open_regular_file(argv[1]);
  const auto image = source ? sp::symbolize::read_pe_image(**source) : source.error();
  if (!image || image->pdbs.empty()) {
    std::cerr << argv[1] << ": no image, or one without a PDB\n";
    return 1;
  }
  std::ofstream out(argv[2], std::ios::binary);
  write_trace(out, *image, last_part(argv[1]));
  out.close();
  return out ? 0 : 1;
}
