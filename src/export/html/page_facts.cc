#include "export/html/page_facts.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/loss_families.h"
#include "core/saturating.h"
#include "export/job/export_job.h"

namespace stackpack::exporting {

namespace {

// "/usr/bin/perf record -a" as "perf record -a".
std::string_view without_folder(std::string_view command) {
  const std::size_t end = command.find(' ');
  const std::size_t slash = command.substr(0, end).rfind('/');
  return slash == std::string_view::npos ? command : command.substr(slash + 1);
}

std::string_view recorded_program(std::string_view command) {
  constexpr std::string_view kBefore = " -- ";
  const std::size_t at = command.find(kBefore);
  const std::string_view program =
      at == std::string_view::npos ? "" : without_folder(command.substr(at + kBefore.size()));
  const bool waits = program == "sleep" || program.starts_with("sleep ");
  if (!program.empty() && !waits) {
    return program;
  }
  // What a recorder was told says less than what it saw.
  const std::string_view whole = without_folder(command);
  return whole.starts_with("perf record") ? "" : whole;
}

// Processor 0's idle process is none.
std::string busiest_process(const SampleSurvey& survey) {
  std::map<std::uint32_t, std::uint64_t> samples;
  std::map<std::uint32_t, std::string_view> names;
  for (std::size_t i = 0; i < survey.threads.size(); ++i) {
    const PageThread& thread = survey.threads[i];
    if (thread.pid != 0 && !thread.process.empty()) {
      samples[thread.pid] += survey.samples_of_thread[i];
      names.try_emplace(thread.pid, thread.process);
    }
  }
  std::uint32_t busiest = 0;
  for (const auto& [pid, count] : samples) {
    busiest = busiest == 0 || count > samples[busiest] ? pid : busiest;
  }
  if (busiest == 0) {
    return {};
  }
  const std::size_t others = names.size() - 1;
  return others == 0 ? std::string(names[busiest])
                     : fmt::format("{} and {} other process{}", names[busiest], others,
                                   others == 1 ? "" : "es");
}

struct KnownFact {
  std::string_view key;
  std::string_view label;
};

constexpr std::array<KnownFact, 9> kKnownFacts = {{{"command_line", "Command"},
                                                   {"host.name", "Host"},
                                                   {"os.name", "System"},
                                                   {"os.release", "Release"},
                                                   {"os.version", "Version"},
                                                   {"arch", "Architecture"},
                                                   {"cpu.description", "Processor"},
                                                   {"cpu.count", "Processors"},
                                                   {"recorder.version", "Recorder version"}}};

// The date of a number of ns since 1970, to the second.
std::string date_text(std::uint64_t unix_ns) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::chrono::sys_seconds time{
      std::chrono::seconds(static_cast<std::int64_t>(unix_ns / kSecond))};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string seconds_text(std::uint64_t ns) {
  constexpr double kSecond = 1e9;
  return fmt::format("{:.3f} s", static_cast<double>(ns) / kSecond);
}

void add_fact(PageContent& content, std::string_view label, std::string value) {
  if (!value.empty()) {
    content.facts.push_back({std::string(label), std::move(value)});
  }
}

void add_times(const ExportJob& job, PageContent& content) {
  const query::CaptureView& view = job.view();
  if (!view.has_samples) {
    add_fact(content, "Times", "not kept: the file has counts in place of samples");
    return;
  }
  const query::TimeRange range = job.selection.time_range();
  if (range.first_ns == range.last_ns) {
    return;
  }
  if (const auto wall = job.selection.wall_ns(range.first_ns)) {
    add_fact(content, "First sample", date_text(*wall));
  }
  add_fact(content, "Time covered", seconds_text(range.last_ns - range.first_ns));
}

std::string idle_text(const IdleLeftOut& idle) {
  constexpr double kPercent = 100;
  return idle.samples == 0 ? std::string()
                           : fmt::format("{:.1f} % of {} left out; {} shows it",
                                         idle.share() * kPercent, idle.whose(), idle.option());
}

std::string words_of(std::string_view name) {
  std::string words(name);
  for (char& c : words) {
    c = c == '_' ? ' ' : c;
  }
  return words;
}

std::string_view kind_text(LossKind kind) {
  switch (kind) {
    case LossKind::kRecorder:
      return "lost by the recorder";
    case LossKind::kDamage:
      return "damaged or not understood in the capture";
    case LossKind::kNotice:
      break;
  }
  return "remark";
}

void add_loss(PageContent& content, std::string_view name, std::uint64_t count,
              std::string_view text, bool remark = false) {
  if (count != 0) {
    content.losses.push_back({std::string(name), count, std::string(text), remark});
  }
}

}  // namespace

std::string page_title(std::string_view command, std::string_view kind,
                       const SampleSurvey& survey) {
  std::string title(recorded_program(command));
  title = title.empty() ? busiest_process(survey) : title;
  title = title.empty() ? std::string(without_folder(command)) : title;
  if (!title.empty()) {
    return title;
  }
  return kind.empty() ? "Profile" : std::string(kind) + " profile";
}

std::string loss_text(const LossCounter& loss) {
  return fmt::format("{} ({})", words_of(loss.name), kind_text(loss.kind));
}

void add_page_facts(const ExportJob& job, const SampleSurvey& survey, PageContent& content) {
  const query::CaptureView& view = job.view();
  content.title = page_title(view.fact("command_line"), view.source_kind, survey);
  add_fact(content, "Kind", view.source_kind);
  if (view.source_count != 0) {
    add_fact(content, "Merged of", fmt::format("{} captures", view.source_count));
  }
  for (const KnownFact& known : kKnownFacts) {
    add_fact(content, known.label, std::string(view.fact(known.key)));
  }
  add_times(job, content);
  add_fact(content, "Samples", std::to_string(survey.samples));
  add_fact(content, "Threads",
           std::to_string(survey.threads.size() + survey.other_threads -
                          (survey.other_threads != 0 ? 1 : 0)));
  add_fact(content, "Selection",
           job.options.filter.empty() ? "everything" : "a part of the capture, by filters");
  add_fact(content, "Idle", idle_text(job.selection.idle_left_out()));
  for (const LossCounter& loss : view.losses) {
    if (!core::not_kept_name(loss.name).family.empty()) {
      continue;  // it does not belong to the picture
    }
    add_loss(content, loss.name, loss.count, loss_text(loss), loss.kind == LossKind::kNotice);
  }
  add_loss(content, "samples_without_callstack", survey.without_callstack,
           "samples have no callstack; they are the root's own");
  add_loss(content, "samples_with_instruction_pointer_only", survey.ip_only,
           "samples have an instruction pointer in place of a callstack");
  add_loss(content, "samples_with_incomplete_callstack", survey.incomplete,
           fmt::format("samples, {:.1f} % of all, whose callstack does not reach its root",
                       100.0 * static_cast<double>(survey.incomplete) /
                           static_cast<double>(std::max<std::uint64_t>(survey.samples, 1))));
  add_loss(content, "threads_not_told_apart", survey.other_threads,
           "threads with few samples stand as one", true);
}

void report_weights(const PageContent& content, ExportReport& report) {
  DistinctCounter distinct;
  for (const auto& measure : content.self.front()) {
    for (const NodeValue& own : measure) {
      distinct.add(own.node);
    }
  }
  report.stacks = distinct.count();
  if (!content.measures.empty()) {
    for (const NodeValue& own : content.self.front().front()) {
      core::add_saturating(report.weight, own.value);
    }
  }
}

}  // namespace stackpack::exporting
