// OpenTelemetry profiles: ProfilesData with its dictionary of tables.
//
// One Profile per event. A sample of it is a callstack with the attributes of a thread, and has the
// times at which it was seen; with weights it has a value for each time as well. The specification
// wants every such pair once, so that times are sorted by group: a pass over the samples fills in
// the times of as many groups as fit in memory, and a group too large for that is copied from the
// file straight into the message.
//
// Lengths stand in front of messages: samples and tables wait in nameless temporary files.

#include <algorithm>
#include <numeric>
#include <tuple>

#include "export/formats/otlp_dictionary.h"
#include "export/formats/otlp_fields.h"
#include "export/job/export_job.h"
#include "export/output/spilled_message.h"
#include "query/selection/saturating.h"
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

namespace stackpack::exporting {

namespace {

class OtlpEncoder {
 public:
  OtlpEncoder(ExportJob& job, ExportOutput& out)
      : job_(job),
        out_(out),
        locations_(job.selection,
                   {.identity = query::ImageIdentity::kMapping, .style = job.named_style()}),
        resolver_(job.selection, locations_, tree_),
        dictionary_(job.selection, locations_, tree_, job.options.otlp.stack_tree),
        samples_(job.scratch_directory),
        tables_(job.scratch_directory),
        grouper_(job.selection, {.event = true, .context = true, .track = true},
                 job.group_limit() / 2),
        time_limit_(static_cast<std::size_t>(job.options.memory_limit / 4 /
                                             (job.selection.choice().any_weighted()
                                                  ? sizeof(std::uint64_t) + sizeof(std::int64_t)
                                                  : sizeof(std::uint64_t)))) {}

  Status write() {
    const Status status = for_each_resolved(
        grouper_, resolver_, grouper_.limit(),  // whole passes: find() speaks of them
        [](const query::GroupKey&) -> Result<std::uint32_t> { return query::StackTree::kRoot; },
        [this](std::span<const query::Group> groups, std::span<const std::uint32_t> nodes) {
          return write_block(groups, nodes);
        });
    if (!status) {
      return status;
    }
    end_profile();
    job_.report.stacks = dictionary_.stack_count() - 1;
    return write_message();
  }

 private:
  // Groups with the same callstack and thread are one sample: they differ in the epoch alone.
  struct Entry {
    std::uint32_t event = 0;
    std::uint32_t node = 0;
    std::uint32_t track = 0;
    std::uint64_t count = 0;
    std::uint64_t weight = 0;
  };
  struct ProfilePart {
    std::uint32_t event = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  void merge(std::span<const query::Group> groups, std::span<const std::uint32_t> nodes) {
    std::vector<std::uint32_t> order(groups.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto place = [&](std::uint32_t i) {
      return std::tuple(groups[i].key.event, nodes[i], groups[i].key.track);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
    entries_.clear();
    entry_of_group_.assign(groups.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const query::Group& group = groups[order[i]];
      if (i == 0 || place(order[i - 1]) != place(order[i])) {
        entries_.push_back({group.key.event, nodes[order[i]], group.key.track, 0, 0});
      }
      entries_.back().count += group.count;
      entries_.back().weight = query::saturating_sum(entries_.back().weight, group.weight);
      entry_of_group_[order[i]] = static_cast<std::uint32_t>(entries_.size() - 1);
    }
  }

  Status write_block(std::span<const query::Group> groups, std::span<const std::uint32_t> nodes) {
    merge(groups, nodes);
    for (std::size_t begin = 0; begin < entries_.size();) {
      std::size_t end = begin;
      std::uint64_t total = 0;
      while (end < entries_.size() && entries_[end].count <= time_limit_ - total) {
        total += entries_[end].count;
        ++end;
      }
      Status status;
      if (!job_.view().has_samples) {
        end = entries_.size();
        write_counts(begin, end);
      } else if (end == begin) {
        end = begin + 1;
        status = write_large(begin);
      } else {
        status = write_small(begin, end);
      }
      if (!status || !samples_.status()) {
        return status ? samples_.status() : status;
      }
      begin = end;
    }
    return {};
  }

  // The time of a sample as OTLP wants it; the capture's clock when there is no date.
  [[nodiscard]] std::uint64_t unix_ns(std::uint64_t time_ns) const {
    return job_.selection.wall_ns(time_ns).value_or(time_ns);
  }

  void begin_entry(const Entry& entry) {
    if (profiles_.empty() || profiles_.back().event != entry.event) {
      end_profile();
      profiles_.push_back({entry.event, samples_.size(), 0});
    }
    job_.report.samples += entry.count;
    job_.report.weight =
        query::saturating_sum(job_.report.weight, is_weighted(entry) ? entry.weight : entry.count);
  }
  [[nodiscard]] bool is_weighted(const Entry& entry) const {
    return job_.selection.choice().weighted(entry.event);
  }
  void end_profile() {
    if (!profiles_.empty()) {
      profiles_.back().end = samples_.size();
    }
  }

  // The fields of a sample apart from values and times.
  void write_head(protozero::pbf_writer& sample, const Entry& entry) {
    sample.add_int32(otlp::sample::kStackIndex,
                     static_cast<std::int32_t>(dictionary_.stack(entry.node)));
    const auto& attributes = dictionary_.attributes_of(entry.track);
    sample.add_packed_int32(otlp::sample::kAttributeIndices, attributes.begin(), attributes.end());
  }

  void write_counts(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      begin_entry(entries_[i]);
      {
        protozero::pbf_writer top(samples_.buffer());
        protozero::pbf_writer sample(top, otlp::profile::kSamples);
        write_head(sample, entries_[i]);
        const std::uint64_t value =
            is_weighted(entries_[i]) ? entries_[i].weight : entries_[i].count;
        sample.add_packed_int64(otlp::sample::kValues, &value, &value + 1);
      }
      samples_.flush_if_full();
    }
  }

  Status write_small(std::size_t begin, std::size_t end) {
    std::vector<std::size_t> next{0};
    for (std::size_t i = begin; i < end; ++i) {
      next.push_back(next.back() + static_cast<std::size_t>(entries_[i].count));
    }
    const std::vector<std::size_t> first = next;
    const bool any_weighted = job_.selection.choice().any_weighted();
    times_.assign(next.back(), 0);
    weights_.assign(any_weighted ? next.back() : 0, 0);
    const Status status =
        for_each_sample_in(begin, end, [&](std::size_t entry, const query::SelectedSample& sample) {
          const std::size_t at = next[entry - begin]++;
          times_[at] = unix_ns(sample.time_ns);
          if (any_weighted) {
            weights_[at] = static_cast<std::int64_t>(sample.weight);
          }
        });
    for (std::size_t i = begin; i < end && status; ++i) {
      begin_entry(entries_[i]);
      {
        const auto from = static_cast<std::ptrdiff_t>(first[i - begin]);
        const auto to = static_cast<std::ptrdiff_t>(first[i - begin + 1]);
        protozero::pbf_writer top(samples_.buffer());
        protozero::pbf_writer sample(top, otlp::profile::kSamples);
        write_head(sample, entries_[i]);
        if (is_weighted(entries_[i])) {
          sample.add_packed_int64(otlp::sample::kValues, weights_.begin() + from,
                                  weights_.begin() + to);
        }
        sample.add_packed_fixed64(otlp::sample::kTimestamps, times_.begin() + from,
                                  times_.begin() + to);
      }
      samples_.flush_if_full();
    }
    return status;
  }

  // Shows the samples of entries [begin, end) of the block, in time order.
  template <typename Visit>
  Status for_each_sample_in(std::size_t begin, std::size_t end, Visit visit) {
    return job_.selection.for_each([&](std::span<const query::SelectedSample> block) {
      for (const query::SelectedSample& sample : block) {
        if (const auto group = grouper_.find(sample)) {
          const std::size_t entry = entry_of_group_[*group];
          if (entry >= begin && entry < end) {
            visit(entry, sample);
          }
        }
      }
      return samples_.status();
    });
  }

  // Values need a pass of their own: their length must be known before they are written.
  Status write_large(std::size_t entry) {
    begin_entry(entries_[entry]);
    std::string head;
    {
      protozero::pbf_writer sample(head);
      write_head(sample, entries_[entry]);
    }
    const bool weighted = is_weighted(entries_[entry]);
    std::uint64_t value_bytes = 0;
    if (weighted) {
      const Status status = for_each_sample_in(
          entry, entry + 1, [&](std::size_t, const query::SelectedSample& sample) {
            value_bytes += static_cast<std::uint64_t>(protozero::length_of_varint(sample.weight));
          });
      if (!status) {
        return status;
      }
    }
    std::string values_head;
    append_field_head(values_head, otlp::sample::kValues, value_bytes);
    const std::uint64_t time_bytes = entries_[entry].count * sizeof(std::uint64_t);
    std::string times_head;
    append_field_head(times_head, otlp::sample::kTimestamps, time_bytes);
    append_field_head(samples_.buffer(), otlp::profile::kSamples,
                      head.size() + (weighted ? values_head.size() + value_bytes : 0) +
                          times_head.size() + time_bytes);
    samples_.buffer() += head;
    if (weighted) {
      samples_.buffer() += values_head;
      const Status status = for_each_sample_in(
          entry, entry + 1, [&](std::size_t, const query::SelectedSample& sample) {
            protozero::add_varint_to_buffer(&samples_.buffer(), sample.weight);
            samples_.flush_if_full();
          });
      if (!status) {
        return status;
      }
    }
    samples_.buffer() += times_head;
    return for_each_sample_in(entry, entry + 1,
                              [&](std::size_t, const query::SelectedSample& sample) {
                                std::uint64_t time = unix_ns(sample.time_ns);
                                for (std::size_t i = 0; i < sizeof time; ++i, time >>= 8) {
                                  samples_.buffer() += static_cast<char>(time & 0xFF);
                                }
                                samples_.flush_if_full();
                              });
  }

  void write_value_type(protozero::pbf_writer& profile, std::uint32_t field, std::string_view type,
                        std::string_view unit) {
    protozero::pbf_writer value_type(profile, field);
    value_type.add_int32(otlp::value_type::kType,
                         static_cast<std::int32_t>(dictionary_.string(type)));
    value_type.add_int32(otlp::value_type::kUnit,
                         static_cast<std::int32_t>(dictionary_.string(unit)));
  }

  // What a Profile has apart from its samples.
  std::string profile_head(const ProfilePart& part) {
    std::string head;
    protozero::pbf_writer profile(head);
    const query::EventChoice& choice = job_.selection.choice();
    const std::string& event = choice.name_of(part.event);
    const std::string_view unit = choice.weight_unit(part.event) == "ns" ? "nanoseconds" : "1";
    if (choice.weighted(part.event)) {
      write_value_type(profile, otlp::profile::kSampleType, event, unit);
    } else {
      write_value_type(profile, otlp::profile::kSampleType, "samples", "count");
    }
    write_value_type(profile, otlp::profile::kPeriodType, event, unit);
    if (job_.view().has_samples) {
      const query::TimeRange range = job_.selection.time_range();
      profile.add_fixed64(otlp::profile::kTimeUnixNano, unix_ns(range.first_ns));
      // The last sample lies within the profile, whose end does not belong to it.
      profile.add_uint64(otlp::profile::kDurationNano, range.last_ns - range.first_ns + 1);
    }
    const auto event_attribute =
        static_cast<std::int32_t>(dictionary_.text_attribute("stackpack.event", event));
    profile.add_packed_int32(otlp::profile::kAttributeIndices, &event_attribute,
                             &event_attribute + 1);
    return head;
  }

  // The machine on which the capture was taken, as a Resource with its field head.
  std::string resource() {
    std::string bytes;
    const std::string host(job_.view().fact("host.name"));
    if (!host.empty()) {
      protozero::pbf_writer writer(bytes);
      protozero::pbf_writer resource(writer, otlp::resource_profiles::kResource);
      protozero::pbf_writer attribute(resource, otlp::resource::kAttributes);
      attribute.add_string(otlp::key_value::kKey, "host.name");
      protozero::pbf_writer value(attribute, otlp::key_value::kValue);
      value.add_string(otlp::any_value::kText, host);
    }
    return bytes;
  }

  Status write_message() {
    std::vector<std::string> heads;  // of each Profile, its own field head in front
    std::uint64_t profiles_bytes = 0;
    for (const ProfilePart& part : profiles_) {
      const std::string inner = profile_head(part);
      std::string& head = heads.emplace_back();
      append_field_head(head, otlp::scope_profiles::kProfiles,
                        inner.size() + (part.end - part.begin));
      head += inner;
      profiles_bytes += head.size() + (part.end - part.begin);
    }
    std::string scope;
    {
      protozero::pbf_writer writer(scope);
      protozero::pbf_writer inner(writer, otlp::scope_profiles::kScope);
      inner.add_string(otlp::scope::kName, "stackpack");
    }
    std::string scope_head = resource();
    append_field_head(scope_head, otlp::resource_profiles::kScopeProfiles,
                      scope.size() + profiles_bytes);
    std::string message;
    append_field_head(message, otlp::profiles_data::kResourceProfiles,
                      scope_head.size() + scope.size() + profiles_bytes);
    out_.write(message + scope_head + scope);
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
      out_.write(heads[i]);
      if (const Status status = samples_.copy_to(out_, profiles_[i].begin, profiles_[i].end);
          !status) {
        return status;
      }
    }
    dictionary_.write(tables_);
    std::string dictionary_head;
    append_field_head(dictionary_head, otlp::profiles_data::kDictionary, tables_.size());
    out_.write(dictionary_head);
    return tables_.copy_to(out_, 0, tables_.size());
  }

  ExportJob& job_;
  ExportOutput& out_;
  query::LocationTable locations_;
  query::StackTree tree_;
  query::StackResolver resolver_;
  OtlpDictionary dictionary_;
  SpilledMessage samples_;
  SpilledMessage tables_;
  query::SampleGrouper grouper_;
  std::size_t time_limit_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> entry_of_group_;
  std::vector<std::uint64_t> times_;
  std::vector<std::int64_t> weights_;
  std::vector<ProfilePart> profiles_;
};

}  // namespace

Status write_otlp(ExportJob& job, ExportOutput& out) {
  return OtlpEncoder(job, out).write();
}

}  // namespace stackpack::exporting
