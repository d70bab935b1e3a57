#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "export/hand_made_capture.h"
#include <protozero/pbf_reader.hpp>

using namespace stackpack;
using test::HandMadeCapture;

namespace {

// What a reader of profile.proto sees, with every number followed.
struct DecodedProfile {
  std::vector<std::string> strings;
  std::vector<std::string> types;                          // "type/unit"
  std::map<std::string, std::vector<std::int64_t>> lines;  // "frame;frame label=x ..." to values
  std::map<std::uint64_t, std::string> locations;
  std::map<std::uint64_t, std::string> mappings;
  std::map<std::uint64_t, std::int64_t> functions;
  std::size_t samples = 0;
  std::int64_t duration = 0;
};

std::string prefixed_hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// Tables first: they are after the samples in the file.
void decode_tables(const std::string& content, DecodedProfile& profile) {
  for (protozero::pbf_reader top(content); top.next();) {
    if (top.tag() == 6) {
      profile.strings.push_back(top.get_string());
    } else if (top.tag() == 10) {
      profile.duration = top.get_int64();
    } else {
      top.skip();
    }
  }
  for (protozero::pbf_reader top(content); top.next();) {
    if (top.tag() == 5) {
      std::uint64_t id = 0;
      for (auto function = top.get_message(); function.next();) {
        if (function.tag() == 1) {
          id = function.get_uint64();
        } else if (function.tag() == 2) {
          profile.functions[id] = function.get_int64();
        } else {
          function.skip();
        }
      }
    } else if (top.tag() == 3) {
      std::uint64_t id = 0;
      std::string text;
      for (auto mapping = top.get_message(); mapping.next();) {
        if (mapping.tag() == 1) {
          id = mapping.get_uint64();
        } else if (mapping.tag() == 5 || mapping.tag() == 6) {
          text += profile.strings.at(mapping.get_uint64()) + "|";
        } else {
          text += prefixed_hex(mapping.get_uint64()) + "|";
        }
      }
      CHECK(profile.mappings.emplace(id, text).second);
    } else {
      top.skip();
    }
  }
  for (protozero::pbf_reader top(content); top.next();) {
    if (top.tag() != 4) {
      top.skip();
      continue;
    }
    std::uint64_t id = 0;
    std::string text;
    for (auto location = top.get_message(); location.next();) {
      if (location.tag() == 1) {
        id = location.get_uint64();
      } else if (location.tag() == 2) {
        text += profile.mappings.at(location.get_uint64());
      } else if (location.tag() == 3) {
        text += prefixed_hex(location.get_uint64());
      } else {
        auto line = location.get_message();
        REQUIRE(line.next(1));
        text +=
            profile.strings.at(static_cast<std::size_t>(profile.functions.at(line.get_uint64())));
      }
    }
    CHECK(profile.locations.emplace(id, text).second);
  }
}

std::string decode_label(protozero::pbf_reader label, const DecodedProfile& profile) {
  std::string text = " ";
  while (label.next()) {
    if (label.tag() == 1) {
      text += profile.strings.at(label.get_uint64()) + "=";
    } else if (label.tag() == 2) {
      text += profile.strings.at(label.get_uint64());
    } else {
      text += std::to_string(label.get_int64());
    }
  }
  return text;
}

DecodedProfile decode_profile(const std::string& content) {
  DecodedProfile profile;
  decode_tables(content, profile);
  for (protozero::pbf_reader top(content); top.next();) {
    if (top.tag() == 1) {
      auto type = top.get_message();
      REQUIRE(type.next(1));
      std::string text = profile.strings.at(type.get_uint64());
      REQUIRE(type.next(2));
      profile.types.push_back(text + "/" + profile.strings.at(type.get_uint64()));
    } else if (top.tag() == 2) {
      std::string line;
      std::vector<std::int64_t> values;
      for (auto sample = top.get_message(); sample.next();) {
        if (sample.tag() == 1) {
          for (const std::uint64_t id : sample.get_packed_uint64()) {
            line += profile.locations.at(id) + ";";
          }
        } else if (sample.tag() == 2) {
          for (const std::int64_t value : sample.get_packed_int64()) {
            values.push_back(value);
          }
        } else {
          line += decode_label(sample.get_message(), profile);
        }
      }
      auto& sum = profile.lines.try_emplace(line, values.size()).first->second;
      for (std::size_t i = 0; i < values.size(); ++i) {
        sum.at(i) += values[i];
      }
      ++profile.samples;
    } else {
      top.skip();
    }
  }
  return profile;
}

DecodedProfile exported_profile(const HandMadeCapture& capture, const ExportOptions& options) {
  const test::Exported result = test::export_with(exporting::write_pprof, capture, options, true);
  REQUIRE(result.status.has_value());
  return decode_profile(result.content);
}

}  // namespace

TEST_CASE("pprof: mappings, addresses, values and labels of every sample") {
  HandMadeCapture capture = test::small_capture();
  capture.tables.modules[1].build_id_kind = BuildIdKind::kGnu;
  capture.tables.modules[1].build_id = {0xab, 0xcd};
  capture.tables.modules[1].file_offset = 0x400;
  ExportOptions options;
  options.all_events = true;
  const DecodedProfile profile = exported_profile(capture, options);
  CHECK(profile.strings.at(0).empty());
  CHECK(profile.types == std::vector<std::string>{"samples/count", "cycles/count"});
  CHECK(profile.duration == 89'000);
  CHECK(profile.mappings.size() == 5);
  const std::string libc = "0x10000|0x11000|0x400|/lib/libc.so.6|abcd|0x10020;";
  const std::string alpha = "0x1000|0x2000|0x0|/bin/alpha||0x1010;";
  const std::string kernel = "0xffff0000|0x100000000|0x0|[kernel.kallsyms]||0xffff0100;";
  const std::string main = " pid=10 tid=10 comm=alpha event=";
  const std::string caller = "0x1000|0x2000|0x0|/bin/alpha||0x100f;";
  using Values = std::vector<std::int64_t>;
  CHECK(profile.lines.at(alpha + main + "cycles") == Values{2, 17});
  CHECK(profile.lines.at(libc + caller + main + "cycles") == Values{1, 6});
  CHECK(profile.lines.at(libc + caller + " pid=10 tid=11 comm=worker event=cycles") ==
        Values{1, 8});
  CHECK(profile.lines.at(kernel + libc + caller + main + "cycles") == Values{1, 10});
  CHECK(profile.lines.at(kernel + libc + caller + main + "sched:sched_switch") == Values{1, 0});
  CHECK(profile.lines.at(" pid=20 tid=20 comm=beta event=cycles") == Values{1, 11});
  CHECK(profile.lines.size() == 8);
  CHECK(profile.samples == 8);
  CHECK(profile.locations.size() == 7);
}

TEST_CASE("pprof: without a word the profile is about the event that samples time") {
  HandMadeCapture capture = test::small_capture();
  std::swap(capture.tables.events[0], capture.tables.events[1]);
  for (StoredSample& sample : capture.samples) {
    sample.event = 1 - sample.event;
  }
  const DecodedProfile profile = exported_profile(capture, {});
  CHECK(profile.types == std::vector<std::string>{"samples/count", "cycles/count"});
  std::int64_t samples = 0;
  for (const auto& [line, values] : profile.lines) {
    CHECK(line.ends_with("event=cycles"));
    samples += values.at(0);
  }
  CHECK(samples == 8);
}

TEST_CASE("pprof: little memory gives the same profile") {
  ExportOptions tight;
  tight.memory_limit = 0;
  const DecodedProfile small = exported_profile(test::small_capture(), tight);
  const DecodedProfile whole = exported_profile(test::small_capture(), {});
  CHECK(small.lines == whole.lines);
  CHECK(small.mappings.size() == whole.mappings.size());
}

TEST_CASE("pprof: epochs that change nothing for a stack do not split its sample") {
  HandMadeCapture capture = test::small_capture();
  for (std::uint64_t time = 1500; time < 5000; time += 500) {
    capture.add_module(kKernelPid, 0x7000'0000 + time, 1, "driver", time);
  }
  CHECK(exported_profile(capture, {}).samples == 7);
}

TEST_CASE("pprof: sums of weights stop at the largest number, of a line and of all") {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  HandMadeCapture capture;
  capture.tables.events = {{"cycles", true}};
  capture.add_thread(10, 10, "alpha");
  capture.add_module(10, 0x1000, 0x1000, "/bin/alpha");
  // The mappings of the kernel change between the two, so that they are groups of their own.
  capture.add_module(kKernelPid, 0x7000'0000, 1, "driver", 1500);
  const StackId stack = capture.add_stack({test::user(0x1010)});
  const StackId other = capture.add_stack({test::user(0x1020)});
  capture.add_sample(1000, 10, 10, stack).weight = kHalf;
  capture.add_sample(2000, 10, 10, stack).weight = kHalf + 5;
  capture.add_sample(2500, 10, 10, other).weight = 7;
  ExportOptions options;
  options.count = CountBy::kWeight;
  const test::Exported result = test::export_with(exporting::write_pprof, capture, options, true);
  REQUIRE(result.status.has_value());
  CHECK(result.report.weight == std::numeric_limits<std::uint64_t>::max());
  std::int64_t largest = 0;
  for (const auto& [line, values] : decode_profile(result.content).lines) {
    largest = std::max(largest, values.back());
  }
  CHECK(largest == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("pprof: names without addresses become functions") {
  HandMadeCapture capture;
  capture.tables.events = {{"cpu-clock:u", true}};
  capture.tables.metadata = {{"frames.synthetic", "1"}};
  capture.add_module(kKernelPid, 0x5000, 1, "main");
  capture.add_module(kKernelPid, 0x5001, 1, "work");
  capture
      .add_sample(7, kUnknownId, kUnknownId,
                  capture.add_stack({{FrameMode::kUnknown, 0x5001}, {FrameMode::kUnknown, 0x5000}}))
      .weight = 3;
  const DecodedProfile profile = exported_profile(capture, {});
  CHECK(profile.mappings.empty());
  CHECK(profile.types.at(1) == "cpu-clock:u/nanoseconds");
  CHECK(profile.lines ==
        std::map<std::string, std::vector<std::int64_t>>{{"work;main; event=cpu-clock:u", {1, 3}}});
}

TEST_CASE("pprof: more weighted events than columns share one") {
  HandMadeCapture capture;
  const StackId stack = capture.add_stack({test::user(1)});
  for (std::uint32_t i = 0; i < 17; ++i) {
    capture.tables.events.push_back({"e" + std::to_string(i), true});
    StoredSample& sample = capture.add_sample(i, 1, 1, stack);
    sample.event = i;
    sample.weight = i;
  }
  ExportOptions options;
  options.all_events = true;
  const DecodedProfile profile = exported_profile(capture, options);
  CHECK(profile.types == std::vector<std::string>{"samples/count", "period/count"});
  CHECK(profile.lines.at("0x1; pid=1 tid=1 event=e16") == std::vector<std::int64_t>{1, 16});
}

TEST_CASE("pprof: an imported profile whose events have no weights has the samples") {
  HandMadeCapture capture = test::small_capture();
  capture.tables.metadata = {{"samples.aggregated", "1"}};
  for (Event& event : capture.tables.events) {
    event.has_weight = false;
  }
  CHECK(exported_profile(capture, {}).types == std::vector<std::string>{"samples/count"});
}

TEST_CASE("pprof: functions and lines, inlined calls first") {
  const HandMadeCapture capture = test::named_capture();
  ExportOptions options;
  options.filter.events = {"cycles"};
  const DecodedProfile profile = exported_profile(capture, options);
  // Start, end, offset, file, build id; has functions, files, lines, inlined ones.
  const std::string alpha = "0x1000|0x2000|0x0|/bin/alpha||0x1|0x1|0x1|0x1|";
  const std::string beta = "0x1000|0x2000|0x0|/bin/beta||0x1|";
  std::set<std::string> places;
  for (const auto& [id, text] : profile.locations) {
    places.insert(text);
  }
  CHECK(places.contains(alpha + "0x1010main"));
  CHECK(places.contains(alpha + "0x100fhelpermain"));
  CHECK(places.contains(beta + "0x1010main"));
  CHECK(profile.functions.size() == 5);
  const auto has_text = [&profile](const std::string& text) {
    return std::count(profile.strings.begin(), profile.strings.end(), text) == 1;
  };
  CHECK(has_text("__libc_read"));
  CHECK(has_text("/src/util.h"));
  options.frames = FrameStyle::kModule;
  const DecodedProfile unnamed = exported_profile(capture, options);
  CHECK(unnamed.functions.empty());
  CHECK(unnamed.lines == exported_profile(test::small_capture(), options).lines);
}
