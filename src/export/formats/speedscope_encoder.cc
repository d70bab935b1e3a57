// speedscope's JSON file format: a profile per thread (and event, when there are several), which
// is either a timeline or, aggregated, a weight per callstack.
// Source: https://www.speedscope.app/file-format-schema.json

#include <map>

#include "core/no_callstack.h"
#include "core/saturating.h"
#include "core/weight_scale.h"
#include "export/job/export_job.h"
#include "export/lanes/lane_samples.h"
#include "export/output/json_output.h"

namespace stackpack::exporting {

namespace {

class SpeedscopeEncoder {
 public:
  SpeedscopeEncoder(ExportJob& job, ExportOutput& out)
      : job_(job),
        out_(out),
        stream_(out),
        json_(stream_),
        locations_(job.selection, {.identity = query::ImageIdentity::kFile,
                                   .style = job.options.frames,
                                   .unfold = true,
                                   .by_function = true}),
        resolver_(job.selection, locations_, tree_),
        lanes_(job.selection, resolver_,
               static_cast<std::size_t>(job.options.memory_limit / LaneSamples::kBytesPerSample)) {}

  Status write() {
    if (const Status status = lanes_.find_lanes(); !status) {
      return status;
    }
    count_events();
    const bool weights = job_.options.speedscope.aggregate || !lanes_.has_times();
    json_.StartObject();
    write_key(json_, "$schema");
    write_text(json_, "https://www.speedscope.app/file-format-schema.json");
    write_key(json_, "exporter");
    write_text(json_, "stackpack");
    write_key(json_, "name");
    write_text(json_, "stackpack export");
    write_key(json_, "activeProfileIndex");
    json_.Uint64(lanes_.first_to_show());
    write_key(json_, "profiles");
    json_.StartArray();
    const Status status = lanes_.for_each([&](const Lane& lane, const LaneReplay& replay) {
      return weights ? write_weights(lane, replay) : write_timeline(lane, replay);
    });
    if (!status) {
      return status;
    }
    json_.EndArray();
    write_frames();
    json_.EndObject();
    job_.report.stacks = distinct_.count();
    return out_.status();
  }

 private:
  void count_events() {
    for (const Lane& lane : lanes_.lanes()) {
      several_events_ = several_events_ || lane.event != lanes_.lanes().front().event;
    }
  }

  void begin_profile(const Lane& lane, std::string_view unit, std::uint64_t first,
                     std::string_view last) {
    std::string name = lanes_.title_of(lane);
    if (several_events_) {
      name += " [" + job_.selection.choice().name_of(lane.event) + "]";
    }
    json_.StartObject();
    write_key(json_, "type");
    write_text(json_, "sampled");
    write_key(json_, "name");
    write_text(json_, name);
    write_key(json_, "event");  // our own key
    write_text(json_, job_.selection.choice().name_of(lane.event));
    write_key(json_, "unit");
    write_text(json_, unit);
    write_key(json_, "startValue");
    json_.Uint64(first);
    write_key(json_, "endValue");
    write_number(json_, last);
  }

  // The locations of a callstack, root first. One without frames is a name: empty ones are gaps.
  void write_stack(std::uint32_t node) {
    tree_.path_to_root(node, path_);
    if (path_.empty()) {
      path_ = {locations_.parts(locations_.name_alone(core::kNoCallstack)).front()};
    }
    json_.StartArray();
    for (std::size_t i = path_.size(); i-- > 0;) {
      json_.Uint(path_[i]);
    }
    json_.EndArray();
  }

  void count(const LaneSample& sample) {
    job_.report.samples += sample.count;
    core::add_saturating(job_.report.weight, sample.value);
    distinct_.add(sample.node);
  }

  Status write_timeline(const Lane& lane, const LaneReplay& replay) {
    const Result<LaneTimeline> timeline = LaneTimeline::create(replay);
    if (!timeline) {
      return timeline.error();
    }
    const std::uint64_t zero = job_.selection.time_range().first_ns;
    begin_profile(lane, "nanoseconds", timeline->first_ns() - zero,
                  std::to_string(timeline->last_ns() - zero));
    write_key(json_, "samples");
    json_.StartArray();
    Status status = timeline->for_each(replay, [this](const LaneTimeline::Part& part) {
      if (part.sample != nullptr) {
        count(*part.sample);
      }
      if (part.sample == nullptr) {
        json_.StartArray();
        json_.EndArray();
      } else {
        write_stack(part.sample->node);
      }
    });
    json_.EndArray();
    write_key(json_, "weights");
    json_.StartArray();
    if (status) {
      status = timeline->for_each(
          replay, [this](const LaneTimeline::Part& part) { json_.Uint64(part.duration_ns); });
    }
    json_.EndArray();
    json_.EndObject();
    return status ? out_.status() : status;
  }

  Status write_weights(const Lane& lane, const LaneReplay& replay) {
    std::map<std::uint32_t, std::uint64_t> weights;
    std::uint64_t total = 0;
    const Status status = replay([&](const LaneSample& sample) {
      count(sample);
      std::uint64_t& weight = weights[sample.node];
      core::add_saturating(weight, sample.value);
      core::add_saturating(total, sample.value);
    });
    const auto [unit, decimals] =
        core::parse_unit(job_.selection.choice().measure_of(lane.event).unit);
    begin_profile(lane,
                  unit == "ns"      ? "nanoseconds"
                  : unit == "bytes" ? "bytes"
                                    : "none",
                  0, core::decimal_text(total, decimals));
    write_key(json_, "samples");
    json_.StartArray();
    for (const auto& [node, weight] : weights) {
      write_stack(node);
    }
    json_.EndArray();
    write_key(json_, "weights");
    json_.StartArray();
    for (const auto& [node, weight] : weights) {
      write_number(json_, core::decimal_text(weight, decimals));
    }
    json_.EndArray();
    json_.EndObject();
    return status ? out_.status() : status;
  }

  void write_frames() {
    write_key(json_, "shared");
    json_.StartObject();
    write_key(json_, "frames");
    json_.StartArray();
    std::string text;
    for (std::uint32_t i = 0; i < locations_.size(); ++i) {
      text.clear();
      locations_.append_text(i, text);
      json_.StartObject();
      write_key(json_, "name");
      write_text(json_, text);
      if (locations_.is_qualified(i)) {  // our own key: the name without the image in front
        text.clear();
        locations_.append_address(i, text);
        write_key(json_, "function");
        write_text(json_, text);
      }
      write_source(i);
      json_.EndObject();
    }
    json_.EndArray();
    json_.EndObject();
  }

  // The source file and line of a function, else the image.
  void write_source(std::uint32_t number) {
    const std::uint32_t code = locations_.location(number).code;
    const std::uint32_t image = locations_.location(number).image;
    if (code != query::kNoCode && function_at(code).file != 0) {
      write_key(json_, "file");
      write_text(json_, locations_.text(function_at(code).file));
      if (function_at(code).start_line != 0) {
        write_key(json_, "line");
        json_.Uint(function_at(code).start_line);
      }
    } else if (image != query::kNoImage) {
      write_key(json_, "file");
      write_text(json_, locations_.module_of_image(image).path);
    }
  }

  [[nodiscard]] const query::FunctionName& function_at(std::uint32_t code) const {
    return locations_.functions()[locations_.places()[code].function];
  }

  ExportJob& job_;
  ExportOutput& out_;
  JsonStream stream_;
  JsonWriter json_;
  query::LocationTable locations_;
  query::StackTree tree_;
  query::StackResolver resolver_;
  LaneSamples lanes_;
  DistinctCounter distinct_;
  bool several_events_ = false;
  std::vector<std::uint32_t> path_;
};

}  // namespace

Status write_speedscope(ExportJob& job, ExportOutput& out) {
  return SpeedscopeEncoder(job, out).write();
}

}  // namespace stackpack::exporting
