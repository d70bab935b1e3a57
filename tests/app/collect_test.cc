#include "app/collect/collect.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#ifndef _WIN32
#include <cerrno>

#include <sys/resource.h>
#include <unistd.h>
#endif

#include "app/collect/slim_elf.h"
#include "codec/zip_writer.h"
#include "io/byte_source.h"
#include "io/memory_file.h"
#include "support/source_folder.h"
#include "support/temporary_folder.h"
#include "support/test_bytes.h"
#include "symbolize/elf_identity.h"
#include "symbolize/symbol_files.h"
#include "unwind/code_tables.h"

namespace stackpack::test {

namespace {

std::string unwind_folder() {
  return std::string(source_folder()) + "/testdata/unwind";
}

std::vector<std::byte> slim_of(const std::vector<std::byte>& file, bool as_debug = false) {
  const auto source = io::source_of_memory(file);
  const auto identity = symbolize::read_elf_identity(*source);
  REQUIRE(identity.has_value());
  Result<app::SlimElf> slim = as_debug
                                  ? app::make_slim_elf(nullptr, source.get(), identity->build_id)
                                  : app::make_slim_elf(source.get(), nullptr, identity->build_id);
  REQUIRE(slim.has_value());
  CHECK(slim->has_tables);
  CHECK(slim->has_symbols);
  CHECK_FALSE(slim->left_out);
  return std::move(slim->bytes);
}

// What the tables of a file say of all its addresses.
std::vector<std::pair<int, std::uint32_t>> answers_of(const std::vector<std::byte>& file) {
  const auto source = io::source_of_memory(file);
  Result<unwind::ElfLayout> layout = unwind::read_elf_layout(*source);
  REQUIRE(layout.has_value());
  unwind::RuleTable rules(layout->machine);
  const auto code = layout->code;
  unwind::CodeTables tables(std::move(*layout), {});
  std::vector<std::pair<int, std::uint32_t>> answers;
  for (const auto& segment : code) {
    for (std::uint64_t i = 0; i < segment.bytes; ++i) {
      const auto found = tables.find(segment.address + i, rules);
      answers.emplace_back(static_cast<int>(found.answer), found.rule);
    }
  }
  return answers;
}

std::vector<std::byte> spk_with(const std::string& symbols, const ScratchDirectory& folder) {
  ConvertOptions options;
  options.unwind = true;
  options.binary_folders = {symbols};
  const std::string output = folder.file("out.spk");
  options.force = true;
  const auto report = convert(unwind_folder() + "/dumps.data", output, options, nullptr);
  REQUIRE(report.has_value());
  return read_test_file(output);
}

}  // namespace

TEST_SUITE("collect") {
  TEST_CASE("slim ELF: the same rule for every address, the same identity, and little else") {
    const std::vector<std::byte> file = read_test_file(unwind_folder() + "/framed");
    const std::vector<std::byte> slim = slim_of(file);
    CHECK(slim.size() < file.size() / 2);
    CHECK(answers_of(slim) == answers_of(file));
    const auto before = symbolize::read_elf_identity(*io::source_of_memory(file));
    const auto after = symbolize::read_elf_identity(*io::source_of_memory(slim));
    REQUIRE(after.has_value());
    CHECK(after->build_id == before->build_id);
    CHECK(after->has_symbols);
    CHECK_FALSE(after->has_code);
    CHECK(after->address_of(0x1010) == before->address_of(0x1010));
    CHECK(slim_of(slim, true) == slim);
  }

  TEST_CASE("slim ELF: of an image and what was stripped from it") {
    const std::vector<std::byte> file = read_test_file(unwind_folder() + "/framed");
    const auto image = io::source_of_memory(file);
    const std::vector<std::byte> slim = slim_of(file);
    const auto debug = io::source_of_memory(slim);
    const std::vector<std::uint8_t> id{1, 2, 3};
    const auto both = app::make_slim_elf(image.get(), debug.get(), id);
    REQUIRE(both.has_value());
    CHECK(answers_of(both->bytes) == answers_of(file));
    CHECK(app::make_slim_elf(nullptr, nullptr, id).error().code == ErrorCode::kUnsupported);
    const std::vector<std::byte> text(100, std::byte{'x'});
    CHECK_FALSE(app::make_slim_elf(io::source_of_memory(text).get(), nullptr, id).has_value());
  }

  TEST_CASE("slim ELF: damage anywhere makes no more than a smaller file") {
    const std::vector<std::byte> file = read_test_file(unwind_folder() + "/framed");
    const std::vector<std::uint8_t> id{1, 2, 3};
    std::uint64_t random = 1;
    std::size_t made = 0;
    for (int i = 0; i < 400; ++i) {
      std::vector<std::byte> damaged = file;
      for (int change = 0; change < 4; ++change) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        // Headers at both ends.
        const std::size_t at = (random >> 33) % 1200;
        damaged[at < 600 ? at : damaged.size() - 1 - (at - 600)] =
            static_cast<std::byte>(random >> 55);
      }
      const auto source = io::source_of_memory(damaged);
      const auto slim = app::make_slim_elf(source.get(), nullptr, id);
      made += slim ? 1U : 0U;
      CHECK((!slim || slim->bytes.size() < 4 * file.size()));
    }
    CHECK(made > 200);
  }

  TEST_CASE("two machines: a bundle gives what the binaries give, byte by byte") {
    const ScratchDirectory folder;
    const std::string bundle = folder.file("bundle.zip");
    app::CollectOptions options;
    options.places.directories = {unwind_folder()};
    const auto report =
        app::collect_bundle({unwind_folder() + "/dumps.data"}, bundle, options, nullptr);
    REQUIRE(report.has_value());
    CHECK(report->collected == 1);
    CHECK(report->missing == 0);
    CHECK(report->without_build_id == 1);  // [vdso]
    const std::vector<std::byte> with_binaries = spk_with(unwind_folder(), folder);
    const std::vector<std::byte> with_bundle = spk_with(bundle, folder);
    const std::vector<std::byte> with_neither = spk_with(folder.file(""), folder);
    CHECK(with_bundle == with_binaries);
    CHECK(with_bundle != with_neither);

    // Of the .spk file, of several inputs, and again: the same bundle.
    const std::vector<std::byte> bytes = read_test_file(bundle);
    const std::string again = folder.file("again.zip");
    for (const std::vector<std::string>& inputs :
         {std::vector{folder.file("out.spk")},
          std::vector{unwind_folder() + "/dumps.data", folder.file("out.spk")}}) {
      options.force = true;
      REQUIRE(app::collect_bundle(inputs, again, options, nullptr).has_value());
      CHECK(read_test_file(again) == bytes);
    }
    // A bundle of a bundle is that bundle.
    app::CollectOptions from_bundle;
    from_bundle.places.directories = {bundle};
    REQUIRE(app::collect_bundle({folder.file("out.spk")}, again, from_bundle, nullptr).has_value());
    CHECK(read_test_file(again) == bytes);
  }

#ifndef _WIN32
  TEST_CASE("collect: with few descriptors there is an error or the whole bundle") {
    const ScratchDirectory folder;
    app::CollectOptions options;
    options.places.directories = {unwind_folder()};
    options.force = true;
    const std::string bundle = folder.file("bundle.zip");
    const std::vector<std::string> inputs = {unwind_folder() + "/dumps.data"};
    REQUIRE(app::collect_bundle(inputs, bundle, options, nullptr).has_value());
    const std::vector<std::byte> whole = read_test_file(bundle);
    const io::Descriptor lowest(::dup(0));
    REQUIRE(lowest);
    rlimit usual{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &usual) == 0);
    std::size_t failed = 0;
    std::size_t collected = 0;
    for (int more = 0; more < 16; ++more) {
      CAPTURE(more);
      rlimit few = usual;
      few.rlim_cur = static_cast<rlim_t>(lowest.get() + 1 + more);
      REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
      const auto report = app::collect_bundle(inputs, bundle, options, nullptr);
      REQUIRE(::setrlimit(RLIMIT_NOFILE, &usual) == 0);
      failed += report ? 0U : 1U;
      collected += report ? 1U : 0U;
      CHECK((report || report.error().os_error == EMFILE));
      CHECK(read_test_file(bundle) == whole);
    }
    CHECK(failed > 2);
    CHECK(collected > 2);
  }
#endif

  TEST_CASE("two machines: the vdso of another kernel comes out of the bundle") {
    const Result<io::Descriptor> running = io::open_running_vdso();
    if (!running) {
      return;  // emulators have none
    }
    const auto source = io::source_of_descriptor(running->get());
    std::vector<std::uint8_t> id(20, 0x5A);  // no kernel's
    const Result<app::SlimElf> slim = app::make_slim_elf(source.get(), nullptr, id);
    REQUIRE(slim.has_value());
    CHECK(slim->has_tables);
    const ScratchDirectory folder;
    symbolize::SymbolPlaces places;
    places.directories = {folder.file("bundle.zip")};
    {
      std::ofstream out(places.directories[0], std::ios::binary);
      codec::ZipWriter zip([&out](std::span<const std::byte> bytes) {
        for (const std::byte byte : bytes) {
          out.put(static_cast<char>(byte));
        }
        return Status();
      });
      const std::string name = symbolize::build_id_text(id);
      REQUIRE(zip.add(".build-id/5a/" + name.substr(2) + ".debug", slim->bytes));
      REQUIRE(zip.finish());
    }
    CHECK(symbolize::find_elf_files({"[vdso]", id}, places).end != symbolize::SearchEnd::kFound);
    REQUIRE(symbolize::open_bundles(places));
    const symbolize::FoundFiles found = symbolize::find_elf_files({"[vdso]", id}, places);
    CHECK(found.end == symbolize::SearchEnd::kFound);
    CHECK(found.layout.build_id == id);
    id.back() ^= 1;
    CHECK(symbolize::find_elf_files({"[vdso]", id}, places).end != symbolize::SearchEnd::kFound);
  }

  TEST_CASE("a bundle that lies is refused and counted in the file") {
    const ScratchDirectory folder;
    const std::string bundle = folder.file("bundle.zip");
    app::CollectOptions options;
    options.places.directories = {unwind_folder()};
    REQUIRE(app::collect_bundle({unwind_folder() + "/dumps.data"}, bundle, options, nullptr)
                .has_value());
    std::vector<std::byte> bytes = read_test_file(bundle);
    const std::byte first{0x9C};  // of the build id, in the note of the entry
    const std::byte second{0x82};
    bool changed = false;
    for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
      if (bytes[i] == first && bytes[i + 1] == second) {
        bytes[i] = std::byte{0};
        changed = true;
      }
    }
    REQUIRE(changed);
    std::ofstream out(bundle, std::ios::binary);
    for (const std::byte byte : bytes) {
      out.put(static_cast<char>(byte));
    }
    out.close();
    ConvertOptions convert_options;
    convert_options.unwind = true;
    convert_options.binary_folders = {bundle};
    const auto report =
        convert(unwind_folder() + "/dumps.data", folder.file("out.spk"), convert_options, nullptr);
    REQUIRE(report.has_value());
    std::uint64_t refused = 0;
    for (const LossCounter& loss : report->statistics.losses) {
      refused += loss.name == "unwind_kit_entries_refused" ? loss.count : 0;
    }
    CHECK(refused == 1);
  }
}

}  // namespace stackpack::test
