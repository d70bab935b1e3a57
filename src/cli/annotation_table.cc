#include "cli/annotation_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/listing/function_titles.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/measure_text.h"
#include "cli/messages.h"
#include "cli/name_column.h"
#include "cli/next_commands.h"
#include "cli/report_table.h"
#include "cli/text_escape.h"
#include "core/weight_scale.h"

namespace stackpack::cli {

namespace {

using app::AnnotatedFunction;
using app::AnnotatedPlace;

constexpr std::uint32_t kAround = 2;  // lines without samples before and after one that has some
constexpr std::string_view kNoShares = "                  ";  // as wide as two shares
constexpr std::string_view kNoBranches = "         ";         // as wide as one
// Mispredicted branches of all that were taken.
constexpr double kManyMispredicted = 0.05;
constexpr double kMostMispredicted = 0.2;

/// Writes the parts of a table that all have the same whole.
class AnnotationText {
 public:
  AnnotationText(std::string& out, const app::Annotation& annotation, app::SourceFiles& sources,
                 bool colours)
      : out_(out),
        whole_(annotation.about.value),
        sources_(sources),
        has_branches_(annotation.has_branches),
        colours_(colours) {}

  void add_places(const AnnotatedFunction& function) {
    const std::span<const AnnotatedPlace> places = function.places;
    std::size_t begin = 0;
    while (begin < places.size()) {
      std::size_t end = begin + 1;
      while (end < places.size() && places[end].file == places[begin].file) {
        ++end;
      }
      if (places[begin].file.empty()) {
        if (!std::any_of(function.code.begin(), function.code.end(), has_instructions)) {
          add_offsets(function, places.subspan(begin, end - begin));
        }
      } else {
        add_file(places.subspan(begin, end - begin));
      }
      begin = end;
    }
    for (const app::AnnotatedCode& code : function.code) {
      if (has_instructions(code)) {
        add_instructions(code);
      } else if (!places.empty() && !places.back().file.empty()) {
        out_ += "no instructions of ";
        append_escaped(out_, code.image);
        out_ += ": " + code.reason + '\n';
      }
    }
  }

 private:
  static bool has_instructions(const app::AnnotatedCode& code) {
    return !code.instructions.empty();
  }

  // The columns of a place with samples or branches.
  template <typename Place>
  void add_columns(const Place& place) {
    colour_ = colour_of(place.branches);
    out_ += colour_;
    if (place.total != 0) {
      out_ += fmt::format("{:>7}  {:>7}  ", share_text(place.self, whole_),
                          share_text(place.total, whole_));
    } else {
      out_ += kNoShares;
    }
    if (has_branches_) {
      out_ += place.branches.taken == 0
                  ? std::string(kNoBranches)
                  : fmt::format("{:>7}  ",
                                share_text(place.branches.mispredicted, place.branches.taken));
    }
  }

  void add_no_columns() {
    out_ += kNoShares;
    out_ += has_branches_ ? kNoBranches : std::string_view();
  }
  [[nodiscard]] std::size_t columns_width() const {
    return kNoShares.size() + (has_branches_ ? kNoBranches.size() : 0);
  }

  [[nodiscard]] std::string_view colour_of(const app::BranchSums& branches) const {
    const double share = branches.taken == 0 ? 0.0
                                             : static_cast<double>(branches.mispredicted) /
                                                   static_cast<double>(branches.taken);
    return !colours_ || share < kManyMispredicted ? std::string_view()
           : share < kMostMispredicted            ? colours::kYellow
                                                  : colours::kRed;
  }

  void end_coloured_line() {
    out_ += colour_.empty() ? std::string_view() : colours::kPlain;
    out_ += '\n';
    colour_ = {};
  }

  void add_heading(std::string_view last) {
    out_ += has_branches_ ? "  self%   total%  mispred" : "  self%   total%";
    out_ += last;
  }

  // One line of source, or of any text; no wider than the terminal.
  void end_line(std::string_view text, std::size_t before) {
    std::string line;
    for (const char c : text) {
      line += c == '\t' ? std::string(8 - line.size() % 8, ' ') : std::string(1, c);
    }
    std::string escaped;
    append_message(escaped, line);
    if (const auto columns = output_columns();
        columns && escaped.size() + before > *columns && *columns > before) {
      escaped.resize(*columns - before);
      std::string whole_letters;
      append_message(whole_letters, escaped);
      escaped = is_utf8(escaped) ? escaped : whole_letters.substr(0, whole_letters.find("\\x"));
    }
    out_ += escaped;
    end_coloured_line();
  }

  void add_file(std::span<const AnnotatedPlace> places) {
    const std::vector<std::string>* const text = sources_.lines_of(places.front().file);
    append_escaped(out_, places.front().file);
    out_ += text == nullptr ? ": not here, --sources DIR looks for it below DIR\n" : "\n";
    add_heading("    line\n");
    std::uint32_t next = 1;  // the first line that was not written
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::uint32_t line = places[i].line;
      if (text == nullptr || line > text->size()) {
        add_columns(places[i]);
        out_ += fmt::format("{:>6}", line);
        end_coloured_line();
        continue;
      }
      const std::uint32_t first = std::max(next, line > kAround ? line - kAround : 1);
      if (next > 1 && first > next) {
        add_no_columns();
        out_ += "   ...\n";
      }
      for (std::uint32_t plain = first; plain < line; ++plain) {
        add_source(*text, plain, nullptr);
      }
      add_source(*text, line, &places[i]);
      const std::uint32_t limit = i + 1 < places.size() ? places[i + 1].line - 1 : ~0U;
      const auto last = static_cast<std::uint32_t>(
          std::min<std::uint64_t>({text->size(), std::uint64_t{line} + kAround, limit}));
      for (std::uint32_t plain = line + 1; plain <= last; ++plain) {
        add_source(*text, plain, nullptr);
      }
      next = last + 1;
    }
  }

  void add_source(const std::vector<std::string>& text, std::uint32_t line,
                  const AnnotatedPlace* place) {
    constexpr std::size_t kLineNumber = 8;
    if (place != nullptr) {
      add_columns(*place);
    } else {
      add_no_columns();
    }
    const std::string& source = text[line - 1];
    out_ += fmt::format("{:>6}", line);
    out_ += source.empty() ? "" : "  ";
    end_line(source, columns_width() + kLineNumber);
  }

  void add_offsets(const AnnotatedFunction& function, std::span<const AnnotatedPlace> places) {
    const std::string& module = function.spot.module;
    out_ += "no source lines are known: offsets in ";
    append_escaped(out_, module.empty() ? "memory" : module);
    out_ += function.code.empty() ? "\n" : "; " + function.code.front().reason + '\n';
    add_heading("  offset\n");
    for (const AnnotatedPlace& place : places) {
      add_columns(place);
      out_ += fmt::format("0x{:x}", place.offset);
      end_coloured_line();
    }
  }

  void add_instructions(const app::AnnotatedCode& code) {
    out_ += "instructions of ";
    append_escaped(out_, code.image);
    out_ += '\n';
    add_heading("  address\n");
    const auto shown = [&rows = code.instructions](std::size_t row) {
      const std::size_t first = row - std::min<std::size_t>(row, kAround);
      const std::size_t limit = std::min<std::size_t>(rows.size(), row + kAround + 1);
      return std::any_of(rows.begin() + static_cast<std::ptrdiff_t>(first),
                         rows.begin() + static_cast<std::ptrdiff_t>(limit),
                         [](const app::AnnotatedInstruction& one) { return one.total != 0; });
    };
    bool any = false;
    bool gap = false;
    for (std::size_t row = 0; row < code.instructions.size(); ++row) {
      if (!shown(row)) {
        gap = true;
        continue;
      }
      const app::AnnotatedInstruction& one = code.instructions[row];
      if (any && gap) {
        add_no_columns();
        out_ += "...\n";
      }
      gap = false;
      any = true;
      add_columns(one);
      const std::string address = fmt::format("0x{:x}  ", one.address);
      out_ += address;
      end_line(one.text, columns_width() + address.size());
    }
  }

  std::string& out_;
  std::uint64_t whole_;
  app::SourceFiles& sources_;
  bool has_branches_;
  bool colours_;
  std::string_view colour_;  // of the line that is being written
};

void add_branches_json(JsonText& json, const app::BranchSums& branches) {
  if (branches.taken != 0) {
    json.field("taken", branches.taken);
    json.field("mispredicted", branches.mispredicted);
  }
}

void add_code_json(JsonText& json, const AnnotatedFunction& function, unsigned decimals) {
  if (function.code.empty()) {
    return;
  }
  json.key("code");
  json.begin_array();
  for (const app::AnnotatedCode& code : function.code) {
    json.begin_object();
    json.field("image", code.image);
    if (!code.reason.empty()) {
      json.field("reason", code.reason);
    }
    json.key("instructions");
    json.begin_array();
    for (const app::AnnotatedInstruction& one : code.instructions) {
      json.begin_object();
      json.field("address", one.address);
      json.field("offset", one.offset);
      json.field("text", one.text);
      json.field("self", core::ScaledNumber{one.self, decimals});
      json.field("total", core::ScaledNumber{one.total, decimals});
      add_branches_json(json, one.branches);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void append_annotation(std::string& out, const app::Annotation& annotation,
                       const ReportArguments& arguments, app::SourceFiles& sources, bool colours) {
  const std::uint64_t whole = annotation.about.value;
  const MeasureScale scale(annotation.about.unit, whole);
  append_report_head(out, annotation.about);
  AnnotationText text(out, annotation, sources, colours);
  const std::size_t count = arguments.rows == 0
                                ? annotation.functions.size()
                                : std::min(arguments.rows, annotation.functions.size());
  for (const AnnotatedFunction& function : std::span(annotation.functions).first(count)) {
    out += '\n';
    append_function_line(out, function.spot, arguments, scale, whole);
    const std::size_t before = out.size();
    text.add_places(function);
    if (out.size() == before) {
      out +=
          "  code without names has neither lines nor instructions here: top --frames address "
          "shows\n  its addresses, and stackpack symbolize --symbols DIR names it\n";
    }
  }
  if (count < annotation.functions.size()) {
    out += fmt::format("... {} more functions\n", grouped(annotation.functions.size() - count));
  }
}

void append_annotation_json(std::string& out, const app::Annotation& annotation,
                            const ReportArguments& arguments, app::SourceFiles& sources) {
  JsonText json(out);
  json.begin_object();
  append_report_about(json, annotation.about);
  const unsigned decimals = core::parse_unit(annotation.about.unit).decimals;
  json.key("functions");
  json.begin_array();
  for (const AnnotatedFunction& function : annotation.functions) {
    json.begin_object();
    json.field("name", function.spot.name);
    json.field("id", app::function_id(function.spot.name, function.spot.module));
    json.field("module", function.spot.module);
    json.field("self", core::ScaledNumber{function.spot.self, decimals});
    json.field("total", core::ScaledNumber{function.spot.total, decimals});
    json.key("places");
    json.begin_array();
    for (const AnnotatedPlace& place : function.places) {
      json.begin_object();
      if (place.file.empty()) {
        json.field("offset", place.offset);
      } else {
        json.field("file", place.file);
        json.field("line", std::uint64_t{place.line});
        const std::vector<std::string>* const text = sources.lines_of(place.file);
        if (text != nullptr && place.line >= 1 && place.line <= text->size()) {
          json.field("source", (*text)[place.line - 1]);
        }
      }
      json.field("self", core::ScaledNumber{place.self, decimals});
      json.field("total", core::ScaledNumber{place.total, decimals});
      add_branches_json(json, place.branches);
      json.end_object();
    }
    json.end_array();
    add_code_json(json, function, decimals);
    json.end_object();
  }
  json.end_array();
  NextCommands next;
  const std::string& file = arguments.files.front();
  next.add({"callers", file, arguments.annotate}, arguments.filter_words);
  next.add({"callees", file, arguments.annotate}, arguments.filter_words);
  next.write(json);
  json.end_object();
  out += '\n';
}

}  // namespace stackpack::cli
