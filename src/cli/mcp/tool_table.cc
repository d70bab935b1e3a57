#include "cli/mcp/tool_table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/json_text.h"

namespace stackpack::cli {

namespace {

using Type = ToolArgument::Type;
using app::JsonValue;

constexpr std::size_t kMostRows = 1000;
constexpr std::size_t kMostTexts = 16;

constexpr std::array<std::string_view, 15> kGrains = {
    "function", "module",    "line", "file",  "process", "thread",  "comm",  "pool",
    "event",    "callstack", "type", "waker", "reason",  "package", "cgroup"};

constexpr ToolArgument kFileArgument{"file", Type::kFile, "as `open` lists it", "", true};
constexpr ToolArgument kRowsArgument{"rows", Type::kNumber, "most rows (20)", "--rows", false};
constexpr ToolArgument kFunctionArgument{
    "function", Type::kText,
    "name, end of a name, pattern with * and ?, /regex/, MODULE!NAME, or id:ID of a row", "", true};

// Which samples.
std::vector<ToolArgument> with_filters(std::vector<ToolArgument> arguments) {
  const std::array<ToolArgument, 10> filters = {{
      {"event", Type::kTexts, "samples of these events", "--event"},
      {"comm", Type::kTexts, "of processes or threads of these names", "--comm"},
      {"pid", Type::kNumber, "of this process", "--pid"},
      {"tid", Type::kNumber, "of this thread", "--tid"},
      {"label", Type::kTexts, "with these labels: KEY=VALUE", "--label"},
      {"from", Type::kText, "from this time on: +1.5s from the start", "--from"},
      {"to", Type::kText, "up to this time", "--to"},
      {"focus", Type::kTexts, "callstacks through one of these functions", "--focus"},
      {"ignore", Type::kTexts, "no callstack through these functions", "--ignore"},
      {"hide", Type::kTexts, "callstacks without these functions' frames", "--hide"},
  }};
  arguments.insert(arguments.end(), filters.begin(), filters.end());
  return arguments;
}

constexpr std::string_view kJson = "--json";
constexpr std::string_view kNames = "--function-names=short";

// What counts samples.
std::vector<Tool> report_tools() {
  return {
      {"top",
       ToolKind::kReport,
       "Where the samples are. self: in the row itself; total: in it or what it calls. Shares are "
       "of weight.",
       {"top", kJson, kNames},
       with_filters({kFileArgument,
                     {"by", Type::kText, "what a row is (function)", "--by", false, kGrains},
                     {"by_label", Type::kText, "rows are values of this label", "--by=label:"},
                     {"order", Type::kText, "self or total (self)", "--order"},
                     kRowsArgument})},
      {"tree",
       ToolKind::kReport,
       "The largest functions where they were called, below what calls them.",
       {"top", "--tree", kJson, kNames},
       with_filters({kFileArgument, kRowsArgument})},
      {"callers",
       ToolKind::kReport,
       "What calls a function.",
       {"callers", kJson, kNames},
       with_filters({kFileArgument, kFunctionArgument, kRowsArgument})},
      {"callees",
       ToolKind::kReport,
       "What a function calls.",
       {"callees", kJson, kNames},
       with_filters({kFileArgument, kFunctionArgument, kRowsArgument})},
      {"source",
       ToolKind::kReport,
       "Lines of a function that samples are in.",
       {"top", "--by=line", kJson, kNames},
       with_filters({kFileArgument,
                     {"function", Type::kText, kFunctionArgument.text, "--only", true},
                     kRowsArgument})},
      {"callstacks",
       ToolKind::kReport,
       "The most frequent callstacks, root first; with focus those through a function.",
       {"top", "--by=callstack", kJson, kNames},
       with_filters({kFileArgument, {"rows", Type::kNumber, "most rows (5)", "--rows"}})},
  };
}

// Reports of what events say besides their callstacks, as the commands print them.
std::vector<Tool> event_tools() {
  static constexpr std::array<std::string_view, 3> kExceptionRows = {"type", "site", "message"};
  static constexpr std::array<std::string_view, 5> kLockRows = {"lock", "holder", "waiter",
                                                                "callstack", "class"};
  static constexpr std::array<std::string_view, 3> kIoOrders = {"bytes", "latency", "count"};
  static constexpr std::array<std::string_view, 3> kMemoryOrders = {"latency", "count", "shared"};
  constexpr ToolArgument kEventRows{"rows", Type::kNumber, "most rows of a table (10)", "--limit"};
  constexpr ToolArgument kOrder{"order", Type::kText, "what rows are ordered by", "--order"};
  const auto ordered = [&](std::span<const std::string_view> choices) {
    ToolArgument order = kOrder;
    order.choices = choices;
    return order;
  };
  return {
      {"info",
       ToolKind::kEvents,
       "What a capture is, which questions it answers with which command, what it lacks.",
       {"info"},
       {kFileArgument, kEventRows}},
      {"gc",
       ToolKind::kEvents,
       "Collections of .NET, their pauses, heaps, and who allocates.",
       {"gc"},
       {kFileArgument, kEventRows}},
      {"exceptions",
       ToolKind::kEvents,
       "Exceptions of .NET: types, who threw and who caught them.",
       {"exceptions"},
       {kFileArgument,
        {"by", Type::kText, "what a row is (site)", "--by", false, kExceptionRows},
        kEventRows}},
      {"locks",
       ToolKind::kEvents,
       "Which locks threads waited for, where, how long, and who held them.",
       {"locks"},
       {kFileArgument,
        {"by", Type::kText, "what a row is (lock)", "--by", false, kLockRows},
        {"lock", Type::kText, "this lock alone", "--lock"},
        {"pid", Type::kNumber, "of this process", "--pid"},
        {"tid", Type::kNumber, "waits of this thread", "--tid"},
        {"longer_than", Type::kText, "waits of at least this length: 10ms", "--longer-than"},
        {"all", Type::kFlag, "with waits for handles", "--all"},
        kEventRows}},
      {"jit",
       ToolKind::kEvents,
       "What .NET compiled while the program ran, and how long that took.",
       {"jit"},
       {kFileArgument, kEventRows}},
      {"io",
       ToolKind::kEvents,
       "What was read, written and held in memory in a Windows trace, and for whom.",
       {"io"},
       {kFileArgument, ordered(kIoOrders), kEventRows}},
      {"mem",
       ToolKind::kEvents,
       "Where data came from, how long that took, which cache lines are shared.",
       {"mem"},
       {kFileArgument, ordered(kMemoryOrders), kEventRows}},
  };
}

// What looks at one callstack, at other files, at waits, or shows the way to the page.
std::vector<Tool> other_tools() {
  return {
      {"callstack",
       ToolKind::kShow,
       "One callstack by its number, leaf first, with lines.",
       {"show", kJson, kNames},
       {kFileArgument,
        {"id", Type::kNumber, "its number", "", true},
        {"rows", Type::kNumber, "most frames (20)", "--limit"}}},
      {"diff",
       ToolKind::kDiff,
       "What has another share of the samples than before, and how sure that is.",
       {"diff", kJson},
       {{"before", Type::kFiles, "one or more runs", "", true},
        {"after", Type::kFiles, "one or more runs", "--against", true},
        kRowsArgument}},
      {"waits",
       ToolKind::kWaits,
       "How long threads ran, were blocked and waited for a processor; of captures with switches.",
       {"waits", kJson},
       {kFileArgument,
        {"thread", Type::kTexts, "of threads or processes of these names", "--thread"},
        {"pid", Type::kNumber, "of this process", "--pid"},
        {"tid", Type::kNumber, "of this thread", "--tid"},
        {"state", Type::kTexts, "blocked, woken, preempted, or a reason such as D", "--state"},
        {"longer_than", Type::kText, "intervals of at least this length: 10ms", "--longer-than"},
        {"from", Type::kText, "from this time on: +1.5s from the start", "--from"},
        {"to", Type::kText, "up to this time", "--to"},
        kRowsArgument}},
      {"page",
       ToolKind::kPage,
       "How a person opens the flame graph at a function.",
       {"page"},
       {kFileArgument, {"function", Type::kText, "what to search for", "", false}}},
  };
}

std::vector<Tool> make_tools() {
  std::vector<Tool> tools = {
      {"open",
       ToolKind::kOpen,
       "Without file: the captures that can be asked about. With it: opens one and says what it "
       "is. Begin here.",
       {"open"},
       {{"file", Type::kFile, "a path", "", false}}},
      {"summary",
       ToolKind::kSummary,
       "What a capture has: samples, events, losses, its largest modules and processes.",
       {"summary"},
       {kFileArgument}},
  };
  for (const std::vector<Tool>& more : {report_tools(), event_tools(), other_tools()}) {
    tools.insert(tools.end(), more.begin(), more.end());
  }
  return tools;
}

std::string_view type_word(Type type) {
  return type == Type::kNumber                          ? "integer"
         : type == Type::kFlag                          ? "boolean"
         : type == Type::kTexts || type == Type::kFiles ? "array"
                                                        : "string";
}

void write_argument(JsonText& json, const ToolArgument& argument) {
  json.key(argument.name);
  json.begin_object();
  json.field("type", type_word(argument.type));
  if (argument.type == Type::kTexts || argument.type == Type::kFiles) {
    json.key("items");
    json.begin_object();
    json.field("type", "string");
    json.end_object();
  }
  if (argument.type == Type::kNumber) {
    json.field("minimum", 0U);
  }
  if (!argument.choices.empty()) {
    json.key("enum");
    json.begin_array();
    for (const std::string_view choice : argument.choices) {
      json.value(choice);
    }
    json.end_array();
  }
  json.field("description", argument.text);
  json.end_object();
}

void write_tool(JsonText& json, const Tool& tool) {
  json.begin_object();
  json.field("name", tool.name);
  json.field("description", tool.text);
  json.key("inputSchema");
  json.begin_object();
  json.field("type", "object");
  json.key("properties");
  json.begin_object();
  for (const ToolArgument& argument : tool.arguments) {
    write_argument(json, argument);
  }
  json.end_object();
  json.key("required");
  json.begin_array();
  for (const ToolArgument& argument : tool.arguments) {
    if (argument.needed) {
      json.value(argument.name);
    }
  }
  json.end_array();
  json.field("additionalProperties", false);
  json.end_object();
  json.key("annotations");
  json.begin_object();
  json.field("readOnlyHint", true);
  json.field("openWorldHint", false);
  json.end_object();
  json.end_object();
}

// The values of an argument as texts; a text that says what is wrong.
std::variant<std::vector<std::string>, std::string> values_of(const ToolArgument& argument,
                                                              const JsonValue& value) {
  if (argument.type == Type::kNumber) {
    if (!value.IsUint()) {
      return fmt::format("{} is not a whole number", argument.name);
    }
    return std::vector{std::to_string(value.GetUint())};
  }
  std::vector<std::string> texts;
  const auto take = [&texts](const JsonValue& text) {
    const bool good = text.IsString() && app::text_of(text).find('\0') == std::string_view::npos;
    if (good) {
      texts.emplace_back(app::text_of(text));
    }
    return good;
  };
  const bool several = argument.type == Type::kTexts || argument.type == Type::kFiles;
  if (several && value.IsArray()) {
    if (value.Size() > kMostTexts || !std::all_of(value.Begin(), value.End(), take)) {
      return fmt::format("{} is not a list of at most {} texts", argument.name, kMostTexts);
    }
  } else if (!take(value)) {
    return fmt::format("{} is not a text", argument.name);
  }
  const auto& choices = argument.choices;
  if (!choices.empty() &&
      std::find(choices.begin(), choices.end(), texts.front()) == choices.end()) {
    return fmt::format("{} is one of {}", argument.name, fmt::join(choices, ", "));
  }
  return texts;
}

// Adds the values of one argument to the words. Empty: it could be done.
std::string add_values(ToolWords& words, const ToolArgument& argument, const JsonValue& value) {
  if (argument.type == Type::kFlag) {
    if (!value.IsBool()) {
      return fmt::format("{} is not true or false", argument.name);
    }
    if (value.GetBool()) {
      words.options.emplace_back(argument.option);
    }
    return {};
  }
  const auto values = values_of(argument, value);
  if (const auto* problem = std::get_if<std::string>(&values)) {
    return *problem;
  }
  const auto& texts = std::get<std::vector<std::string>>(values);
  const bool files = argument.type == Type::kFile || argument.type == Type::kFiles;
  if (argument.name == "rows") {
    words.rows = std::clamp<std::size_t>(value.GetUint(), 1, kMostRows);
    return {};
  }
  if (argument.name == "order" && argument.choices.empty()) {
    if (texts.front() != "self" && texts.front() != "total") {
      return "order is self or total";
    }
    words.options.push_back("--" + texts.front());
    return {};
  }
  if (argument.name == "function") {
    words.function = texts.front();
  }
  if (files && argument.needed && texts.empty()) {
    return fmt::format("{} is empty", argument.name);
  }
  for (const std::string& text : texts) {
    if (files) {
      words.files.push_back(text);
    }
    if (argument.option.empty()) {
      words.others.push_back(text);
    } else {
      const bool whole = argument.option.ends_with(':');  // "--by=label:"
      words.options.push_back(fmt::format("{}{}{}", argument.option, whole ? "" : "=", text));
    }
  }
  return {};
}

}  // namespace

std::span<const Tool> all_tools() {
  static const std::vector<Tool> tools = make_tools();
  return tools;
}

std::string tools_as_json() {
  std::string text;
  JsonText json(text);
  json.begin_object();
  json.key("tools");
  json.begin_array();
  for (const Tool& tool : all_tools()) {
    write_tool(json, tool);
  }
  json.end_array();
  json.end_object();
  return text;
}

std::variant<ToolWords, std::string> words_of_call(const Tool& tool, const JsonValue& arguments) {
  ToolWords words;
  words.options.assign(tool.words.begin(), tool.words.end());
  for (const ToolArgument& argument : tool.arguments) {
    const JsonValue* const value = app::member_of(arguments, argument.name);
    if (value == nullptr) {
      if (argument.needed) {
        return fmt::format("{} needs {}", tool.name, argument.name);
      }
      continue;
    }
    if (std::string problem = add_values(words, argument, *value); !problem.empty()) {
      return problem;
    }
  }
  if (arguments.IsObject()) {
    for (const auto& member : arguments.GetObject()) {
      const std::string_view name = app::text_of(member.name);
      if (std::none_of(tool.arguments.begin(), tool.arguments.end(),
                       [name](const ToolArgument& argument) { return argument.name == name; })) {
        return fmt::format("{} takes no {}", tool.name, name.substr(0, 64));
      }
    }
  }
  return words;
}

}  // namespace stackpack::cli
