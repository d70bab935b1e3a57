#include "cli/command_line.h"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

namespace stackpack::cli {

TEST_SUITE_BEGIN("cli.command_line");

TEST_CASE("options reach their arguments") {
  CommandLine line;
  const Parsed parsed = line.parse({"convert", "a", "b", "--out-dir", "d", "-j", "3", "--level",
                                    "19", "--memory-limit", "64MiB", "--no-samples", "--strict",
                                    "--format", "etl", "--progress", "never", "--names", "path"});
  REQUIRE(parsed.kind == Parsed::Kind::kRun);
  CHECK(line.invocation().command == Command::kConvert);
  const ConvertArguments& arguments = line.invocation().convert;
  CHECK(arguments.inputs == std::vector<std::string>{"a", "b"});
  CHECK(arguments.out_dir == "d");
  CHECK(arguments.jobs == 3);
  CHECK(arguments.options.level == 19);
  CHECK(arguments.options.memory_limit == std::uint64_t{64} << 20);
  CHECK_FALSE(arguments.options.samples);
  CHECK(arguments.strict);
  CHECK(arguments.options.format == "etl");
  CHECK(arguments.progress == ProgressMode::kNever);
  CHECK(arguments.keep_paths);
}

TEST_CASE("an option that may be repeated takes one value each time") {
  CommandLine line;
  REQUIRE(line.parse({"stats", "--check", "a>1", "--check", "b>2", "x.spk", "y.spk"}).kind ==
          Parsed::Kind::kRun);
  CHECK(line.invocation().stats.checks == std::vector<std::string>{"a>1", "b>2"});
  CHECK(line.invocation().stats.files == std::vector<std::string>{"x.spk", "y.spk"});
}

TEST_CASE("export: --to is a time or, for older scripts, a format") {
  struct Case {
    std::vector<std::string> words;
    ExportFormat format;
    std::optional<CaptureTime> to;
  };
  for (const Case& c : std::vector<Case>{
           {{"--format", "pprof"}, ExportFormat::kPprof, std::nullopt},
           {{"--to", "otlp"}, ExportFormat::kOtlp, std::nullopt},
           {{"--to", "csv", "--to", "+2s"}, ExportFormat::kCsv, CaptureTime{2'000'000'000, true}},
           {{"--format", "folded", "--to", "1481.017314885"},
            ExportFormat::kFolded,
            CaptureTime{1'481'017'314'885, false}},
           {{"--to", "folded", "--to-time", "7"}, ExportFormat::kFolded, CaptureTime{7, false}}}) {
    CommandLine line;
    std::vector<std::string> words = {"export", "x.spk", "-o", "y"};
    words.insert(words.end(), c.words.begin(), c.words.end());
    REQUIRE(line.parse(words).kind == Parsed::Kind::kRun);
    CHECK(line.invocation().exporting.options.format == c.format);
    CHECK(line.invocation().exporting.options.filter.to == c.to);
  }
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"export", "x.spk", "-o", "y"},
           {"export", "x.spk", "-o", "y", "--to", "+2s"},
           {"export", "x.spk", "-o", "y", "--to", "foldde"},
           {"export", "x.spk", "-o", "y", "--to", "pprof", "--to", "2q"}}) {
    CHECK(CommandLine().parse(words).kind == Parsed::Kind::kUsageError);
  }
}

TEST_CASE("export, dump and stats take the same filters") {
  SampleFilter expected;
  expected.events = {"cycles", "cpu*"};
  expected.excluded_events = {"x"};
  expected.pid = 1;
  expected.tid = 2;
  expected.cpu = 3;
  expected.comms = {"a"};
  expected.excluded_comms = {"b", "c"};
  expected.modules = {"m"};
  expected.excluded_modules = {"n"};
  expected.idle = IdleSamples::kLeaveOut;
  expected.from = CaptureTime{5, true};
  expected.to = CaptureTime{6'000'000'007, false};
  const std::vector<std::string> filters = {"--event",
                                            "cycles",
                                            "--event",
                                            "cpu*",
                                            "--exclude-event",
                                            "x",
                                            "--pid",
                                            "1",
                                            "--tid",
                                            "2",
                                            "--cpu",
                                            "3",
                                            "--comm",
                                            "a",
                                            "--exclude-comm",
                                            "b",
                                            "--exclude-comm",
                                            "c",
                                            "--module",
                                            "m",
                                            "--exclude-module",
                                            "n",
                                            "--no-idle",
                                            "--from",
                                            "+5ns",
                                            "--to",
                                            "6.000000007"};
  const auto parsed = [&filters](std::vector<std::string> words) {
    words.insert(words.end(), filters.begin(), filters.end());
    CommandLine line;
    const Parsed result = line.parse(words);
    CAPTURE(result.text);
    REQUIRE(result.kind == Parsed::Kind::kRun);
    return line.invocation();
  };
  CHECK(parsed({"export", "x.spk", "-o", "y", "--format", "csv"}).exporting.options.filter ==
        expected);
  CHECK(parsed({"dump", "x.spk", "--stacks"}).dump.filter == expected);
  CHECK(parsed({"stats", "x.spk"}).stats.filter == expected);
  // Tables are not samples.
  CHECK(CommandLine().parse({"dump", "x.spk", "--modules", "--pid", "1"}).kind ==
        Parsed::Kind::kUsageError);
  CommandLine show;
  REQUIRE(show.parse({"show", "x.spk", "1", "--from", "1.5", "--to", "+2s"}).kind ==
          Parsed::Kind::kRun);
  CHECK(show.invocation().show.from == CaptureTime{1'500'000'000, false});
  CHECK(show.invocation().show.to == CaptureTime{2'000'000'000, true});
}

TEST_CASE("a dash is a file name") {
  CommandLine line;
  REQUIRE(line.parse({"convert", "-", "-o", "-"}).kind == Parsed::Kind::kRun);
  CHECK(line.invocation().convert.inputs == std::vector<std::string>{"-"});
  CHECK(line.invocation().convert.output == "-");
}

// The help, the man page and the completions come from here: a missing text would be missing there.
TEST_CASE("every command and option is explained") {
  const std::vector<CommandText> commands = CommandLine().describe();
  CHECK(commands.size() >= 6);
  for (const CommandText& command : commands) {
    CAPTURE(command.name);
    CHECK_FALSE(command.summary.empty());
    CHECK_FALSE(command.usage.empty());
    CHECK_FALSE(command.examples.empty());
    std::set<std::string> names;
    for (const OptionText& option : command.options) {
      CAPTURE(option.value);
      CHECK_FALSE(option.text.empty());
      CHECK((option.positional() || !option.group.empty()));
      for (const std::string& name : option.names) {
        CHECK(names.insert(name).second);
      }
    }
    const std::string help = command_help(command);
    const std::string page = man_page(commands);
    for (const OptionText& option : command.options) {
      for (const std::string& name : option.names) {
        CAPTURE(name);
        CHECK(help.find(name) != std::string::npos);
        CHECK(bash_completions(commands).find(name) != std::string::npos);
        CHECK(zsh_completions(commands).find(name) != std::string::npos);
      }
    }
    CHECK(page.find("stackpack " + command.name) != std::string::npos);
    CHECK(fish_completions(commands).find("-a " + command.name) != std::string::npos);
  }
}

TEST_CASE("-h is one screen: 25 lines of 80 columns, --help is everything") {
  for (const CommandText& command : CommandLine().describe()) {
    CAPTURE(command.name);
    CommandLine line;
    const std::string screen = line.parse({command.name, "-h"}).text;
    const std::string all = CommandLine().parse({command.name, "--help"}).text;
    CHECK(all == command_help(command));
    CHECK(screen.size() <= all.size());
    CHECK(std::count(screen.begin(), screen.end(), '\n') <= 25);
    CHECK((screen == all || screen.find(command.name + " --help\n") != std::string::npos));
    for (std::size_t begin = 0; begin < screen.size();) {
      const std::size_t end = screen.find('\n', begin);
      CHECK(end - begin <= 80);
      begin = end + 1;
    }
  }
  const std::string screen = CommandLine().parse({"-h"}).text;
  CHECK(std::count(screen.begin(), screen.end(), '\n') <= 25);
  CHECK(screen.find("stackpack --help") != std::string::npos);
}

TEST_CASE("fixed values of an option are known") {
  for (const CommandText& command : CommandLine().describe()) {
    for (const OptionText& option : command.options) {
      if (option.names == std::vector<std::string>{"--progress"}) {
        CHECK(option.choices() == std::vector<std::string>{"auto", "always", "never"});
        CHECK(option.preset == "auto");
      }
      if (option.names == std::vector<std::string>{"-j", "--jobs"}) {
        CHECK(option.choices().empty());
        CHECK(option.value == "N");
      }
    }
  }
}

TEST_SUITE_END();

}  // namespace stackpack::cli
