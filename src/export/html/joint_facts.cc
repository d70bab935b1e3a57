#include "export/html/joint_facts.h"

#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bytes/utf8.h"

namespace stackpack::exporting {

namespace {

std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

std::vector<std::string> file_labels(std::span<const std::string> paths) {
  std::map<std::string_view, std::size_t> uses;
  for (const std::string& path : paths) {
    ++uses[last_part(path)];
  }
  std::vector<std::string> labels;
  labels.reserve(paths.size());
  for (const std::string& path : paths) {
    const std::string_view name = last_part(path);
    labels.push_back(bytes::valid_utf8(uses[name] == 1 ? name : std::string_view(path)));
  }
  return labels;
}

void add_file_facts(const PageContent& file, const std::string& label, PageContent& content) {
  std::string text;
  for (const PageFact& fact : file.facts) {
    if (fact.label != "Selection") {
      text += text.empty() ? "" : "; ";
      text += fact.label + ": " + fact.value;
    }
  }
  content.facts.push_back({label, std::move(text)});
  for (const PageLoss& loss : file.losses) {
    content.losses.push_back(
        {loss.name, loss.count, fmt::format("{}: {}", label, loss.text), loss.remark});
  }
}

void add_joint_facts(std::span<const std::string> labels, const JointFigures& figures,
                     PageContent& content) {
  constexpr std::size_t kNamed = 3;
  content.title = fmt::format("{} captures: ", labels.size());
  for (std::size_t i = 0; i < labels.size() && i < kNamed; ++i) {
    content.title += (i == 0 ? "" : ", ") + labels[i];
  }
  if (labels.size() > kNamed) {
    content.title += fmt::format(" and {} more", labels.size() - kNamed);
  }
  content.facts.push_back({"Captures", std::to_string(labels.size())});
  content.facts.push_back({"Samples", std::to_string(figures.samples)});
  content.facts.push_back({"Threads", std::to_string(figures.threads)});
  content.facts.push_back(
      {"Selection", figures.filtered ? "a part of the captures, by filters" : "everything"});
}

void JointThreads::add(const SampleSurvey& survey, const std::string& label) {
  const std::size_t own = survey.threads.size() - (survey.other_threads != 0 ? 1 : 0);
  for (std::size_t i = 0; i < own; ++i) {
    PageThread& thread = threads_.emplace_back(survey.threads[i]);
    thread.process += thread.process.empty() ? "(" : " (";
    thread.process += label + ')';
    samples_.push_back(survey.samples_of_thread[i]);
  }
  others_ += survey.other_threads;
  first_of_file_.push_back(threads_.size());
}

std::vector<PageThread> JointThreads::choose() {
  const std::vector<std::uint32_t> chosen = busiest(samples_);
  row_of_others_ = static_cast<std::uint32_t>(chosen.size());
  left_out_ = others_ + threads_.size() - chosen.size();
  rows_.assign(threads_.size(), row_of_others_);
  std::vector<PageThread> kept;
  kept.reserve(chosen.size() + 1);
  for (const std::uint32_t thread : chosen) {
    rows_[thread] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(std::move(threads_[thread]));
  }
  if (left_out_ != 0) {
    kept.push_back(other_threads(left_out_));
  }
  return kept;
}

std::vector<std::uint32_t> JointThreads::rows_of_file(std::size_t file) const {
  const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(first_of_file_[file]);
  const auto end = rows_.begin() + static_cast<std::ptrdiff_t>(first_of_file_[file + 1]);
  std::vector<std::uint32_t> rows(begin, end);
  rows.push_back(row_of_others_);  // the last of a survey that has one for others
  return rows;
}

}  // namespace stackpack::exporting
