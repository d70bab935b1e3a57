#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/human_text.h"
#include "cli/text_escape.h"
#include "cli/trend_report.h"

namespace stackpack::cli {

namespace {

constexpr double kPlotWidth = 260;
constexpr double kPlotHeight = 72;
constexpr double kPlotEdge = 4;

constexpr std::string_view kPageHead = R"(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Costs by commit</title>
<style>
:root { color-scheme: light dark; --line: #1a5fb4; --band: #99c1f180; --mark: #c01c28; --rule: #8886 }
@media (prefers-color-scheme: dark) { :root { --line: #78aeed; --band: #78aeed40; --mark: #ff7b72 } }
body { font: 15px/1.4 system-ui, sans-serif; margin: 1.5rem; max-width: 90rem }
h1 { font-size: 1.3rem }
ul { list-style: none; padding: 0; display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)) }
li { border-top: 1px solid var(--rule); padding-top: .4rem; min-width: 0 }
h2 { font: 600 .9rem ui-monospace, monospace; margin: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
p { margin: .1rem 0; font-size: .85rem }
.range { opacity: .75; font-variant-numeric: tabular-nums }
svg { width: 100%; height: auto; display: block }
polyline { fill: none; stroke: var(--line); stroke-width: 1.5 }
polygon { fill: var(--band) }
line { stroke: var(--mark); stroke-width: 1.5; stroke-dasharray: 3 2 }
</style>
)";

/// Where commits and values lie in a plot. Values begin at the least one: small changes are what
/// it is for, and the range is written below.
class PlotScale {
 public:
  explicit PlotScale(const app::TrendSeries& series) : commits_(series.values.size()) {
    for (const app::TrendValue& value : series.values) {
      least_ = std::min(least_, value.least);
      most_ = std::max(most_, value.most);
    }
  }

  [[nodiscard]] double x(double commit) const {
    const double steps = commits_ > 1 ? static_cast<double>(commits_ - 1) : 1;
    return kPlotEdge + commit / steps * (kPlotWidth - 2 * kPlotEdge);
  }
  [[nodiscard]] double y(double value) const {
    const double part = most_ > least_ ? (value - least_) / (most_ - least_) : 0.5;
    return kPlotHeight - kPlotEdge - part * (kPlotHeight - 2 * kPlotEdge);
  }
  [[nodiscard]] std::string point(std::size_t commit, double value) const {
    return fmt::format("{:.1f},{:.1f} ", x(static_cast<double>(commit)), y(value));
  }
  [[nodiscard]] double least() const { return least_; }
  [[nodiscard]] double most() const { return most_; }

 private:
  std::size_t commits_;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
};

std::string changes_text(const app::TrendReport& report, const app::TrendSeries& series) {
  std::string text;
  for (const app::TrendChange& change : series.changes) {
    text += fmt::format("{}{} at {}{}", text.empty() ? "" : ", ", trend_change_text(change.point),
                        report.commits[change.point.index].id,
                        change.doubts.empty() ? "" : " (not comparable)");
  }
  return text.empty() ? "no change seen" : text;
}

void append_plot(std::string& out, const app::TrendReport& report, const app::TrendSeries& series,
                 const std::string& title) {
  const PlotScale scale(series);
  std::string band;
  std::string line;
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    band += scale.point(i, series.values[i].most);
    line += scale.point(i, series.values[i].median);
  }
  for (std::size_t i = series.values.size(); i-- > 0;) {
    band += scale.point(i, series.values[i].least);
  }
  const std::string changes = markup_of(changes_text(report, series));
  const std::string label =
      fmt::format("{}: {} at first, {} now; {}", markup_of(title),
                  trend_value_text(series.values.front().median, report),
                  trend_value_text(series.values.back().median, report), changes);
  out += fmt::format("<li><h2 title=\"{0}\">{0}</h2>\n<p>{1}</p>\n", markup_of(title), changes);
  out += fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\"><polygon points=\"{}\"/>"
      "<polyline points=\"{}\"/>",
      kPlotWidth, kPlotHeight, label, band, line);
  for (const app::TrendChange& change : series.changes) {
    const double x = scale.x(static_cast<double>(change.point.index) - 0.5);
    out += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1:.0f}\"/>", x,
                       kPlotHeight);
  }
  out +=
      fmt::format("</svg>\n<p class=\"range\">{} to {}, now {}</p></li>\n",
                  trend_value_text(scale.least(), report), trend_value_text(scale.most(), report),
                  trend_value_text(series.values.back().median, report));
}

}  // namespace

void append_trend_page(std::string& out, const app::TrendReport& report, std::size_t rows,
                       app::FunctionNames names) {
  out += kPageHead;
  out += fmt::format("<h1>{}, {} to {}</h1>\n", markup_of(trend_measure_text(report)),
                     markup_of(report.commits.front().id), markup_of(report.commits.back().id));
  for (const std::string& sentence : trend_sentences(report)) {
    out += fmt::format("<p>{}</p>\n", markup_of(sentence));
  }
  out +=
      "<p>Lines: medians of each commit's runs; bands: least to most; dashed: a "
      "change.</p>\n<ul>\n";
  const std::vector<std::string> titles = trend_titles(report, names, app::kAnyWidth);
  const std::size_t wholes = report.unit == DiffUnit::kRun ? 1 : 0;
  const std::size_t shown =
      rows == 0 ? report.series.size() : std::min(rows + wholes, report.series.size());
  for (std::size_t i = 0; i < shown; ++i) {
    append_plot(out, report, report.series[i], titles[i]);
  }
  out += "</ul>\n";
  if (shown < report.series.size()) {
    out += fmt::format("<p>{} more without a curve here.</p>\n",
                       grouped(report.series.size() - shown));
  }
  out += "</html>\n";
}

}  // namespace stackpack::cli
