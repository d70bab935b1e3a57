// Whatever a reader says of an input, whole, cut short, and with a byte changed in many places: a
// line of figures for each input, to be compared with stored ones (known_lines.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "support/known_lines.h"
#include "support/source_folder.h"
#include "support/test_bytes.h"

namespace stackpack::test {

using Answering = std::function<std::string(std::span<const std::byte>)>;

/// Figures of inputs, whole and damaged.
struct DamagedFigures {
  AnswerFigures whole;
  AnswerFigures changed;

  [[nodiscard]] std::string line(const std::string& name) const {
    return name + ": " + whole.text() + "; " + changed.text() + '\n';
  }
};

/// Adds an input. `places`: how many bytes are changed, beside the first `places`.
inline void add_damaged_answers(std::vector<std::byte> data, std::size_t places,
                                const Answering& answer, DamagedFigures& figures) {
  std::set<std::size_t> chosen;
  for (std::size_t i = 0; i < places && !data.empty(); ++i) {
    chosen.insert(std::min(i, data.size() - 1));
    chosen.insert(data.size() * i / places);
  }
  figures.whole.add(answer(data));
  for (const std::size_t place : chosen) {
    const std::byte before = data[place];
    for (const unsigned flipped : {0x01U, 0x48U, 0xFFU}) {
      data[place] = before ^ static_cast<std::byte>(flipped);
      figures.changed.add(answer(data));
    }
    data[place] = before;
    figures.changed.add(answer(std::span(data).first(place)));
  }
}

/// Adds a line for an input.
inline void list_damaged_answers(const std::string& name, const std::vector<std::byte>& data,
                                 std::size_t places, const Answering& answer, std::string& lines) {
  DamagedFigures figures;
  add_damaged_answers(data, places, answer, figures);
  lines += figures.line(name);
}

/// The files of a folder of the sources, by name.
inline std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() + '/' + folder)) {
    found.push_back(folder + '/' + entry.path().filename().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

inline std::vector<std::byte> source_file(const std::string& path) {
  return read_test_file(source_folder() + '/' + path);
}

}  // namespace stackpack::test
