#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "app/arrow/callstack_walk.h"
#include "app/arrow/capture_tables.h"

namespace stackpack::app {

namespace {

using arrow::Batch;
using arrow::ColumnType;
using arrow::Field;

enum NodeField : std::size_t { kNodeId, kNodeParent, kNodeFrame, kNodeDepth, kNodeStack };

constexpr std::array<Field, 5> kNodeFields{{
    {"id", ColumnType::kUInt32, false},
    {"parent", ColumnType::kUInt32, true},
    {"frame", ColumnType::kUInt32, false},
    {"depth", ColumnType::kUInt32, false},
    {"stack", ColumnType::kUInt32, true},
}};

enum FrameField : std::size_t {
  kFrameId,
  kFrameName,
  kFrameImage,
  kFrameFunction,
  kFrameLinkage,
  kFrameFile,
  kFrameLine,
  kFrameInlined,
  kFrameModeName,
  kFrameAddress,
  kFrameIsReturn,
  kFrameModule,
  kFrameOffset,
  kFrameFunctionRow,
  kFrameFunctionOffset,
  kFrameFieldCount
};

constexpr std::array<Field, kFrameFieldCount> kFrameFields{{
    {"id", ColumnType::kUInt32, false},
    {"name", ColumnType::kDictionary, false},
    {"image", ColumnType::kDictionary, true},
    {"function", ColumnType::kDictionary, true},
    {"linkage", ColumnType::kDictionary, true},
    {"file", ColumnType::kDictionary, true},
    {"line", ColumnType::kUInt32, true},
    {"inlined", ColumnType::kBool, false},
    {"mode", ColumnType::kDictionary, false},
    {"address", ColumnType::kUInt64, true},
    {"is_return", ColumnType::kBool, false},
    {"module", ColumnType::kUInt32, true},
    {"offset", ColumnType::kUInt64, true, "bytes"},
    {"function_id", ColumnType::kUInt32, true},
    {"function_offset", ColumnType::kUInt64, true, "bytes"},
}};

constexpr std::array<std::string_view, kFrameModeCount> kModeNames{
    "unknown", "kernel", "user", "hypervisor", "guest", "guest kernel", "guest user"};

/// The nodes of a file's callstacks. Threads: one at a time.
class NodeCursor {
 public:
  NodeCursor(SharedTables tables, const ArrowOptions& options)
      : tables_(std::move(tables)), batch_rows_(options.batch_rows) {}

  Status next(Batch& batch) {
    if (const Status started = start(); !started) {
      return started;
    }
    const auto put = [&] {
      while (at_ < pending_.size() && !batch.full(batch_rows_)) {
        put_node(batch, pending_[at_++]);
      }
      return at_ == pending_.size() && !batch.full(batch_rows_);
    };
    if (!put() || walk_->done()) {
      return {};
    }
    return walk_->advance([&](std::span<const CallstackNode> nodes) {
      pending_.assign(nodes.begin(), nodes.end());
      at_ = 0;
      return put();
    });
  }

 private:
  Status start() {
    if (walk_ != nullptr) {
      return {};
    }
    const auto frames = tables_->frames();
    const auto stacks = tables_->stacks();
    if (!frames || !stacks) {
      return frames ? Status(stacks.error()) : Status(frames.error());
    }
    walk_ = std::make_unique<CallstackWalk>(
        tables_->reader(), **stacks,
        [rows = *frames](const symbols::MappingContext& place, const Frame& frame, AddressUse use,
                         std::vector<std::uint32_t>& numbers) {
          return rows->find(place, frame, use, numbers);
        });
    return {};
  }

  static void put_node(Batch& batch, const CallstackNode& node) {
    batch.put_number(kNodeId, node.id);
    batch.put_number(kNodeParent, node.parent, CallstackNode::kNone);
    batch.put_number(kNodeFrame, node.frame);
    batch.put_number(kNodeDepth, node.depth);
    batch.put_number(kNodeStack, node.stack, kNoStack);
    batch.end_row();
  }

  SharedTables tables_;
  std::size_t batch_rows_;
  std::unique_ptr<CallstackWalk> walk_;
  std::vector<CallstackNode> pending_;  // of one callstack
  std::size_t at_ = 0;
};

void put_frame(Batch& batch, const FrameRows& rows, std::size_t number) {
  const FrameRow& row = rows[number];
  const bool has_module = row.module != FrameRow::kNone;
  const bool has_function = row.function != FrameRow::kNone;
  batch.put_number(kFrameId, number);
  batch.put_text(kFrameName, rows.title(row));
  batch.put_text_or_null(kFrameImage, rows.image(row));
  batch.put_text_or_null(kFrameFunction, row.name);
  batch.put_text_or_null(kFrameLinkage, row.linkage);
  batch.put_text_or_null(kFrameFile, row.file);
  batch.put_number(kFrameLine, row.line, 0);
  batch.put_bool(kFrameInlined, row.inlined);
  batch.put_text(kFrameModeName, kModeNames[static_cast<std::size_t>(row.frame.mode)]);
  if (row.has_address) {
    batch.put_number(kFrameAddress, row.frame.address);
  } else {
    batch.put_null(kFrameAddress);
  }
  batch.put_bool(kFrameIsReturn, row.use == AddressUse::kReturn);
  batch.put_number(kFrameModule, row.module, FrameRow::kNone);
  batch.put_number(kFrameFunctionRow, row.function, FrameRow::kNone);
  const auto put_offset = [&batch](std::size_t field, bool known, std::uint64_t offset) {
    if (known) {
      batch.put_number(field, offset);
    } else {
      batch.put_null(field);
    }
  };
  put_offset(kFrameOffset, has_module && row.has_address, row.offset);
  put_offset(kFrameFunctionOffset, has_function && row.has_address, row.function_offset);
}

}  // namespace

std::span<const Field> callstack_fields() {
  return kNodeFields;
}

NextRows callstack_rows(const SharedTables& tables, const ArrowOptions& options) {
  // A std::function is copied with what it has: a cursor is not.
  return [cursor = std::make_shared<NodeCursor>(tables, options)](Batch& batch) {
    return cursor->next(batch);
  };
}

std::span<const Field> frame_fields() {
  return kFrameFields;
}

NextRows frame_rows(const SharedTables& tables, const ArrowOptions& options) {
  return
      [tables, most = options.batch_rows, next = std::size_t{0}](Batch& batch) mutable -> Status {
        const auto rows = tables->frames();
        if (!rows) {
          return rows.error();
        }
        for (; next < (*rows)->size() && !batch.full(most); ++next) {
          put_frame(batch, **rows, next);
          batch.end_row();
        }
        return {};
      };
}

}  // namespace stackpack::app
