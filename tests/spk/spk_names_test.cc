// Functions, inlined calls and lines in a file.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "spk/format/layout.h"
#include "stackpack/names.h"
#include "support/spk_reading.h"
#include "support/spk_surgery.h"

namespace stackpack::test {
namespace {

struct NamedFunction {
  Function row;
  std::string name;
  std::string linkage;
  std::string file;
};

// Functions of processes, of the kernel and of images, in the order of a file.
std::vector<NamedFunction> random_functions(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<NamedFunction> functions;
  std::uint64_t start = 0;
  for (std::size_t i = 0; i < count; ++i) {
    NamedFunction function;
    const std::size_t part = i * 3 / count;
    if (i * 3 / count != (i == 0 ? 0 : (i - 1) * 3 / count)) {
      start = 0;
    }
    function.row.owner = static_cast<FunctionOwner>(part);
    function.row.pid = part == 0 ? 4711 : kKernelPid;
    function.row.module = part == 2 ? 1 : 0;
    start += random.below(5) == 0 ? random.below(1U << 30) : 1 + random.below(500);
    function.row.start = start;
    function.row.size = 1 + random.below(3000);
    function.row.born_ns = random.below(2) == 0 ? kUnknownTime : i * 1'000'003;
    function.row.source = static_cast<FunctionSource>(random.below(kFunctionSourceCount));
    function.row.line = static_cast<std::uint32_t>(random.below(100));
    function.name = "namespace::function" + std::to_string(random.below(count));
    function.linkage = random.below(2) == 0 ? "" : "_ZN" + function.name;
    function.file = random.below(3) == 0 ? "" : "file" + std::to_string(random.below(9)) + ".cc";
    functions.push_back(std::move(function));
  }
  return functions;
}

SpkContent content_with(const std::vector<NamedFunction>& functions) {
  SpkContent content = random_content(3, 12, 25);
  content.tables.modules.resize(2);
  content.add_names = [&functions](spk::NameWriter& names) {
    for (const NamedFunction& function : functions) {
      if (const Status added =
              names.add(function.row, {function.name, function.linkage, function.file});
          !added) {
        return added;
      }
    }
    return Status{};
  };
  return content;
}

Names names_of(const std::vector<std::byte>& file) {
  const auto reader = open_spk(file);
  CHECK(failure(reader->verify()).empty());
  Result<Names> names = reader->names();
  REQUIRE_MESSAGE(names.has_value(), failure(names));
  return std::move(*names);
}

TEST_SUITE("spk names") {
  TEST_CASE("spk names: functions come back as they were, texts once each") {
    for (const std::size_t count : {1U, 4096U, 10'000U}) {
      const std::vector<NamedFunction> functions = random_functions(count, count);
      const Names names = names_of(spk_bytes(content_with(functions)));
      REQUIRE(names.functions.size() == count);
      std::vector<std::string> texts;
      for (std::size_t i = 0; i < count; ++i) {
        const NamedFunction& given = functions[i];
        Function row = names.functions[i];
        CHECK(names.texts[row.name] == given.name);
        CHECK(names.texts[row.linkage] == given.linkage);
        CHECK(names.texts[row.file] == given.file);
        for (const std::string& text : {given.name, given.linkage, given.file}) {
          texts.push_back(text);
        }
        row.name = row.linkage = row.file = kNoText;
        CHECK(row == given.row);
      }
      std::sort(texts.begin(), texts.end());
      texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
      CHECK(names.texts.size() == texts.size() - (texts.front().empty() ? 1 : 0));
    }
  }

  TEST_CASE("spk names: aliases come back by name, those of functions that are not there do not") {
    const std::vector<NamedFunction> functions = random_functions(7, 300);
    SpkContent content = content_with(functions);
    std::vector<std::pair<std::string, std::string>> given;
    for (int i = 0; i < 9000; ++i) {
      given.emplace_back(functions[static_cast<std::size_t>(i) % 300].name,
                         "alias" + std::to_string(i % 8000));
    }
    content.add_names = [&given, add = content.add_names](spk::NameWriter& names) {
      if (const Status added = add(names); !added) {
        return added;
      }
      for (auto pair = given.rbegin(); pair != given.rend(); ++pair) {
        if (const Status added = names.add_alias(pair->first, pair->second); !added) {
          return added;
        }
      }
      REQUIRE(names.add_alias("of no function", "alias"));
      return names.add_alias(given.front().first, given.front().first);
    };
    const Names names = names_of(spk_bytes(content));
    std::vector<std::pair<std::string, std::string>> read;
    for (const FunctionAlias& row : names.aliases) {
      read.emplace_back(names.texts[row.name], names.texts[row.alias]);
    }
    std::sort(read.begin(), read.end());
    std::sort(given.begin(), given.end());
    given.erase(std::unique(given.begin(), given.end()), given.end());
    CHECK(read == given);
  }

  TEST_CASE("spk names: aliases without their texts, and texts without aliases, are damage") {
    const std::vector<NamedFunction> functions = random_functions(7, 3);
    SpkContent content = content_with(functions);
    content.add_names = [&functions, add = content.add_names](spk::NameWriter& names) {
      const Status added = add(names);
      return added ? names.add_alias(functions.back().name, "alias") : added;
    };
    const std::vector<std::byte> good = spk_bytes(content);
    CHECK(names_of(good).aliases.size() == 1);
    constexpr std::uint32_t kUnknownKind = 999;
    for (const auto kind : {spk::SectionKind::kFunctionAliases, spk::SectionKind::kAliasTexts}) {
      SpkParts parts = take_apart(good);
      parts.section(kind).kind = kUnknownKind;
      CHECK(!open_spk(parts.join())->names().has_value());
    }
    for (const std::uint64_t items : {std::uint64_t{0}, std::uint64_t{2}, ~std::uint64_t{0}}) {
      SpkParts parts = take_apart(good);
      parts.section(spk::SectionKind::kFunctionAliases).items = items;
      CHECK(!open_spk(parts.join())->names().has_value());
      parts.section(spk::SectionKind::kAliasTexts).items = items;
      CHECK(!open_spk(parts.join())->names().has_value());
    }
  }

  TEST_CASE("spk names: long names that are alike take as many bytes as readers want of them") {
    constexpr std::size_t kBytes = 60'000;
    std::vector<NamedFunction> functions = random_functions(5, 150);
    for (std::size_t i = 0; i < functions.size(); ++i) {
      functions[i].name = std::to_string(i) + std::string(kBytes, 'x');
      functions[i].linkage = functions[i].file = "";
    }
    const std::vector<std::byte> file = spk_bytes(content_with(functions));
    SpkParts parts = take_apart(file);
    const spk::SectionRecord& texts = parts.section(spk::SectionKind::kTexts);
    CHECK(texts.raw_bytes > kBytes * functions.size());
    CHECK(texts.raw_bytes > 4 * texts.stored_bytes);  // most of it is compressed
    CHECK((texts.raw_bytes - spk::kFreeTableBytes) / spk::kMostTableRatio < texts.stored_bytes);
    const Names names = names_of(file);
    for (std::size_t i = 0; i < functions.size(); ++i) {
      CHECK(names.texts[names.functions.at(i).name] == functions[i].name);
    }
  }

  TEST_CASE("spk names: a function that no reader would take is not written") {
    for (const auto& [start, size] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
             {~std::uint64_t{0}, 1}, {~std::uint64_t{0} - 9, 10}, {5, 0}, {1, ~std::uint64_t{0}}}) {
      Function row;
      row.owner = FunctionOwner::kKernel;
      row.start = start;
      row.size = size;
      CHECK_FALSE(spk::is_addressable(row));
      SpkContent content;
      content.add_names = [&row](spk::NameWriter& names) { return names.add(row, {"f", {}, {}}); };
      const ScratchDirectory folder;
      const auto written = write_spk(content, {}, folder.file("f.spk"));
      REQUIRE_FALSE(written.has_value());
      CHECK(written.error().what == "spk: a function ends beyond the last address");
    }
  }

  TEST_CASE("spk names: inlined calls and lines") {
    SpkContent content = random_content(3, 12, 25);
    content.tables.modules.resize(1);
    CodeLine line;
    line.owner = FunctionOwner::kImage;
    line.size = 4;
    content.add_names = [&line](spk::NameWriter& names) -> Status {
      InlinedCall call;
      call.call_line = 7;
      REQUIRE(names.add(call, {"outer", "_outer", "a.c"}));
      call.parent = 0;
      call.call_line = 9;
      REQUIRE(names.add(call, {"inner", "", "b.c"}));
      line.inlined = 1;
      line.line = 11;
      REQUIRE(names.add(line, {"", "", "c.c"}));
      line.start = 4;
      line.inlined = kNoInline;
      line.line = 3;
      return names.add(line, {"", "", "a.c"});
    };
    const Names names = names_of(spk_bytes(content));
    REQUIRE(names.inlined.size() == 2);
    CHECK(names.inlined[0].parent == kNoInline);
    CHECK(names.inlined[1].parent == 0);
    CHECK(names.inlined[1].call_line == 9);
    CHECK(names.texts[names.inlined[1].call_file] == "b.c");
    REQUIRE(names.lines.size() == 2);
    CHECK(names.lines[0].inlined == 1);
    CHECK(names.lines[1].inlined == kNoInline);
    CHECK(names.lines[1].line == 3);
    CHECK(names.lines[1].start == 4);
    CHECK(names.texts[names.lines[1].file] == "a.c");
  }

  // A chain of inlined calls, and lines in its innermost one.
  SpkContent content_with_chain(std::uint32_t calls, std::uint32_t lines) {
    SpkContent content = random_content(3, 12, 25);
    content.tables.modules.resize(1);
    content.add_names = [calls, lines](spk::NameWriter& names) {
      Status status;
      for (std::uint32_t i = 0; i < calls && status; ++i) {
        InlinedCall call;
        call.parent = i == 0 ? kNoInline : i - 1;
        status = names.add(call, {"inlined", "", ""});
      }
      for (std::uint32_t i = 0; i < lines && status; ++i) {
        CodeLine line;
        line.owner = FunctionOwner::kImage;
        line.start = i;
        line.size = 1;
        line.inlined = calls - 1;
        status = names.add(line, {"", "", "a.c"});
      }
      return status;
    };
    return content;
  }

  TEST_CASE("spk names: as many inlined calls at lines as rows allow") {
    // 512 for each row: the lines of a chain of 600 need 105 rows for each 600 calls.
    CHECK(names_of(spk_bytes(content_with_chain(600, 3'000))).lines.size() == 3'000);
    const ScratchDirectory directory;
    const Result<Statistics> refused =
        write_spk(content_with_chain(1'100, 1'100), {}, directory.file("refused.spk"));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::kLimit);
    CHECK(refused.error().what == "spk: too many calls inlined at lines");
  }

  TEST_CASE("spk names: births of lines, in a section of their own where there are any") {
    const auto content_of = [](const std::vector<std::uint64_t>& births) {
      SpkContent content = random_content(3, 12, 25);
      content.add_names = [births](spk::NameWriter& names) -> Status {
        CodeLine line;
        line.pid = 7;
        line.size = 8;
        for (const std::uint64_t born : births) {
          line.born_ns = born;
          if (const Status added = names.add(line, {"", "", "a.js"}); !added) {
            return added;
          }
          ++line.start;
        }
        return Status{};
      };
      return content;
    };
    const std::vector<std::uint64_t> some{kUnknownTime, 40, 0, kUnknownTime, 39, kUnknownTime - 1};
    std::vector<std::uint64_t> many(9'000, kUnknownTime);
    many[5'000] = 77;
    for (const auto& births : {some, many}) {
      const Names names = names_of(spk_bytes(content_of(births)));
      REQUIRE(names.lines.size() == births.size());
      for (std::size_t i = 0; i < births.size(); ++i) {
        CHECK(names.lines[i].born_ns == births[i]);
      }
    }
    const std::vector<std::uint64_t> none(3, kUnknownTime);
    const auto has_births = [](const SpkParts& parts) {
      return std::any_of(parts.directory.sections.begin(), parts.directory.sections.end(),
                         [](const spk::SectionRecord& section) {
                           return section.kind ==
                                  static_cast<std::uint32_t>(spk::SectionKind::kLineBirths);
                         });
    };
    CHECK_FALSE(has_births(take_apart(spk_bytes(content_of(none)))));
    // Readers that do not know the section have the lines all the same.
    SpkParts parts = take_apart(spk_bytes(content_of(some)));
    REQUIRE(has_births(parts));
    for (spk::SectionRecord& section : parts.directory.sections) {
      section.kind +=
          section.kind == static_cast<std::uint32_t>(spk::SectionKind::kLineBirths) ? 4'000U : 0U;
    }
    const auto older = parts.join();
    const auto reader = open_spk(older);
    CHECK(failure(reader->verify()).empty());
    CHECK(reader->names()->lines.size() == some.size());
  }

  TEST_CASE("spk names: rows out of order and calls of later rows are refused") {
    std::vector<NamedFunction> functions = random_functions(1, 10);
    std::reverse(functions.begin(), functions.end());
    CHECK(spk_bytes(content_with(functions)).empty());
    SpkContent content = random_content(3, 12, 25);
    content.add_names = [](spk::NameWriter& names) {
      InlinedCall call;
      call.parent = 0;
      return names.add(call, {"f", "", ""});
    };
    CHECK(spk_bytes(content).empty());
  }

  TEST_CASE("spk names: a function of a module that is not there is refused, by verify too") {
    std::vector<NamedFunction> functions = random_functions(1, 1);
    functions[0].row.owner = FunctionOwner::kImage;
    functions[0].row.pid = kKernelPid;
    functions[0].row.module = 2;
    SpkContent content = content_with(functions);
    content.tables.modules.resize(2);
    CHECK(spk_bytes(content).empty());
    content.tables.modules.resize(3);
    SpkParts parts = take_apart(spk_bytes(content));
    parts.section(spk::SectionKind::kModules).items = 2;
    const std::vector<std::byte> file = parts.join();
    const auto reader = open_spk(file);
    CHECK(failure(reader->names()) == "spk: names: a row that is not there");
    CHECK_FALSE(reader->verify().has_value());
  }

  TEST_CASE("spk names: readers of version 1.0 pass the sections over") {
    const std::vector<NamedFunction> functions = random_functions(5, 200);
    SpkParts parts = take_apart(spk_bytes(content_with(functions)));
    std::size_t sections = 0;
    for (spk::SectionRecord& section : parts.directory.sections) {
      if (section.kind >= static_cast<std::uint32_t>(spk::SectionKind::kFunctions)) {
        // To such a reader the kind is unknown, as this one is to us.
        section.kind += 4'000;
        CHECK(section.flags == 0);
        ++sections;
      }
    }
    CHECK(sections == 2);  // functions, texts
    const std::vector<std::byte> file = parts.join();
    const auto reader = open_spk(file);
    CHECK(failure(reader->verify()).empty());
    CHECK(reader->names()->functions.empty());
    CHECK(stacks_in(*reader) == list_of(content_with(functions).stacks));
  }
}

}  // namespace
}  // namespace stackpack::test
