// The man page, made of the definitions of the command line.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_text.h"
#include "stackpack/version.h"

namespace stackpack::cli {

namespace {

// Text for roff: a dash is a minus sign, a backslash is written out, no line begins with a request,
// and a list of choices may be broken after each.
std::string roff(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";
    } else if (letter == '|') {
      out += "|\\:";
    } else if ((letter == '.' || letter == '\'') && (out.empty() || out.back() == '\n')) {
      out += "\\&";
      out += letter;
    } else {
      out += letter;
    }
  }
  return out;
}

void append_roff_option(std::string& out, const OptionText& option) {
  out += ".TP\n";
  if (option.positional()) {
    out += fmt::format(".I {}\n", roff(option.value));
  } else {
    out += fmt::format("\\fB{}\\fR", roff(fmt::format("{}", fmt::join(option.names, ", "))));
    out += option.value.empty() ? "\n" : fmt::format(" \\fI{}\\fR\n", roff(option.value));
  }
  out += roff(option.text);
  out += option.preset.empty() ? "\n" : fmt::format(" Default: {}.\n", roff(option.preset));
}

void append_command(std::string& out, const CommandText& command) {
  out += fmt::format(".SS stackpack {}\n{}.\n", command.name, roff(command.summary));
  for (const std::string& usage : command.usage) {
    out += fmt::format(".PP\n.B stackpack {}\n", roff(usage));
  }
  for (const OptionText& option : command.options) {
    append_roff_option(out, option);
  }
  for (const ExampleText& example : command.examples) {
    out += fmt::format(".PP\n{}:\n.PP\n.RS\n.nf\n{}\n.fi\n.RE\n", roff(example.text),
                       roff(example.command));
  }
  if (!command.notes.empty()) {
    out += ".PP\n" + roff(command.notes) + "\n";
  }
}

constexpr std::string_view kExitStatus =
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\nsuccess\n"
    ".TP\n.B 1\nthe command line makes no sense\n"
    ".TP\n.B 2\nthe input or file is bad; nothing useful was written\n"
    ".TP\n.B 3\nconverted, but with losses or damage in the input and \\-\\-strict was given; or a "
    "\\-\\-check failed\n"
    ".TP\n.B 4\nan input/output error: disk full, permission\n"
    ".TP\n.B 70\nan internal error\n";

}  // namespace

std::string man_page(const std::vector<CommandText>& commands) {
  std::string out = fmt::format(
      ".TH STACKPACK 1 \"\" \"stackpack {}\" \"User Commands\"\n.ad l\n"
      ".SH NAME\nstackpack \\- pack profiler captures into compact callstack databases\n"
      ".SH SYNOPSIS\n.B stackpack\n.I COMMAND\n[\\fIARGUMENTS\\fR]\n"
      ".SH DESCRIPTION\nstackpack turns captures of Windows ETW (.etl) and Linux perf (perf.data) "
      "into .spk files: every recorded callstack survives exactly, deduplicated, compressed and "
      "checksummed. Data go to standard output, messages to standard error.\n"
      ".SH COMMANDS\n",
      STACKPACK_VERSION);
  for (const CommandText& command : commands) {
    append_command(out, command);
  }
  out += kExitStatus;
  out +=
      ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colours, also on a terminal\n"
      ".TP\n.B TMPDIR\nwhere \\fBstackpack stats\\fR packs a capture\n"
      ".SH SEE ALSO\n.BR perf (1),\n.BR perf\\-record (1)\n";
  return out;
}

}  // namespace stackpack::cli
