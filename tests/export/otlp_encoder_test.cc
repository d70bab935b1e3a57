#include <algorithm>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "export/hand_made_capture.h"
#include <protozero/pbf_reader.hpp>

using namespace stackpack;
using test::HandMadeCapture;

namespace {

struct DecodedSample {
  std::vector<std::uint64_t> times;
  std::vector<std::int64_t> values;

  bool operator==(const DecodedSample&) const = default;
};

// What a consumer sees with every index followed: event, then "frames attributes", then samples.
struct DecodedData {
  std::vector<std::string> strings;
  std::vector<std::string> attributes;
  std::vector<std::string> mappings;
  std::vector<std::string> functions;
  std::vector<std::string> locations;
  std::vector<std::string> stacks;
  std::map<std::string, std::map<std::string, DecodedSample>> profiles;
  std::vector<std::string> sample_types;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> ranges;  // first time, duration
};

std::vector<std::uint64_t> numbers(protozero::pbf_reader& message) {
  std::vector<std::uint64_t> result;
  for (const std::uint64_t value : message.get_packed_uint64()) {
    result.push_back(value);
  }
  return result;
}

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string decode_attribute(protozero::pbf_reader message, const DecodedData& data) {
  std::string text;
  while (message.next()) {
    if (message.tag() == 1) {
      text = data.strings.at(message.get_uint64()) + "=";
    } else {
      auto value = message.get_message();
      REQUIRE(value.next());
      text += value.tag() == 1 ? value.get_string() : std::to_string(value.get_int64());
    }
  }
  return text;
}

std::string decode_mapping(protozero::pbf_reader message, const DecodedData& data) {
  std::string text;
  while (message.next()) {
    if (message.tag() == 4) {
      text += data.strings.at(message.get_uint64());
    } else if (message.tag() == 5) {
      for (const std::uint64_t attribute : numbers(message)) {
        text += "{" + data.attributes.at(attribute) + "}";
      }
    } else {
      text += hex(message.get_uint64()) + "|";
    }
  }
  return text;
}

std::string decode_location(protozero::pbf_reader message, const DecodedData& data) {
  std::string text;
  while (message.next()) {
    if (message.tag() == 1) {
      text += data.mappings.at(message.get_uint64()) + "@";
    } else if (message.tag() == 2) {
      text += hex(message.get_uint64());
    } else if (message.tag() == 3) {
      auto line = message.get_message();
      REQUIRE(line.next(1));
      text += data.functions.at(line.get_uint64());
    } else {
      CHECK(message.tag() == 4);
      CHECK(numbers(message).size() == 1);
    }
  }
  return text;
}

std::string decode_stack(protozero::pbf_reader message, const DecodedData& data) {
  std::string text;
  while (message.next(1)) {
    for (const std::uint64_t location : numbers(message)) {
      text += data.locations.at(location) + ";";
    }
  }
  return text;
}

// The experiment: node i hangs below parents[i].
void decode_tree(protozero::pbf_reader message, DecodedData& data) {
  std::vector<std::uint64_t> parents;
  std::vector<std::uint64_t> places;
  while (message.next()) {
    std::vector<std::uint64_t>& array = message.tag() == 1 ? parents : places;
    array = numbers(message);
  }
  REQUIRE(parents.size() == places.size());
  data.stacks = {""};
  for (std::size_t i = 1; i < parents.size(); ++i) {
    REQUIRE(parents[i] < i);
    data.stacks.push_back(data.locations.at(places[i]) + ";" + data.stacks[parents[i]]);
  }
}

void decode_dictionary(const protozero::pbf_reader& dictionary, DecodedData& data) {
  const auto each = [&](std::uint32_t tag, const auto& visit) {
    for (protozero::pbf_reader table = dictionary; table.next();) {
      if (table.tag() == tag) {
        visit(table);
      } else {
        table.skip();
      }
    }
  };
  using Reader = protozero::pbf_reader;
  each(5, [&](Reader& in) { data.strings.push_back(in.get_string()); });
  each(6, [&](Reader& in) { data.attributes.push_back(decode_attribute(in.get_message(), data)); });
  each(1, [&](Reader& in) { data.mappings.push_back(decode_mapping(in.get_message(), data)); });
  each(3, [&](Reader& in) {
    auto function = in.get_message();
    data.functions.push_back(function.next(1) ? data.strings.at(function.get_uint64()) : "");
  });
  each(2, [&](Reader& in) { data.locations.push_back(decode_location(in.get_message(), data)); });
  each(7, [&](Reader& in) { data.stacks.push_back(decode_stack(in.get_message(), data)); });
  each(1000, [&](Reader& in) { decode_tree(in.get_message(), data); });
}

void decode_profile(protozero::pbf_reader profile, DecodedData& data) {
  std::map<std::string, DecodedSample> samples;
  std::string event;
  std::pair<std::uint64_t, std::uint64_t> range;
  while (profile.next()) {
    if (profile.tag() == 3) {
      range.first = profile.get_fixed64();
    } else if (profile.tag() == 4) {
      range.second = profile.get_uint64();
    } else if (profile.tag() == 2) {
      std::string key;
      DecodedSample decoded;
      std::set<std::uint64_t> attributes;
      for (auto sample = profile.get_message(); sample.next();) {
        if (sample.tag() == 1) {
          key = data.stacks.at(sample.get_uint64());
        } else if (sample.tag() == 2) {
          for (const std::uint64_t attribute : numbers(sample)) {
            CHECK(attributes.insert(attribute).second);
            key += " " + data.attributes.at(attribute);
          }
        } else if (sample.tag() == 4) {
          for (const std::int64_t value : sample.get_packed_int64()) {
            decoded.values.push_back(value);
          }
        } else if (sample.tag() == 5) {
          for (const std::uint64_t time : sample.get_packed_fixed64()) {
            decoded.times.push_back(time);
          }
        }
      }
      CHECK((decoded.values.empty() || decoded.times.empty() ||
             decoded.values.size() == decoded.times.size()));
      CAPTURE(key);
      CHECK(samples.emplace(key, decoded).second);  // each identity once
    } else if (profile.tag() == 11) {
      event = data.attributes.at(numbers(profile).at(0));
    } else if (profile.tag() == 1) {
      auto type = profile.get_message();
      REQUIRE(type.next(1));
      data.sample_types.push_back(data.strings.at(type.get_uint64()));
    } else {
      profile.skip();
    }
  }
  data.profiles.emplace(event, samples);
  data.ranges.emplace(event, range);
}

DecodedData decode(const std::string& content) {
  DecodedData data;
  for (protozero::pbf_reader top(content); top.next();) {
    if (top.tag() == 2) {
      decode_dictionary(top.get_message(), data);
    } else {
      top.skip();
    }
  }
  CHECK(data.strings.at(0).empty());
  CHECK(data.mappings.at(0).empty());
  CHECK(data.locations.at(0).empty());
  for (protozero::pbf_reader top(content); top.next();) {
    if (top.tag() != 1) {
      top.skip();
      continue;
    }
    auto resource = top.get_message();
    while (resource.next(2)) {
      auto scope = resource.get_message();
      while (scope.next()) {
        if (scope.tag() == 2) {
          decode_profile(scope.get_message(), data);
        } else {
          scope.skip();
        }
      }
    }
  }
  return data;
}

DecodedData exported(const HandMadeCapture& capture, const ExportOptions& options) {
  const test::Exported result = test::export_with(exporting::write_otlp, capture, options);
  REQUIRE(result.status.has_value());
  return decode(result.content);
}

}  // namespace

TEST_CASE("otlp: profiles by event, samples with the times of each callstack and thread") {
  HandMadeCapture capture = test::small_capture();
  capture.tables.modules[0].build_id_kind = BuildIdKind::kGnu;
  capture.tables.modules[0].build_id = {0xab, 0xcd};
  capture.tables.metadata = {{"clock.wall_offset_ns", "7000000"}};
  const std::string alpha = "1000|2000|0|/bin/alpha{process.executable.build_id.gnu=abcd}@1010;";
  const std::string caller = "1000|2000|0|/bin/alpha{process.executable.build_id.gnu=abcd}@100f;";
  const std::string libc = "10000|11000|0|/lib/libc.so.6@10020;";
  const std::string kernel = "ffff0000|100000000|0|[kernel.kallsyms]@ffff0100;";
  const std::string main =
      " process.pid=10 process.executable.name=alpha thread.id=10 thread.name=alpha";
  for (const bool tree : {false, true}) {
    for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1} << 20}) {
      CAPTURE(tree);
      CAPTURE(limit);
      ExportOptions options;
      options.otlp.stack_tree = tree;
      options.count = CountBy::kSamples;
      options.memory_limit = limit;
      const DecodedData data = exported(capture, options);
      const auto& cycles = data.profiles.at("stackpack.event=cycles");
      CHECK(cycles.size() == 7);
      CHECK(cycles.at(alpha + main) == DecodedSample{{7'001'000, 7'090'000}, {}});
      CHECK(cycles.at(kernel + libc + caller + main) == DecodedSample{{7'004'000}, {}});
      CHECK(data.profiles.at("stackpack.event=sched:sched_switch").size() == 1);
      CHECK(data.sample_types.at(0) == "samples");
    }
  }
}

TEST_CASE("otlp: the end of a profile lies behind its last sample") {
  HandMadeCapture capture = test::small_capture();
  const std::pair<std::uint64_t, std::uint64_t> range{1000, 89'001};  // samples at 1000 to 90,000
  for (const auto& [event, known] : exported(capture, {}).ranges) {
    CAPTURE(event);
    CHECK(known == range);
  }
  ExportOptions at_once;
  at_once.filter.from = CaptureTime{90'000, false};
  const auto moment = exported(capture, at_once).ranges.at("stackpack.event=cycles");
  CHECK(moment == std::pair<std::uint64_t, std::uint64_t>{90'000, 1});
}

TEST_CASE("otlp: weights are values, one for each time") {
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1} << 20}) {
    CAPTURE(limit);
    ExportOptions options;
    options.filter.events = {"cycles"};  // which have weights
    options.memory_limit = limit;
    const DecodedData data = exported(test::small_capture(), options);
    const auto& cycles = data.profiles.at("stackpack.event=cycles");
    bool found = false;
    for (const auto& [key, sample] : cycles) {
      found = found || sample == DecodedSample{{1000, 90'000}, {5, 12}};
    }
    CHECK(found);
    CHECK(data.sample_types.at(0) == "cycles");
  }
}

TEST_CASE("otlp: epochs do not split a sample") {
  HandMadeCapture capture = test::small_capture();
  for (std::uint64_t time = 1500; time < 5000; time += 500) {
    capture.add_module(kKernelPid, 0x7000'0000 + time, 1, "driver", time);
  }
  for (const std::uint64_t limit : {std::uint64_t{4000}, std::uint64_t{1} << 20}) {
    ExportOptions options;
    options.memory_limit = limit;
    CHECK(exported(capture, options).profiles.at("stackpack.event=cycles").size() == 7);
  }
}

TEST_CASE("otlp: a file of counts gives values and no times") {
  HandMadeCapture capture = test::small_capture();
  capture.tables.has_samples = false;
  capture.tables.stack_counts = {{0, 0, 10, StackOrigin::kRecorded, 4, 400}};
  const DecodedData data = exported(capture, {});
  const auto& cycles = data.profiles.at("stackpack.event=cycles");
  REQUIRE(cycles.size() == 1);
  CHECK(cycles.begin()->second == DecodedSample{{}, {400}});
}

TEST_CASE("otlp: functions and lines, inlined calls first, and what kind of code it is") {
  ExportOptions options;
  options.filter.events = {"cycles"};
  const HandMadeCapture capture = test::named_capture();
  const DecodedData data = exported(capture, options);
  const std::set<std::string> places(data.locations.begin(), data.locations.end());
  CHECK(places == std::set<std::string>{
                      "", "1000|2000|0|/bin/alpha@1010main",
                      "1000|2000|0|/bin/alpha@100fhelpermain", "1000|2000|0|/bin/beta@1010main",
                      "1000|2000|0|/bin/beta@100fmain", "10000|11000|0|/lib/libc.so.6@10020read",
                      "20000|21000|0|/lib/libc.so.6@20020read",
                      "ffff0000|100000000|0|[kernel.kallsyms]@ffff0100do_read"});
  CHECK(std::multiset<std::string>(data.functions.begin(), data.functions.end()) ==
        std::multiset<std::string>{"", "do_read", "helper", "main", "main", "read"});
  const auto has = [](const std::vector<std::string>& texts, const std::string& text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
  };
  CHECK(has(data.attributes, "profile.frame.type=dotnet"));
  CHECK(has(data.strings, "__libc_read"));
  options.frames = FrameStyle::kModule;
  CHECK(exported(capture, options).profiles == exported(test::small_capture(), options).profiles);
}
