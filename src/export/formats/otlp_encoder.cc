// OpenTelemetry profiles: ProfilesData with its dictionary of tables.
//
// One Profile per event, and for each resource and scope that an import found. A sample of it is a
// callstack with the attributes of a thread, and has the times at which it was seen; with weights
// it has a value for each time as well. The specification wants every such pair once, so that times
// are sorted by group: a pass over the samples fills in the times of as many groups as fit in
// memory, and a group too large for that is copied from the file straight into the message.
//
// Lengths stand in front of messages: samples and tables wait in nameless temporary files.

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "core/saturating.h"
#include "core/weight_scale.h"
#include "export/formats/otlp_dictionary.h"
#include "export/formats/otlp_fields.h"
#include "export/formats/otlp_owners.h"
#include "export/formats/otlp_sample_fields.h"
#include "export/job/export_job.h"
#include "export/output/spilled_message.h"
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
        owners_(job.view().metadata),
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
    if (job_.reader != nullptr && job_.view().has_samples &&
        (job_.reader->has_event_values() || job_.reader->label_set_count() != 0)) {
      Result<OtlpSampleFields> fields = OtlpSampleFields::load(*job_.reader, job_.view());
      if (!fields) {
        return fields.error();
      }
      fields_ = std::move(*fields);
    }
    const Status status = for_each_resolved(
        grouper_, resolver_, grouper_.limit(),  // whole passes: find() speaks of them
        {}, [this](std::span<const query::Group> groups, std::span<const std::uint32_t> nodes) {
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
  // Samples of a group whose attributes differ are several.
  struct Entry {
    std::uint32_t event = 0;
    std::uint32_t node = 0;
    std::uint32_t track = 0;
    std::uint32_t set = 0;  // of fields
    std::uint64_t count = 0;
    std::uint64_t weight = 0;
  };
  struct ProfilePart {
    std::uint32_t event = 0;
    OtlpOwners::Owner owner;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  void merge(std::span<const query::Group> groups, std::span<const std::uint32_t> nodes) {
    std::vector<std::uint32_t> order(groups.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto place = [&](std::uint32_t i) {
      const query::GroupKey& key = groups[i].key;
      return std::tuple(key.event, source_of(key.track), nodes[i], key.track);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
    entries_.clear();
    entry_of_group_.assign(groups.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const query::Group& group = groups[order[i]];
      if (i == 0 || place(order[i - 1]) != place(order[i])) {
        entries_.push_back({group.key.event, nodes[order[i]], group.key.track, 0, 0, 0});
      }
      entries_.back().count += group.count;
      core::add_saturating(entries_.back().weight, group.weight);
      entry_of_group_[order[i]] = static_cast<std::uint32_t>(entries_.size() - 1);
    }
  }

  // Entries of samples with fields become one for each set of them, by what has the fields.
  Status split_by_fields() {
    entry_of_set_.clear();
    if (fields_.empty()) {
      return {};
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, Entry> parts;  // by entry and set
    fields_.begin_pass();
    const Status status =
        job_.selection.for_each([&](std::span<const query::SelectedSample> block) -> Status {
          for (const query::SelectedSample& sample : block) {
            const std::uint32_t set = fields_.find(sample);
            if (const auto group = grouper_.find(sample)) {
              const std::uint32_t whole = entry_of_group_[*group];
              Entry& part = parts[{whole, set}];
              const std::uint64_t count = part.count + sample.count;
              const std::uint64_t weight = core::saturating_sum(part.weight, sample.weight);
              part = entries_[whole];
              part.set = set;
              part.count = count;
              part.weight = weight;
            }
          }
          return {};
        });
    std::vector<std::pair<std::pair<std::uint32_t, std::uint32_t>, Entry>> ordered(parts.begin(),
                                                                                   parts.end());
    std::stable_sort(ordered.begin(), ordered.end(), [this](const auto& a, const auto& b) {
      return std::pair(a.second.event, owner_of(a.second)) <
             std::pair(b.second.event, owner_of(b.second));
    });
    entries_.clear();
    for (const auto& [key, part] : ordered) {
      entry_of_set_.emplace(key, static_cast<std::uint32_t>(entries_.size()));
      entries_.push_back(part);
    }
    return status;
  }

  const OtlpOwners::Split& split_of(std::uint32_t set) {
    const auto known = splits_.find(set);
    return known != splits_.end() ? known->second
                                  : splits_.emplace(set, owners_.split(fields_, set)).first->second;
  }
  OtlpOwners::Owner owner_of(const Entry& entry) {
    OtlpOwners::Owner owner = split_of(entry.set).owner;
    owner.source = source_of(entry.track);
    return owner;
  }
  // Of a merged file whose sources say something of their own; else 0.
  [[nodiscard]] std::uint32_t source_of(std::uint32_t track) const {
    const std::vector<std::uint64_t>& firsts = job_.view().source_firsts;
    if (!owners_.any_by_source() || firsts.empty()) {
      return 0;
    }
    const std::uint64_t pid = job_.selection.tracks()[track].pid;
    const auto next = std::upper_bound(firsts.begin(), firsts.end(), pid);
    return next == firsts.begin() ? 0 : static_cast<std::uint32_t>(next - firsts.begin() - 1);
  }

  // The entry of a sample, if it is in the block.
  std::optional<std::size_t> entry_of(const query::SelectedSample& sample) {
    const std::uint32_t set = fields_.empty() ? 0 : fields_.find(sample);
    const auto group = grouper_.find(sample);
    if (!group) {
      return std::nullopt;
    }
    const std::uint32_t entry = entry_of_group_[*group];
    if (fields_.empty()) {
      return entry;
    }
    const auto part = entry_of_set_.find({entry, set});
    return part == entry_of_set_.end() ? std::nullopt : std::optional<std::size_t>(part->second);
  }

  Status write_block(std::span<const query::Group> groups, std::span<const std::uint32_t> nodes) {
    merge(groups, nodes);
    if (const Status split = split_by_fields(); !split) {
      return split;
    }
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
    const OtlpOwners::Owner owner = owner_of(entry);
    if (profiles_.empty() || profiles_.back().event != entry.event ||
        profiles_.back().owner != owner) {
      end_profile();
      profiles_.push_back({entry.event, owner, samples_.size(), 0});
    }
    job_.report.samples += entry.count;
    core::add_saturating(job_.report.weight, is_weighted(entry) ? entry.weight : entry.count);
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
    const auto& of_track = dictionary_.attributes_of(entry.track);
    const OtlpOwners::Split& split = split_of(entry.set);
    attributes_.assign(of_track.begin(), of_track.end());
    for (const OtlpField& field : split.sample) {
      attributes_.push_back(dictionary_.attribute(field.name, field.value));
    }
    sample.add_packed_int32(otlp::sample::kAttributeIndices, attributes_.begin(),
                            attributes_.end());
    if (const std::uint32_t link = dictionary_.link(split.trace_id, split.span_id); link != 0) {
      sample.add_int32(otlp::sample::kLinkIndex, static_cast<std::int32_t>(link));
    }
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
    fields_.begin_pass();
    return job_.selection.for_each([&](std::span<const query::SelectedSample> block) {
      for (const query::SelectedSample& sample : block) {
        const std::optional<std::size_t> entry = entry_of(sample);
        if (entry && *entry >= begin && *entry < end) {
          visit(*entry, sample);
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
    const auto [own, decimals] = core::parse_unit(choice.weight_unit(part.event));
    const std::string unit = core::scaled_unit(own == "ns"      ? "nanoseconds"
                                               : own == "bytes" ? "bytes"
                                                                : "1",
                                               decimals);
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
    std::vector<std::uint32_t> attributes{dictionary_.text_attribute("stackpack.event", event)};
    const OtlpOwners::ProfileFields fields = owners_.profile_fields(part.owner);
    if (!fields.id.empty()) {
      profile.add_bytes(otlp::profile::kProfileId, fields.id);
    }
    for (const OtlpField& field : fields.attributes) {
      attributes.push_back(dictionary_.attribute(field.name, field.value));
    }
    profile.add_packed_int32(otlp::profile::kAttributeIndices, attributes.begin(),
                             attributes.end());
    return head;
  }

  Status write_message() {
    std::vector<std::size_t> order(profiles_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto owner = [this](std::size_t at) { return profiles_[at].owner; };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(owner(a).source, owner(a).resource, owner(a).scope) <
             std::tuple(owner(b).source, owner(b).resource, owner(b).scope);
    });
    for (std::size_t begin = 0; begin < order.size() || begin == 0;) {
      std::size_t end = begin;
      while (end < order.size() && owner(order[end]).source == owner(order[begin]).source &&
             owner(order[end]).resource == owner(order[begin]).resource) {
        ++end;
      }
      const Status status = write_resource(std::span(order).subspan(begin, end - begin));
      if (!status || order.empty()) {
        return status ? write_dictionary() : status;
      }
      begin = end;
    }
    return write_dictionary();
  }

  // The profiles of one scope, as ScopeProfiles: what stands before and after their samples.
  struct ScopePart {
    std::vector<std::size_t> profiles;
    std::vector<std::string> heads;  // of each Profile, its own field head in front
    std::string before;              // the field head, then the scope
    std::string after;
    std::uint64_t bytes = 0;  // of all
  };

  ScopePart scope_of(std::span<const std::size_t> profiles) {
    ScopePart scope;
    std::uint64_t profiles_bytes = 0;
    for (const std::size_t at : profiles) {
      const ProfilePart& part = profiles_[at];
      const std::string inner = profile_head(part);
      std::string& head = scope.heads.emplace_back();
      append_field_head(head, otlp::scope_profiles::kProfiles,
                        inner.size() + (part.end - part.begin));
      head += inner;
      profiles_bytes += head.size() + (part.end - part.begin);
      scope.profiles.push_back(at);
    }
    const OtlpOwners::Owner owner =
        profiles.empty() ? OtlpOwners::Owner{} : profiles_[profiles.front()].owner;
    const std::string message = owners_.scope(owner);
    scope.after = owners_.scope_schema(owner);
    append_field_head(scope.before, otlp::resource_profiles::kScopeProfiles,
                      message.size() + profiles_bytes + scope.after.size());
    scope.before += message;
    scope.bytes = scope.before.size() + profiles_bytes + scope.after.size();
    return scope;
  }

  // The profiles of one resource, as ResourceProfiles.
  Status write_resource(std::span<const std::size_t> profiles) {
    std::vector<ScopePart> scopes;
    std::uint64_t scope_bytes = 0;
    for (std::size_t begin = 0; begin < profiles.size() || scopes.empty();) {
      std::size_t end = begin;
      while (end < profiles.size() &&
             profiles_[profiles[end]].owner.scope == profiles_[profiles[begin]].owner.scope) {
        ++end;
      }
      scopes.push_back(scope_of(profiles.subspan(begin, end - begin)));
      scope_bytes += scopes.back().bytes;
      begin = end;
    }
    const OtlpOwners::Owner owner =
        profiles.empty() ? OtlpOwners::Owner{} : profiles_[profiles.front()].owner;
    const std::string resource = owners_.resource(owner);
    const std::string schema = owners_.resource_schema(owner);
    std::string head;
    append_field_head(head, otlp::profiles_data::kResourceProfiles,
                      resource.size() + scope_bytes + schema.size());
    out_.write(head + resource);
    for (const ScopePart& scope : scopes) {
      if (const Status status = write_scope(scope); !status) {
        return status;
      }
    }
    out_.write(schema);
    return {};
  }

  Status write_scope(const ScopePart& scope) {
    out_.write(scope.before);
    for (std::size_t i = 0; i < scope.profiles.size(); ++i) {
      const ProfilePart& part = profiles_[scope.profiles[i]];
      out_.write(scope.heads[i]);
      if (const Status status = samples_.copy_to(out_, part.begin, part.end); !status) {
        return status;
      }
    }
    out_.write(scope.after);
    return {};
  }

  Status write_dictionary() {
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
  OtlpOwners owners_;
  OtlpDictionary dictionary_;
  SpilledMessage samples_;
  SpilledMessage tables_;
  query::SampleGrouper grouper_;
  std::size_t time_limit_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> entry_of_group_;
  OtlpSampleFields fields_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> entry_of_set_;
  std::map<std::uint32_t, OtlpOwners::Split> splits_;  // by set of fields
  std::vector<std::uint32_t> attributes_;              // of a sample
  std::vector<std::uint64_t> times_;
  std::vector<std::int64_t> weights_;
  std::vector<ProfilePart> profiles_;
};

}  // namespace

Status write_otlp(ExportJob& job, ExportOutput& out) {
  return OtlpEncoder(job, out).write();
}

}  // namespace stackpack::exporting
