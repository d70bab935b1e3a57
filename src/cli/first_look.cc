#include "cli/first_look.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/analysis/hot_spots.h"
#include "app/listing/function_titles.h"
#include "app/symbolize/name_outlook.h"
#include "cli/shell_word.h"
#include "cli/text_escape.h"
#include "stackpack/reader.h"

namespace stackpack::cli {

namespace {

constexpr std::uint64_t kMostSamples = 2'000'000;  // that are counted for three names

// `checksum 41.2 %, parse 20.1 %`; empty where nothing was counted.
std::string hottest(const Reader& reader) {
  constexpr std::size_t kNames = 3;
  if (reader.statistics().samples.total > kMostSamples) {
    return {};
  }
  Result<app::HotSpots> spots = app::hot_spots(reader, {});
  if (!spots || spots->value == 0) {
    return {};
  }
  app::sort_hot_spots(spots->rows, true);
  spots->rows.resize(std::min(kNames, spots->rows.size()));
  constexpr std::size_t kWidth = 36;  // so that three are a line or two
  std::vector<app::FunctionTitle> titles;
  for (const app::HotSpot& row : spots->rows) {
    titles.push_back({row.name, {}, {}});
  }
  const std::vector<std::string> names =
      app::function_titles(titles, app::FunctionNames::kShort, kWidth);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += text.empty() ? "" : ", ";
    append_escaped(text, names[i]);
    text += fmt::format(" {:.1f} %", 100 * static_cast<double>(spots->rows[i].self) /
                                         static_cast<double>(spots->value));
  }
  return text;
}

std::string lacking(const Reader& reader) {
  const app::NameOutlook outlook = app::name_outlook(reader);
  if (outlook.images == 0) {
    return {};
  }
  std::string text = fmt::format("no function names yet; -s adds them: files of {} of {} images",
                                 outlook.found, outlook.images);
  if (outlook.share) {
    text += fmt::format(", with {:.0f} % of the samples,", 100 * *outlook.share);
  }
  return text + " are here";
}

}  // namespace

void tell_first_look(const std::string& output, bool named, const Messages& messages) {
  const Result<std::unique_ptr<Reader>> reader = Reader::open(output);
  if (!reader) {
    return;
  }
  if (const std::string text = named ? hottest(**reader) : lacking(**reader); !text.empty()) {
    messages.plain(named ? "hottest: " + text : text);
  }
  messages.plain("next: stackpack view " + shown_shell_word(output));
}

}  // namespace stackpack::cli
