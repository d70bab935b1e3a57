#include "export/html/page_data.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bytes/byte_writer.h"
#include "export/html/page_head.h"
#include "export/html/page_order.h"
#include "symbols/name_parts.h"

namespace stackpack::exporting {

namespace {

// docs/page-format.md
enum class PageSection : std::uint8_t {
  kHead = 0,
  kFunctions = 1,
  kNames = 2,
  kPops = 3,
  kTreeFunctions = 4,
  kSelf = 5,
  kTime = 6,
  kFindings = 7,
  kShortNames = 8,
  kLanes = 9,
};
constexpr std::string_view kPageMagic = "spkP\x01";
constexpr std::uint8_t kNamedFlag = 8;

using bytes::ByteWriter;

std::size_t shared_prefix(std::string_view a, std::string_view b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(end - a.begin());
}

class PageEncoder {
 public:
  PageEncoder(const PageContent& content,
              const std::function<Status(std::span<const std::byte>)>& write)
      : content_(content), order_(order_of(content)), write_(write) {}

  Status encode() {
    put(std::as_bytes(std::span(kPageMagic)));
    const std::string head = page_head(content_);
    section(PageSection::kHead, std::as_bytes(std::span(head)));
    write_functions();
    write_tree();
    for (const auto& side : content_.self) {
      for (const auto& measure : side) {
        write_self(measure);
      }
    }
    if (content_.timeline) {
      write_time(*content_.timeline);
    }
    if (content_.lanes) {
      write_lanes(*content_.lanes);
    }
    if (content_.findings) {
      section(PageSection::kFindings, content_.findings->encode(order_.functions).bytes());
    }
    return status_;
  }

 private:
  void put(std::span<const std::byte> bytes) {
    if (status_) {
      status_ = write_(bytes);
    }
  }

  void section(PageSection number, std::span<const std::byte> bytes) {
    ByteWriter head;
    head.write_varint(static_cast<std::uint64_t>(number));
    head.write_varint(bytes.size());
    put(head.bytes());
    put(bytes);
  }

  void write_functions() {
    ByteWriter rows;
    ByteWriter names;
    std::string_view last_name;
    std::uint64_t last_offset = 0;
    for (const std::uint32_t number : order_.functions) {
      const PageFunction& function = content_.functions[number];
      const auto mode = static_cast<std::uint8_t>(function.mode);
      rows.write<std::uint8_t>(function.named ? mode | kNamedFlag : mode);
      rows.write_varint(function.module == kNoPageModule ? 0 : std::uint64_t{function.module} + 1);
      if (function.named) {
        const std::size_t shared = shared_prefix(last_name, function.name);
        rows.write_varint(shared);
        rows.write_varint(function.name.size() - shared);
        names.write_text(std::string_view(function.name).substr(shared));
        last_name = function.name;
      } else {
        rows.write_varint(
            bytes::zigzag_encode(static_cast<std::int64_t>(function.offset - last_offset)));
        last_offset = function.offset;
      }
    }
    section(PageSection::kFunctions, rows.bytes());
    section(PageSection::kNames, names.bytes());
    write_short_names();
  }

  // What is kept of each name, and where shorter ones start; so that no two that differ look alike.
  void write_short_names() {
    std::vector<std::string_view> named;
    for (const std::uint32_t number : order_.functions) {
      if (content_.functions[number].named) {
        named.emplace_back(content_.functions[number].name);
      }
    }
    const std::vector<symbols::NameDetail> details = symbols::distinct_details(named);
    ByteWriter all;
    for (std::size_t i = 0; i < named.size(); ++i) {
      ByteWriter one;
      std::uint32_t end = 0;
      for (const symbols::NamePart& part : symbols::name_parts(named[i], details[i])) {
        one.write_varint(part.begin - end);
        one.write_varint(std::uint64_t{part.size} * 2 + (part.starts ? 1 : 0));
        end = part.begin + part.size;
      }
      all.write_varint(one.size());
      all.write_bytes(one.bytes());
    }
    section(PageSection::kShortNames, all.bytes());
  }

  void write_tree() {
    const std::size_t count = order_.nodes.size();
    ByteWriter pops;
    ByteWriter functions;
    leaf_.assign(count, true);
    std::vector<std::uint32_t> depth(count);
    for (std::size_t place = 1; place < count; ++place) {
      const std::uint32_t node = order_.nodes[place];
      const std::uint32_t parent = order_.node_places[content_.parents[node]];
      leaf_[parent] = false;
      depth[place] = depth[parent] + 1;
      pops.write_varint(depth[place - 1] + 1 - depth[place]);
      functions.write_varint(order_.function_places[content_.node_functions[node]]);
    }
    section(PageSection::kPops, pops.bytes());
    section(PageSection::kTreeFunctions, functions.bytes());
  }

  // Leaves, of which nearly all have a weight, by their order; the others with their distances.
  void write_self(const std::vector<NodeValue>& measure) {
    std::vector<NodeValue> placed(measure);
    for (NodeValue& own : placed) {
      own.node = order_.node_places[own.node];
    }
    std::sort(placed.begin(), placed.end(),
              [](const NodeValue& a, const NodeValue& b) { return a.node < b.node; });
    ByteWriter values;
    auto next = placed.begin();
    for (std::uint32_t node = 0; node < leaf_.size(); ++node) {
      next = std::find_if(next, placed.end(),
                          [node](const NodeValue& own) { return own.node >= node; });
      if (leaf_[node]) {
        values.write_varint(next != placed.end() && next->node == node ? next->value : 0);
      }
    }
    std::uint32_t last = ~std::uint32_t{0};
    for (const NodeValue& own : placed) {
      if (!leaf_[own.node]) {
        values.write_varint(own.node - last - 1);
        values.write_varint(own.value);
        last = own.node;
      }
    }
    section(PageSection::kSelf, values.bytes());
  }

  void write_time(const PageTimeline& timeline) {
    std::vector<TimeRow> rows(timeline.rows);
    for (TimeRow& row : rows) {
      row.node = order_.node_places[row.node];
    }
    std::sort(rows.begin(), rows.end(), [](const TimeRow& a, const TimeRow& b) {
      return std::tuple(a.bucket, a.thread, a.node, a.event) <
             std::tuple(b.bucket, b.thread, b.node, b.event);
    });
    std::array<ByteWriter, 5> columns;
    TimeRow last;
    for (const TimeRow& row : rows) {
      const bool same_bucket = row.bucket == last.bucket;
      const bool same_thread = same_bucket && row.thread == last.thread;
      columns[0].write_varint(row.bucket - last.bucket);
      columns[1].write_varint(same_bucket ? row.thread - last.thread : row.thread);
      columns[2].write_varint(same_thread ? row.node - last.node : row.node);
      columns[3].write_varint(row.event);
      const EventMeasures& measures = timeline.measures_of_event[row.event];
      if (measures.weight_first()) {
        columns[4].write_varint(row.weight);
      }
      if (measures.count) {
        columns[4].write_varint(row.count);
      }
      if (measures.weight && !measures.weight_first()) {
        columns[4].write_varint(row.weight);
      }
      last = row;
    }
    ByteWriter all;
    for (const ByteWriter& column : columns) {
      all.write_varint(column.size());
      all.write_bytes(column.bytes());
    }
    section(PageSection::kTime, all.bytes());
  }

  void write_lanes(const PageLanes& lanes) {
    ByteWriter nodes;
    for (const std::uint32_t node : lanes.nodes) {
      nodes.write_varint(order_.node_places[node]);
    }
    ByteWriter spots;
    for (const LaneSpot& spot : lanes.spots) {
      spots.write_varint(spot.reason);
      spots.write_varint(spot.stack);
    }
    ByteWriter wakers;
    for (const LaneWaker& waker : lanes.wakers) {
      for (const std::uint32_t value : {waker.kind, waker.tid, waker.lane, waker.stack}) {
        wakers.write_varint(value);
      }
    }
    ByteWriter all;
    const auto column = [&all](const ByteWriter& bytes) {
      all.write_varint(bytes.size());
      all.write_bytes(bytes.bytes());
    };
    column(nodes);
    column(spots);
    column(wakers);
    for (const ByteWriter& bytes : lanes.columns) {
      column(bytes);
    }
    section(PageSection::kLanes, all.bytes());
  }

  const PageContent& content_;
  PageOrder order_;
  const std::function<Status(std::span<const std::byte>)>& write_;
  std::vector<bool> leaf_;
  Status status_;
};

}  // namespace

Status encode_page(const PageContent& content,
                   const std::function<Status(std::span<const std::byte>)>& write) {
  return PageEncoder(content, write).encode();
}

}  // namespace stackpack::exporting
