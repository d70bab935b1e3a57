#include "export/html/page_labels.h"

#include <string>

#include "bytes/utf8.h"
#include "core/saturating.h"
#include "export/html/sample_survey.h"
#include "query/selection/label_choice.h"

namespace stackpack::exporting {

namespace {

PageLabels::Set texts_of_labels(const LabelSet& labels) {
  PageLabels::Set set;
  set.reserve(labels.size());
  for (const Label& label : labels) {
    set.emplace_back(bytes::valid_utf8(label.key), query::label_text(label));
  }
  return set;
}

std::size_t size_of_texts(const PageLabels::Set& set) {
  std::size_t size = 0;
  for (const auto& [key, value] : set) {
    size += key.size() + value.size();
  }
  return size;
}

}  // namespace

Result<std::vector<std::uint32_t>> LabelRows::add(const query::SampleSelection& selection,
                                                  std::span<const std::uint64_t> samples_of_track) {
  std::vector<std::uint32_t> numbers(selection.tracks().size());
  const query::CaptureView& view = selection.view();
  if (!view.label_sets || !view.fields) {
    return numbers;
  }
  std::multimap<std::uint32_t, std::size_t> tracks;  // by row of the file's sets
  for (std::size_t track = 0; track < numbers.size(); ++track) {
    if (samples_of_track[track] != 0) {
      tracks.emplace(selection.tracks()[track].label_set, track);
    }
  }
  std::uint32_t row = 0;
  const Status read = view.label_sets([&](std::span<const LabelSet> sets) {
    for (const LabelSet& labels : sets) {
      const auto [begin, end] = tracks.equal_range(row++);
      if (begin == end || labels.empty()) {
        continue;
      }
      const auto [known, fresh] =
          sets_.try_emplace(texts_of_labels(labels), static_cast<std::uint32_t>(samples_.size()));
      if (fresh) {
        samples_.push_back(0);
      }
      for (auto entry = begin; entry != end; ++entry) {
        numbers[entry->second] = known->second;
        core::add_saturating(samples_[known->second], samples_of_track[entry->second]);
      }
    }
    return true;
  });
  return read ? Result<std::vector<std::uint32_t>>(std::move(numbers)) : read.error();
}

void LabelRows::choose() {
  std::vector<const PageLabels::Set*> by_number(samples_.size());
  for (const auto& [set, number] : sets_) {
    by_number[number] = &set;
  }
  row_of_set_.assign(samples_.size(), 0);
  std::size_t size = 0;
  for (const std::uint32_t number : busiest(samples_)) {
    const std::size_t own = number == 0 ? 0 : size_of_texts(*by_number[number]);
    if (own == 0 || own > kMostPageLabelBytes - size) {
      continue;
    }
    size += own;
    page_.sets.push_back(*by_number[number]);
    row_of_set_[number] = static_cast<std::uint32_t>(page_.sets.size());
  }
  page_.others = sets_.size() - page_.sets.size();
  for (std::size_t number = 1; number < row_of_set_.size(); ++number) {
    if (row_of_set_[number] == 0) {
      row_of_set_[number] = static_cast<std::uint32_t>(page_.sets.size() + 1);
    }
  }
}

std::vector<std::uint32_t> LabelRows::rows_of(std::span<const std::uint32_t> threads,
                                              std::span<const std::uint32_t> numbers) {
  std::vector<std::uint32_t> rows;
  rows.reserve(threads.size());
  for (std::size_t track = 0; track < threads.size(); ++track) {
    const std::uint32_t set = row_of_set_[numbers[track]];
    const auto [known, fresh] =
        tracks_.try_emplace({threads[track], set}, static_cast<std::uint32_t>(page_.tracks.size()));
    if (fresh) {
      page_.tracks.push_back({threads[track], set});
    }
    rows.push_back(known->second);
  }
  return rows;
}

void add_label_facts(const LabelRows& labels, PageContent& content) {
  const std::uint64_t left_out = content.labels ? labels.page().others : labels.set_count();
  if (content.labels && !content.timeline->timed) {
    content.facts.push_back({"Labels", content.timeline->resolution});
  }
  if (left_out != 0) {
    content.losses.push_back({"label_sets_not_in_page", left_out,
                              "sets of labels that this page has no room for; --label chooses"});
  }
}

}  // namespace stackpack::exporting
