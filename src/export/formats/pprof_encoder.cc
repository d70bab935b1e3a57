// pprof's profile.proto.
//
// The fields of a message may come in any order, so that samples are written as they are added up
// and the tables which they name by number follow: locations by (mapping, address), functions,
// mappings with build ids, and strings. Numbers are given on the way. Two mappings are one when
// file, addresses and build id agree, whatever the process.
//
// Values of a sample: samples/count, then what each event with a recorded weight counted; an
// imported profile has the latter alone, since its samples are sums. Labels: pid, tid, comm, event.

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <tuple>

#include "bytes/utf8.h"
#include "core/saturating.h"
#include "core/sort_rows.h"
#include "core/string_table.h"
#include "export/formats/packed_path.h"
#include "export/formats/pprof_fields.h"
#include "export/job/export_job.h"
#include "query/naming/build_id_text.h"
#include "query/selection/label_choice.h"
#include <protozero/pbf_writer.hpp>

namespace stackpack::exporting {

namespace {

constexpr std::size_t kMaxEventColumns = 16;
constexpr std::uint32_t kNoColumn = ~std::uint32_t{0};
constexpr std::string_view kSamples = "samples";

std::int64_t clamp_signed(std::uint64_t value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(value, kMost));
}

// An imported profile has its units; clocks have nanoseconds; allocations bytes; the others count
// events.
std::string_view unit_of(const ExportJob& job, std::uint32_t event) {
  const query::CaptureView& view = job.view();
  const std::string_view unit = view.fact(std::string(query::kUnitKey) + view.events[event].name);
  if (!unit.empty()) {
    return unit;
  }
  const std::string& counted = job.selection.choice().weight_unit(event);
  return counted == "ns" ? "nanoseconds" : counted == "bytes" ? "bytes" : "count";
}

class PprofEncoder {
 public:
  PprofEncoder(ExportJob& job, ExportOutput& out)
      : job_(job),
        out_(out),
        locations_(job.selection,
                   {.identity = query::ImageIdentity::kMapping, .style = job.named_style()}),
        resolver_(job.selection, locations_, tree_) {
    strings_.intern("");
    key_pid_ = string("pid");
    key_tid_ = string("tid");
    key_comm_ = string("comm");
    key_event_ = string("event");
    choose_columns();
  }

  Status write() {
    if (const Status read = read_label_sets(); !read) {
      return read;
    }
    write_sample_types();
    query::SampleGrouper grouper(job_.selection, {.event = true, .context = true, .track = true},
                                 job_.group_limit());
    const Status status = for_each_resolved(
        grouper, resolver_, kResolvedBlock, {},
        [this](std::span<const query::Group> groups, std::span<const std::uint32_t> nodes) {
          write_samples(groups, nodes);
          return out_.status();
        });
    if (!status) {
      return status;
    }
    job_.report.stacks = distinct_.count();
    write_locations();
    write_functions();
    write_mappings();
    write_times();
    write_facts();
    write_strings();
    flush();
    return out_.status();
  }

 private:
  struct Line {
    std::uint32_t event;
    std::uint32_t node;
    std::uint32_t track;
    std::uint32_t group;
  };
  struct Labels {
    bool any = false;
    std::uint32_t track = 0;
    std::uint32_t event = 0;
    std::string bytes;
  };

  std::int64_t string(std::string_view text) { return strings_.intern(text); }

  // One column for each weighted event; one for all of them when there are too many.
  void choose_columns() {
    const auto& events = job_.view().events;
    column_of_event_.assign(events.size(), kNoColumn);
    const query::EventChoice& choice = job_.selection.choice();
    bool any = false;
    bool all = true;
    bool is_event = job_.selection.aggregated();  // what samples count for
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      any = any || is_column(i);
      all = all && (events[i].has_weight || !choice.wants(i));
      is_event = is_event || (is_column(i) && choice.weighted(i) && choice.name_of(i) == kSamples);
    }
    first_event_column_ = is_event && any && all ? 0 : 1;
    column_count_ = first_event_column_;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      if (is_column(i)) {
        column_of_event_[i] = column_count_++;
      }
    }
    if (column_count_ - first_event_column_ > kMaxEventColumns) {
      for (std::uint32_t& column : column_of_event_) {
        column = column == kNoColumn ? column : first_event_column_;
      }
      column_count_ = first_event_column_ + 1;
      shared_column_ = true;
    }
  }

  // Events that count the same are one column.
  [[nodiscard]] bool is_column(std::uint32_t event) const {
    const query::EventChoice& choice = job_.selection.choice();
    return job_.view().events[event].has_weight && choice.wants(event) &&
           choice.joined(event) == event;
  }

  void write_value_type(std::uint32_t field, std::string_view type, std::string_view unit) {
    protozero::pbf_writer value_type(top_, field);
    value_type.add_int64(pprof::value_type::kType, string(type));
    value_type.add_int64(pprof::value_type::kUnit, string(unit));
  }

  void write_sample_types() {
    if (first_event_column_ != 0) {
      write_value_type(pprof::profile::kSampleType, kSamples, "count");
    }
    const auto& events = job_.view().events;
    for (std::uint32_t i = 0; i < events.size() && !shared_column_; ++i) {
      if (column_of_event_[i] != kNoColumn) {
        write_value_type(pprof::profile::kSampleType, job_.selection.choice().name_of(i),
                         unit_of(job_, i));
      }
    }
    if (shared_column_) {
      write_value_type(pprof::profile::kSampleType, "period", "count");
    }
    top_.add_int64(pprof::profile::kDefaultSampleType, string(default_type()));
  }

  // Without a word pprof takes the last column, which may be an event without samples.
  std::string_view default_type() {
    const query::EventChoice& choice = job_.selection.choice();
    const std::uint32_t main = choice.main_event();
    if (first_event_column_ == 1 && (!choice.weighted(main) || column_count_ == 1)) {
      return kSamples;
    }
    if (shared_column_) {
      return "period";
    }
    if (column_of_event_[main] != kNoColumn) {
      return choice.name_of(main);
    }
    const auto first =
        std::find(column_of_event_.begin(), column_of_event_.end(), first_event_column_);
    return choice.name_of(static_cast<std::uint32_t>(first - column_of_event_.begin()));
  }

  // Groups that differ in nothing but the mapping context may have become one.
  void write_samples(std::span<const query::Group> groups, std::span<const std::uint32_t> nodes) {
    lines_.clear();
    for (std::uint32_t i = 0; i < groups.size(); ++i) {
      lines_.push_back({groups[i].key.event, nodes[i], groups[i].key.track, i});
      distinct_.add(nodes[i]);
    }
    const auto place = [](const Line& line) {
      return std::tuple(line.event, line.node, line.track);
    };
    core::sort_rows(lines_, [&](const Line& a, const Line& b) {
      return std::tuple(place(a), a.group) < std::tuple(place(b), b.group);
    });
    for (std::size_t begin = 0; begin < lines_.size();) {
      std::uint64_t count = 0;
      std::uint64_t weight = 0;
      std::size_t end = begin;
      for (; end < lines_.size() && place(lines_[end]) == place(lines_[begin]); ++end) {
        count += groups[lines_[end].group].count;
        core::add_saturating(weight, groups[lines_[end].group].weight);
      }
      write_sample(lines_[begin], count, weight);
      job_.report.samples += count;
      job_.report.weight = core::saturating_sum(
          job_.report.weight,
          job_.selection.choice().weighted(lines_[begin].event) ? weight : count);
      begin = end;
    }
  }

  void write_sample(const Line& line, std::uint64_t count, std::uint64_t weight) {
    sample_.clear();
    protozero::pbf_writer sample(sample_);
    if (const std::string_view ids = path_.of(line.node); !ids.empty()) {
      sample.add_bytes(pprof::sample::kLocationId, ids.data(), ids.size());
    }
    values_.assign(column_count_, 0);
    if (first_event_column_ != 0) {
      values_[0] = clamp_signed(count);
    }
    if (column_of_event_[line.event] != kNoColumn) {
      values_[column_of_event_[line.event]] = clamp_signed(weight);
    }
    sample.add_packed_int64(pprof::sample::kValue, values_.begin(), values_.end());
    sample_ += labels_of(line);
    top_.add_message(pprof::profile::kSample, sample_);
    flush_if_full();
  }

  // Samples have the labels of their thread and event: fields of a message, ready to be appended.
  const std::string& labels_of(const Line& line) {
    Labels& known = labels_[(line.track + line.event) % labels_.size()];
    if (!known.any || known.track != line.track || known.event != line.event) {
      known = {true, line.track, line.event, make_labels(line)};
    }
    return known.bytes;
  }

  std::string make_labels(const Line& line) {
    std::string bytes;
    protozero::pbf_writer labels(bytes);
    const query::Track& track = job_.selection.tracks()[line.track];
    const auto number = [&](std::int64_t key, std::uint32_t value) {
      if (value != kUnknownId) {
        protozero::pbf_writer label(labels, pprof::sample::kLabel);
        label.add_int64(pprof::label::kKey, key);
        label.add_int64(pprof::label::kNumber, value);
      }
    };
    const auto text = [&](std::int64_t key, std::string_view value) {
      if (!value.empty()) {
        protozero::pbf_writer label(labels, pprof::sample::kLabel);
        label.add_int64(pprof::label::kKey, key);
        label.add_int64(pprof::label::kText, string(value));
      }
    };
    number(key_pid_, track.pid);
    number(key_tid_, track.tid);
    text(key_comm_, job_.selection.thread_name(track));
    text(key_event_, job_.selection.choice().name_of(line.event));
    if (track.label_set < label_sets_.size()) {
      bytes += label_sets_[track.label_set];
    }
    return bytes;
  }

  // Labels as fields of a sample. pprof has texts and numbers; others become texts.
  Status read_label_sets() {
    if (!job_.view().label_sets || !job_.view().fields) {
      return {};
    }
    return job_.view().label_sets([this](std::span<const LabelSet> sets) {
      for (const LabelSet& set : sets) {
        label_sets_.emplace_back();
        protozero::pbf_writer labels(label_sets_.back());
        for (const Label& label : set) {
          protozero::pbf_writer entry(labels, pprof::sample::kLabel);
          entry.add_int64(pprof::label::kKey, string(bytes::valid_utf8(label.key)));
          if (label.type == LabelType::kInteger) {
            entry.add_int64(pprof::label::kNumber, static_cast<std::int64_t>(label.number));
            if (!label.unit.empty()) {
              entry.add_int64(pprof::label::kUnit, string(bytes::valid_utf8(label.unit)));
            }
          } else {
            entry.add_int64(pprof::label::kText, string(query::label_text(label)));
          }
        }
      }
      return true;
    });
  }

  void write_locations() {
    image_use_.resize(locations_.image_count());
    for (std::uint32_t i = 0; i < locations_.size(); ++i) {
      const query::Location& place = locations_.location(i);
      const std::uint32_t image = place.image;
      {
        protozero::pbf_writer location(top_, pprof::profile::kLocation);
        location.add_uint64(pprof::location::kId, std::uint64_t{i} + 1);
        if (image != query::kNoImage) {  // of a name without an address as well
          location.add_uint64(pprof::location::kMappingId, std::uint64_t{image} + 1);
        }
        if (place.has_address) {
          location.add_uint64(pprof::location::kAddress, place.address);
        }
        write_source_lines(location, i);
      }
      if (image != query::kNoImage) {
        note_use(image_use_[image], place.code);
      }
      flush_if_full();
    }
  }

  // The function that the address belongs to; inlined ones come before the one that has the code.
  void write_source_lines(protozero::pbf_writer& location, std::uint32_t number) {
    const auto write_line = [&location](std::uint64_t function, std::uint32_t line_number) {
      protozero::pbf_writer line(location, pprof::location::kLine);
      line.add_uint64(pprof::line::kFunctionId, function);
      if (line_number != 0) {
        line.add_int64(pprof::line::kLine, line_number);
      }
    };
    const query::Location& place = locations_.location(number);
    for (std::uint32_t at = place.code; at != query::kNoCode; at = locations_.places()[at].outer) {
      write_line(std::uint64_t{locations_.places()[at].function} + 1, locations_.places()[at].line);
    }
  }

  // What is known of the locations of a mapping: of all of them, or of any.
  struct ImageUse {
    bool used = false;
    bool all_named = true;
    bool files = false;
    bool lines = false;
    bool inlined = false;
  };

  void note_use(ImageUse& use, std::uint32_t code) {
    use.used = true;
    use.all_named = use.all_named && code != query::kNoCode;
    for (std::uint32_t at = code; at != query::kNoCode; at = locations_.places()[at].outer) {
      const query::SourcePlace& place = locations_.places()[at];
      use.files = use.files || locations_.functions()[place.function].file != 0;
      use.lines = use.lines || place.line != 0;
      use.inlined = use.inlined || place.outer != query::kNoCode;
    }
  }

  void write_functions() {
    for (std::size_t i = 0; i < locations_.functions().size(); ++i) {
      const query::FunctionName& known = locations_.functions()[i];
      {
        protozero::pbf_writer function(top_, pprof::profile::kFunction);
        function.add_uint64(pprof::function::kId, std::uint64_t{i} + 1);
        function.add_int64(pprof::function::kName, string(locations_.text(known.name)));
        function.add_int64(pprof::function::kSystemName, string(locations_.text(known.linkage)));
        if (known.file != 0) {
          function.add_int64(pprof::function::kFilename, string(locations_.text(known.file)));
        }
        if (known.start_line != 0) {
          function.add_int64(pprof::function::kStartLine, known.start_line);
        }
      }
      flush_if_full();
    }
  }

  void write_mappings() {
    for (std::uint32_t image = 0; image < image_use_.size(); ++image) {
      const ImageUse& use = image_use_[image];
      if (!use.used) {
        continue;
      }
      const Module& module = locations_.module_of_image(image);
      protozero::pbf_writer mapping(top_, pprof::profile::kMapping);
      mapping.add_uint64(pprof::mapping::kId, std::uint64_t{image} + 1);
      mapping.add_uint64(pprof::mapping::kMemoryStart, module.base);
      mapping.add_uint64(pprof::mapping::kMemoryLimit,
                         core::saturating_sum(module.base, module.size));
      mapping.add_uint64(pprof::mapping::kFileOffset, module.file_offset);
      mapping.add_int64(pprof::mapping::kFilename, string(module.path));
      mapping.add_int64(pprof::mapping::kBuildId, string(query::build_id_text(module)));
      // pprof leaves a mapping that has functions alone: it could still name the others.
      const auto flag = [&mapping](std::uint32_t field, bool value) {
        if (value) {
          mapping.add_bool(field, true);
        }
      };
      flag(pprof::mapping::kHasFunctions, use.all_named);
      flag(pprof::mapping::kHasFilenames, use.all_named && use.files);
      flag(pprof::mapping::kHasLineNumbers, use.all_named && use.lines);
      flag(pprof::mapping::kHasInlineFrames, use.all_named && use.inlined);
    }
  }

  void write_times() {
    if (!job_.view().has_samples) {
      return;
    }
    const query::TimeRange range = job_.selection.time_range();
    if (const auto wall = job_.selection.wall_ns(range.first_ns)) {
      top_.add_int64(pprof::profile::kTimeNanos, clamp_signed(*wall));
    }
    top_.add_int64(pprof::profile::kDurationNanos, clamp_signed(range.last_ns - range.first_ns));
  }

  // What an imported profile said of itself.
  void write_facts() {
    const query::CaptureView& view = job_.view();
    if (const std::string_view type = view.fact("pprof.period_type"); !type.empty()) {
      write_value_type(pprof::profile::kPeriodType, type, view.fact("pprof.period_unit"));
    }
    const std::string_view period = view.fact("pprof.period");
    if (std::int64_t number = 0;
        std::from_chars(period.data(), period.data() + period.size(), number).ec == std::errc()) {
      top_.add_int64(pprof::profile::kPeriod, number);
    }
    if (const std::string_view url = view.fact("pprof.doc_url"); !url.empty()) {
      top_.add_int64(pprof::profile::kDocUrl, string(url));
    }
    for (std::size_t i = 0;; ++i) {
      const std::string_view comment = view.fact("pprof.comment." + std::to_string(i));
      if (comment.empty()) {
        return;
      }
      top_.add_int64(pprof::profile::kComment, string(comment));
    }
  }

  void write_strings() {
    for (std::uint32_t i = 0; i < strings_.size(); ++i) {
      const std::string_view text = strings_.text(i);
      top_.add_string(pprof::profile::kStringTable, text.data(), text.size());
      flush_if_full();
    }
  }

  void flush_if_full() {
    if (buffer_.size() >= kFlushBytes) {
      flush();
    }
  }
  void flush() {
    out_.write(std::string_view(buffer_));
    buffer_.clear();
  }

  static constexpr std::size_t kFlushBytes = std::size_t{1} << 16;

  ExportJob& job_;
  ExportOutput& out_;
  query::LocationTable locations_;
  query::StackTree tree_;
  query::StackResolver resolver_;
  core::StringTable strings_;
  DistinctCounter distinct_;
  std::int64_t key_pid_ = 0;
  std::int64_t key_tid_ = 0;
  std::int64_t key_comm_ = 0;
  std::int64_t key_event_ = 0;
  std::vector<std::string> label_sets_;
  std::vector<std::uint32_t> column_of_event_;
  std::uint32_t first_event_column_ = 1;  // after that of the samples, where there is one
  std::uint32_t column_count_ = 1;
  bool shared_column_ = false;
  std::vector<ImageUse> image_use_;
  std::vector<Line> lines_;
  PackedPath path_{tree_};
  std::array<Labels, 1024> labels_;  // the latest of each place
  std::string sample_;
  std::vector<std::int64_t> values_;
  std::string buffer_;
  protozero::pbf_writer top_{buffer_};
};

}  // namespace

Status write_pprof(ExportJob& job, ExportOutput& out) {
  return PprofEncoder(job, out).write();
}

}  // namespace stackpack::exporting
