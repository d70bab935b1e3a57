#include "symbolize/symbol_files.h"

#include <doctest/doctest.h>

#include "io/byte_source.h"
#include "io/running_vdso.h"

namespace stackpack::symbolize {

TEST_CASE("symbol files: the vdso is the running kernel's, when it has that build id") {
  const Result<io::Descriptor> running = io::open_running_vdso();
  if (!running) {
    return;  // emulators have none
  }
  const auto source = io::source_of_descriptor(running->get());
  const Result<ElfIdentity> own = read_elf_identity(*source);
  REQUIRE(own.has_value());
  if (own->build_id.empty()) {
    return;
  }
  const FoundFiles found = find_elf_files({"[vdso]", own->build_id}, {});
  CHECK(found.end == SearchEnd::kFound);
  CHECK(found.image);
  CHECK(found.image_path == "[vdso]");
  CHECK(found.bytes != 0);
  std::vector<std::uint8_t> other = own->build_id;
  other.front() ^= 1;
  CHECK(find_elf_files({"[vdso]", other}, {}).end == SearchEnd::kOtherBuildId);
  CHECK(find_elf_files({"[vdso]", {}}, {}).end == SearchEnd::kNoBuildId);
}

}  // namespace stackpack::symbolize
