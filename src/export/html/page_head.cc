#include "export/html/page_head.h"

#include <optional>
#include <string_view>
#include <variant>

#include "bytes/utf8.h"
#include "core/rapid_json.h"
#include "core/saturating.h"
#include "stackpack/model.h"

namespace stackpack::exporting {

namespace {

class HeadWriter {
 public:
  HeadWriter(const PageContent& content, std::string& out)
      : content_(content), stream_(out), json_(stream_) {}

  void write() {
    json_.StartObject();
    field("title", content_.title);
    texts("sides", content_.sides);
    write_files();
    write_facts();
    write_losses();
    write_measures();
    texts("modules", content_.modules);
    write_threads();
    number("functions", content_.functions.size());
    number("nodes", content_.parents.size());
    write_timeline();
    write_labels();
    write_lanes();
    write_tables();
    key("diff");
    if (content_.diff_json.empty()) {
      json_.Null();
    } else {
      json_.RawValue(content_.diff_json.data(), content_.diff_json.size(), rapidjson::kObjectType);
    }
    json_.EndObject();
  }

 private:
  void key(std::string_view name) {
    json_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  }
  void text(std::string_view value) {
    json_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }
  void field(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  void number(std::string_view name, std::uint64_t value) {
    key(name);
    json_.Uint64(value);
  }
  // Numbers that may not fit those of JavaScript are text.
  void large(std::uint64_t value) { text(std::to_string(value)); }

  void texts(std::string_view name, const std::vector<std::string>& values) {
    key(name);
    json_.StartArray();
    for (const std::string& value : values) {
      text(value);
    }
    json_.EndArray();
  }

  void write_files() {
    key("files");
    json_.StartArray();
    for (const std::vector<std::string>& side : content_.files) {
      json_.StartArray();
      for (const std::string& name : side) {
        text(name);
      }
      json_.EndArray();
    }
    json_.EndArray();
  }

  void write_facts() {
    key("facts");
    json_.StartArray();
    for (const PageFact& fact : content_.facts) {
      json_.StartArray();
      text(fact.label);
      text(fact.value);
      json_.EndArray();
    }
    json_.EndArray();
  }

  void write_losses() {
    key("losses");
    json_.StartArray();
    for (const PageLoss& loss : content_.losses) {
      json_.StartArray();
      text(loss.name);
      large(loss.count);
      text(loss.text);
      json_.Bool(loss.remark);
      json_.EndArray();
    }
    json_.EndArray();
  }

  void write_measures() {
    key("measures");
    json_.StartArray();
    for (std::size_t i = 0; i < content_.measures.size(); ++i) {
      json_.StartObject();
      field("name", content_.measures[i].name);
      field("unit", content_.measures[i].unit);
      key("totals");
      json_.StartArray();
      for (const auto& side : content_.self) {
        std::uint64_t total = 0;
        for (const NodeValue& own : side[i]) {
          core::add_saturating(total, own.value);
        }
        large(total);
      }
      json_.EndArray();
      json_.EndObject();
    }
    json_.EndArray();
  }

  void id(std::uint32_t value) {
    if (value == kUnknownId) {
      json_.Int(-1);
    } else {
      json_.Uint(value);
    }
  }

  void write_threads() {
    key("threads");
    json_.StartArray();
    for (const PageThread& thread : content_.threads) {
      json_.StartArray();
      id(thread.pid);
      id(thread.tid);
      text(thread.process);
      text(thread.thread);
      json_.EndArray();
    }
    json_.EndArray();
  }

  void write_timeline() {
    key("timeline");
    if (!content_.timeline) {
      json_.Null();
      return;
    }
    const PageTimeline& timeline = *content_.timeline;
    json_.StartObject();
    key("start");
    large(timeline.start_ns);
    number("width", timeline.width_ns);
    number("buckets", timeline.buckets);
    field("resolution", timeline.resolution);
    if (!timeline.timed) {
      key("timed");
      json_.Bool(false);
    }
    number("rows", timeline.rows.size());
    std::uint64_t values = 0;
    for (const TimeRow& row : timeline.rows) {
      const EventMeasures& measures = timeline.measures_of_event[row.event];
      values += (measures.count ? 1U : 0U) + (measures.weight ? 1U : 0U);
    }
    number("values", values);
    key("measures");
    json_.StartArray();
    for (const EventMeasures& event : timeline.measures_of_event) {
      json_.StartArray();
      const bool weight_first = event.weight_first();
      for (const auto& measure :
           {weight_first ? event.weight : event.count, weight_first ? event.count : event.weight}) {
        if (measure) {
          json_.Uint(*measure);
        }
      }
      json_.EndArray();
    }
    json_.EndArray();
    json_.EndObject();
  }

  void write_labels() {
    if (!content_.labels) {
      return;
    }
    key("labels");
    json_.StartObject();
    key("sets");
    json_.StartArray();
    for (const PageLabels::Set& set : content_.labels->sets) {
      json_.StartArray();
      for (const auto& [name, value] : set) {
        text(name);
        text(value);
      }
      json_.EndArray();
    }
    json_.EndArray();
    key("tracks");
    json_.StartArray();
    for (const PageLabels::Track& track : content_.labels->tracks) {
      json_.StartArray();
      json_.Uint(track.thread);
      json_.Uint(track.set);
      json_.EndArray();
    }
    json_.EndArray();
    json_.EndObject();
  }

  void write_lanes() {
    key("lanes");
    if (!content_.lanes) {
      json_.Null();
      return;
    }
    const PageLanes& lanes = *content_.lanes;
    json_.StartObject();
    key("start");
    large(lanes.start_ns);
    number("tick", lanes.tick_ns);
    number("ticks", lanes.ticks);
    number("intervals", lanes.intervals());
    number("callstacks", lanes.nodes.size());
    number("spots", lanes.spots.size());
    number("wakers", lanes.wakers.size());
    texts("reasons", lanes.reasons);
    key("measures");
    json_.StartArray();
    for (const auto& measure : lanes.measures) {
      id(measure.value_or(kUnknownId));
    }
    json_.EndArray();
    key("threads");
    json_.StartArray();
    for (const PageLane& lane : lanes.lanes) {
      json_.StartArray();
      id(lane.pid);
      id(lane.tid);
      text(lane.process);
      text(lane.thread);
      id(lane.row);
      json_.Bool(lane.waits_for_work);
      json_.Uint64(lane.intervals);
      json_.EndArray();
    }
    json_.EndArray();
    json_.EndObject();
  }

  static std::string_view unit_text(PageTable::Unit unit) {
    switch (unit) {
      case PageTable::Unit::kCount:
        return "count";
      case PageTable::Unit::kBytes:
        return "bytes";
      case PageTable::Unit::kNanoseconds:
        return "ns";
      case PageTable::Unit::kCode:
        return "code";
      case PageTable::Unit::kText:
        break;
    }
    return "";
  }

  void write_cell(const PageTable::Cell& cell) {
    if (const auto* const words = std::get_if<std::string>(&cell)) {
      text(bytes::valid_utf8(*words));
    } else if (const auto value = std::get<std::optional<std::uint64_t>>(cell)) {
      large(*value);
    } else {
      json_.Null();
    }
  }

  void write_table(const PageTable& table) {
    json_.StartArray();
    text(bytes::valid_utf8(table.title));
    text(bytes::valid_utf8(table.note));
    json_.StartArray();
    for (const PageTable::Column& column : table.columns) {
      json_.StartArray();
      text(column.name);
      text(unit_text(column.unit));
      json_.EndArray();
    }
    json_.EndArray();
    json_.StartArray();
    for (const std::vector<PageTable::Cell>& row : table.rows) {
      json_.StartArray();
      for (const PageTable::Cell& cell : row) {
        write_cell(cell);
      }
      json_.EndArray();
    }
    json_.EndArray();
    json_.EndArray();
  }

  void write_tables() {
    key("tables");
    json_.StartArray();
    for (const PageTable& table : content_.tables) {
      write_table(table);
    }
    json_.EndArray();
  }

  const PageContent& content_;
  core::JsonTextStream stream_;
  core::JsonWriter<core::JsonTextStream> json_;
};

}  // namespace

std::string page_head(const PageContent& content) {
  std::string out;
  HeadWriter(content, out).write();
  return out;
}

}  // namespace stackpack::exporting
