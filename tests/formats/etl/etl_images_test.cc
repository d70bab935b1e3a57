// Images and the configuration of the system: events that are rare, incomplete or of no use.
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "support/etl_reading.h"

namespace stackpack::test {
namespace {

constexpr etl::Guid kSystemConfig =
    etl::make_guid(0x9b79ee91, 0xb5fd, 0x41c0, 0xa243, 0x4248e266e9d0);
constexpr etl::Guid kImageId = etl::make_guid(0xb3e675d7, 0x2554, 0x4f18, 0x830b, 0x2762732560de);

std::map<std::string, std::string> metadata_of(EtlReading& reading) {
  std::map<std::string, std::string> result;
  for (const MetadataEntry& entry : reading.sink.system_facts.finish().metadata) {
    result[entry.key] = entry.value;
  }
  return result;
}

TEST_SUITE_BEGIN("etl images");

TEST_CASE("the build and the paths of the system are metadata, empty ones are not") {
  struct Case {
    std::string lab, product, root;
  };
  for (const Case& c : {Case{"19041.vb_release", "Windows 10 Pro", "C:\\Windows"},
                        Case{"lab", "", ""}, Case{"", "product", ""}}) {
    CAPTURE(c.lab);
    const auto reading = read_etl(make_etl({}, [&](EtlWriter& out) {
      TestBytes build;
      build.zeros(8);
      put_wide(build, c.lab);
      put_wide(build, c.product);
      out.class_event(0, 10, kSystemConfig, 32, 2, 0, 0, build);
      TestBytes paths;
      put_wide(paths, "C:\\Windows\\system32");
      put_wide(paths, c.root);
      out.class_event(0, 20, kSystemConfig, 33, 2, 0, 0, paths);
      out.class_event(0, 30, kSystemConfig, 99, 2, 0, 0, TestBytes().text("whatever"));
      out.class_event(0, 40, kSystemConfig, 32, 2, 0, 0, TestBytes().zeros(5));  // cut
    }));
    auto metadata = metadata_of(*reading);
    CHECK(metadata["os.build_lab"] == c.lab);
    CHECK(metadata["os.product"] == c.product);
    CHECK(metadata["os.root"] == c.root);
  }
}

TEST_CASE("an image that is only seen to go was there before the trace") {
  const auto reading = read_etl(make_etl(
      {}, [](EtlWriter& out) { out.image(0, 1'000'030, 2, 50, 0x500000, 0x2000, "b.dll"); }));
  const auto modules = reading->sink.system_facts.finish().modules;
  REQUIRE(modules.size() == 1);
  CHECK(modules[0].path == "b.dll");
  CHECK(modules[0].start_ns == kUnknownTime);
  CHECK(modules[0].end_ns != kUnknownTime);
}

TEST_CASE("identities of images that are cut are counted, of other kinds passed over") {
  const auto reading = read_etl(make_etl({}, [](EtlWriter& out) {
    out.image(0, 1'000'010, 10, 50, 0x400000, 0x1000, "a.dll");
    TestBytes cut;
    cut.u64(0x400000).u32(50).zeros(19);
    out.class_event(0, 20, kImageId, 36, 2, 0, 50, cut);
    out.class_event(0, 30, kImageId, 37, 2, 0, 50, TestBytes().u64(0x400000).u32(50).zeros(30));
  }));
  CHECK(reading->summary.pdb_records == 1);
  CHECK(reading->loss("bad_system_events") == 1);
  const auto modules = reading->sink.system_facts.finish().modules;
  REQUIRE(modules.size() == 1);
  CHECK(modules[0].build_id_kind == BuildIdKind::kNone);
}

TEST_CASE("names of volumes are kept up to a megabyte, and of later ones paths stay") {
  constexpr std::size_t kNameBytes = 20'000;
  constexpr std::size_t kVolumes = 60;  // more than fit
  const auto device = [](std::size_t number) {
    std::string name = "\\Device\\Volume" + std::to_string(number);
    name.resize(kNameBytes, 'x');
    return name + '\\';
  };
  const auto reading = read_etl(make_etl({}, [&](EtlWriter& out) {
    for (std::size_t i = 0; i < kVolumes; ++i) {
      out.volume(0, 100 + i, device(i), "C:\\");
    }
    out.image(0, 1000, 10, 50, 0x400000, 0x1000, device(0) + "a.dll");
    out.image(0, 1001, 10, 50, 0x500000, 0x1000, device(kVolumes - 1) + "b.dll");
    out.image(0, 1002, 2, 50, 0x500000, 0x1000, "");
  }));
  const auto modules = reading->sink.system_facts.finish().modules;
  REQUIRE(modules.size() == 2);
  CHECK(modules[0].path == "C:\\a.dll");
  CHECK(modules[1].path == device(kVolumes - 1) + "b.dll");
  CHECK(reading->summary.image_events == 3);
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
