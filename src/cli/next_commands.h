#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "app/analysis/hot_spots.h"
#include "cli/arguments.h"
#include "cli/json_text.h"
#include "cli/messages.h"
#include "stackpack/result.h"

namespace stackpack::cli {

/// Commands that go deeper, most useful first, without the program's name: `callers out.spk
/// 'ns::f'`. Each word is quoted for a shell where it has to be.
class NextCommands {
 public:
  /// `words` as the program gets them; empty ones are left out. None of a command about standard
  /// input or output, which cannot be read again.
  void add(std::initializer_list<std::string_view> words,
           const std::vector<std::string>& more_words = {});
  /// The same with `--limit`, so that as many rows more are shown as were shown, if some are left.
  void add_longer(std::initializer_list<std::string_view> words, std::size_t shown,
                  std::size_t left_out, const std::vector<std::string>& more_words = {});

  [[nodiscard]] const std::vector<std::string>& all() const { return commands_; }
  /// Adds the field `next`.
  void write(JsonText& json) const;

 private:
  std::vector<std::string> commands_;
};

/// What is asked of a file that was just written, or of one that was looked at as a whole.
NextCommands next_of_file(const std::string& file);

/// The text by which a report takes a function that it calls `row.name` in the row's module: its
/// name, or its id where another row has the name as well, or where a terminal changes it.
std::string function_word(const app::HotSpot& row, const std::vector<app::HotSpot>& rows);

/// From a report of one file. `rows`: the shown ones, with whole names; `left_out`: how many are
/// not; `shortened`: names are shown short, and functions are called by their ids.
NextCommands next_commands(const ReportArguments& arguments, const std::vector<app::HotSpot>& rows,
                           std::size_t left_out, bool shortened);

/// Says why `file` could not be opened as a .spk file; of what is something else, what it is and
/// what to do with it.
void explain_not_packed(const std::string& file, const Error& error, const Messages& messages);

// What a person is told when a capture was converted: what is in it, or lacking, and what to type
// next.

/// `output`: the file that was made of `capture`. `named`: its functions were looked up. At most
/// three lines; none of a file that cannot be read.
void tell_first_look(const std::string& capture, const std::string& output, bool named,
                     const Messages& messages);

}  // namespace stackpack::cli
