#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/merge/image_table.h"
#include "app/merge/input_processes.h"
#include "app/merge/name_union.h"
#include "app/merge/source_set.h"
#include "capture/rebased_addresses.h"
#include "stackpack/model.h"
#include "stackpack/names.h"
#include "stackpack/sources.h"

using stackpack::BuildIdKind;
using stackpack::Function;
using stackpack::FunctionOwner;
using stackpack::kUnknownId;
using stackpack::kUnknownTime;
using stackpack::MergedSource;
using stackpack::Module;
using stackpack::Names;
using stackpack::capture::RebasedAddresses;
namespace app = stackpack::app;

namespace {

Module module_of(const std::string& path, std::uint8_t id, std::uint64_t size,
                 std::uint64_t offset = 0) {
  Module module;
  module.pid = 7;
  module.base = 0x40'0000;
  module.size = size;
  module.file_offset = offset;
  module.path = path;
  if (id != 0) {
    module.build_id_kind = BuildIdKind::kGnu;
    module.build_id.assign(20, id);
  }
  return module;
}

MergedSource source_of(std::uint8_t id, std::uint64_t start_ns) {
  MergedSource source;
  source.id.fill(std::byte{id});
  source.start_ns = start_ns;
  return source;
}

Names names_of(const std::string& name, std::uint64_t start) {
  Names names;
  names.texts.add(name);
  Function function;
  function.owner = FunctionOwner::kImage;
  function.start = start;
  function.size = 16;
  function.name = 0;
  names.functions.push_back(function);
  return names;
}

}  // namespace

TEST_CASE("image table: a build id is an image, whatever the path and the order") {
  const Module a = module_of("/usr/lib/libc.so.6", 1, 0x1000, 0x2000);
  const Module b = module_of("/lib/libc.so.6", 1, 0x4000, 0x2000);
  const Module other = module_of("/lib/libc.so.6", 2, 0x1000);
  const Module none = module_of("/lib/libc.so.6", 0, 0x1000);
  std::vector<Module> results;
  for (const bool reversed : {false, true}) {
    std::vector<Module> order{a, b, other, none};
    if (reversed) {
      std::reverse(order.begin(), order.end());
    }
    app::ImageTable images;
    for (const Module& module : order) {
      images.add(module, module.file_offset + module.size);
    }
    CHECK(images.add(a, 0x3000) == images.add(b, 0x6000));
    CHECK(images.add(a, 0x3000) != images.add(other, 0x1000));
    REQUIRE(images.place().has_value());
    const std::vector<Module> rows = images.modules();
    REQUIRE(rows.size() == 3);
    CHECK(rows[images.row(images.add(a, 0x3000))].path == "/lib/libc.so.6");
    CHECK(images.extent(images.add(a, 0x3000)) == 0x6000);
    for (std::size_t i = 1; i < rows.size(); ++i) {
      // A return address behind the last byte is not the next image's.
      CHECK(rows[i].base > rows[i - 1].base + rows[i - 1].size);
    }
    CHECK(RebasedAddresses::in_range(rows.front().base));
    if (reversed) {
      CHECK(rows == results);
    }
    results = rows;
  }
}

TEST_CASE("image table: a build id of zeros is none, whatever its kind and length") {
  for (const BuildIdKind kind : {BuildIdKind::kGnu, BuildIdKind::kPdb}) {
    for (const std::size_t length : {std::size_t{0}, std::size_t{8}, std::size_t{20}}) {
      CAPTURE(length);
      Module one = module_of("/bin/one", 1, 0x1000);
      Module other = module_of("/bin/other", 1, 0x1000);
      one.build_id_kind = other.build_id_kind = kind;
      one.build_id.assign(length, 0);
      other.build_id.assign(length, 0);
      app::ImageTable images;
      const std::uint32_t number = images.add(one, 0x1000);
      CHECK(number != images.add(other, 0x1000));
      CHECK(number == images.add(module_of("/bin/one", 0, 0x1000), 0x1000));
      REQUIRE(images.place().has_value());
      for (const Module& row : images.modules()) {
        CHECK(row.build_id_kind == BuildIdKind::kNone);
        CHECK(row.build_id.empty());
      }
      // A single byte that is set makes it one.
      if (length != 0) {
        one.build_id.back() = 1;
        other.build_id.back() = 1;
        CHECK(images.add(one, 0x1000) == images.add(other, 0x1000));
      }
    }
  }
}

TEST_CASE("image table: images that do not fit are an error, not an overlap") {
  app::ImageTable images;
  for (std::uint32_t i = 0; i < 40'000; ++i) {
    images.add(module_of("/huge" + std::to_string(i), 0, 0), RebasedAddresses::kMostExtent);
  }
  const stackpack::Status placed = images.place();
  REQUIRE_FALSE(placed.has_value());
  CHECK(placed.error().code == stackpack::ErrorCode::kLimit);
}

TEST_CASE("input images: the kernel begins at its reference, memory without a file is none") {
  Module kernel = module_of("[kernel.kallsyms]", 3, 0x2000'0000);
  kernel.pid = stackpack::kKernelPid;
  kernel.base = 0xFFFF'FFFF'8000'0000;
  app::ImageTable images;
  const std::vector<Module> modules{kernel, module_of("//anon", 0, 0x1000),
                                    module_of("/bin/true", 4, 0x1000, 0x2000)};
  const auto found = input_images(
      modules,
      std::vector<stackpack::MetadataEntry>{{"kernel.reference_address", "0xffffffff81000000"}},
      false, images);
  REQUIRE(found.size() == 3);
  CHECK(found[0].shift == 0x100'0000);
  CHECK(images.extent(found[0].image) == 0x1F00'0000);
  CHECK(found[1].image == app::InputImage::kNone);
  CHECK(found[2].shift == 0);
  CHECK(images.extent(found[2].image) == 0x3000);
}

TEST_CASE("source clock: wall time keeps the order, and stops at the ends") {
  app::SourceClock clock;
  CHECK(clock.time(5) == 5);
  clock.wall_offset_ns = 1000;
  CHECK(clock.time(5) == 1005);
  CHECK(clock.time(kUnknownTime) == kUnknownTime);
  CHECK(clock.time(kUnknownTime - 1) == kUnknownTime - 1);
  clock.wall_offset_ns = -10;
  CHECK(clock.time(5) == 0);
  CHECK(clock.time(15) == 5);
  const std::vector<stackpack::MetadataEntry> damaged{{"clock.wall_offset_ns", "12x"}};
  CHECK_FALSE(app::SourceClock::of(damaged).wall_offset_ns.has_value());
  const std::vector<stackpack::MetadataEntry> good{{"clock.wall_offset_ns", "-12"}};
  CHECK(app::SourceClock::of(good).wall_offset_ns == -12);
}

TEST_CASE("pid numbers: by source and recorded pid, from 1 on") {
  app::PidNumbers numbers;
  const std::uint32_t a = numbers.number(1, 5);
  const std::uint32_t b = numbers.number(0, kUnknownId);
  const std::uint32_t c = numbers.number(0, 9);
  CHECK(numbers.number(1, 5) == a);
  const app::PidNumbers::Final result = numbers.finish(2);
  CHECK(result.pids[c] == 1);
  CHECK(result.pids[b] == 2);
  CHECK(result.pids[a] == 3);
  CHECK(result.sources == std::vector<std::vector<std::uint32_t>>{{9, kUnknownId}, {5}});
}

TEST_CASE("source set: a source counts once, the file with more names speaks for it") {
  MergedSource plain = source_of(1, 20);
  MergedSource named = plain;
  named.functions = 3;
  const MergedSource other = source_of(2, 10);
  for (const bool reversed : {false, true}) {
    app::SourceSet set;
    CHECK(set.add(0, std::vector{reversed ? named : plain}) == 0);
    CHECK(set.add(1, std::vector{other, reversed ? plain : named}) == 1);
    set.finish();
    REQUIRE(set.sources().size() == 2);
    CHECK(set.sources()[0] == other);
    CHECK(set.sources()[1] == named);
    CHECK(set.rank(1, 0) == 0U);
    CHECK(set.rank(0, 0).has_value() == reversed);
    CHECK(set.rank(1, 1).has_value() == !reversed);
  }
}

TEST_CASE("input processes: pids of a merged file are those of its sources") {
  MergedSource first = source_of(1, 10);
  first.pids = {4, 8};
  MergedSource second = source_of(2, 20);
  second.pids = {8};
  const std::vector<MergedSource> sources{first, second};
  app::SourceSet set;
  set.add(0, std::vector{first});
  set.add(1, sources);
  set.finish();
  app::PidNumbers numbers;
  app::InputProcesses processes(1, sources, true, set, numbers);
  REQUIRE(processes.find(2).has_value());
  CHECK_FALSE(processes.find(2)->wanted);  // read from input 0
  REQUIRE(processes.find(3).has_value());
  CHECK(processes.find(3)->wanted);
  CHECK(processes.find(3)->rank == 1);
  CHECK_FALSE(processes.find(0).has_value());
  CHECK_FALSE(processes.find(4).has_value());
}

TEST_CASE("name union: what comes out does not depend on the order, equal rows come once") {
  const Module image = module_of("/bin/a", 1, 0x1000);
  Names results;
  for (const bool reversed : {false, true}) {
    app::ImageTable images;
    const std::uint32_t number = images.add(image, 0x1000);
    REQUIRE(images.place().has_value());
    std::vector<Names> inputs{names_of("alpha", 0x10), names_of("beta", 0x10),
                              names_of("alpha", 0x10), names_of("gamma", 0x40)};
    if (reversed) {
      std::reverse(inputs.begin(), inputs.end());
    }
    app::NameUnion names;
    for (const Names& input : inputs) {
      names.add_function(number, input.functions[0].start, input, input.functions[0]);
      app::NameUnion::NamedCode code;
      code.function = &input.functions[0];
      names.add_name(input, code);
    }
    REQUIRE(names.finish().has_value());
    app::NameUnion::NamedCode beta;
    beta.function = &inputs[1].functions[0];
    const auto address = names.address_of(inputs[1], beta);
    REQUIRE(address.has_value());
    CHECK(RebasedAddresses::is_name(*address));
    app::NameUnion::NamedCode unknown;
    unknown.name = "delta";
    CHECK_FALSE(names.address_of(inputs[1], unknown).has_value());
    const Names merged = names.names(images);
    CHECK(merged.functions.size() == 3 + 3);
    if (reversed) {
      CHECK(merged == results);
    }
    results = merged;
  }
}
