#include "arrow/arrow_stream.h"

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "arrow/arrow_schema.h"
#include "core/guard.h"

namespace stackpack::arrow {

namespace {

// What a stream holds until it is released.
struct StreamMemory {
  BatchSource source;
  bool ended = false;
  Status status;     // once it failed it stays so
  std::string text;  // of the latest failure
};

StreamMemory& memory_of(ArrowArrayStream* stream) {
  return *static_cast<StreamMemory*>(stream->private_data);
}

int errno_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return EINVAL;
    case ErrorCode::kResource:
      return ENOMEM;
    default:
      return EIO;
  }
}

int fail(StreamMemory& memory, const Error& error) {
  const Status kept = core::guarded([&]() -> Status {
    memory.text = message(error);
    return {};
  });
  if (!kept) {
    memory.text.clear();
  }
  return errno_of(error.code);
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  StreamMemory& memory = memory_of(stream);
  const Status made = core::guarded([&]() -> Status {
    make_schema(memory.source.table, memory.source.projection.fields(), out);
    return {};
  });
  return made ? 0 : fail(memory, made.error());
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  StreamMemory& memory = memory_of(stream);
  out->release = nullptr;
  if (memory.status && !memory.ended) {
    memory.status = core::guarded([&]() -> Status {
      Batch batch(memory.source.projection);
      if (const Status filled = memory.source.next(batch); !filled) {
        return filled;
      }
      memory.ended = batch.rows() == 0;
      if (!memory.ended) {
        batch.move_to(out);
      }
      return {};
    });
  }
  return memory.status ? 0 : fail(memory, memory.status.error());
}

const char* get_last_error(ArrowArrayStream* stream) {
  const StreamMemory& memory = memory_of(stream);
  return memory.text.empty() ? nullptr : memory.text.c_str();
}

void release_stream(ArrowArrayStream* stream) {
  const std::unique_ptr<StreamMemory> memory(&memory_of(stream));
  stream->release = nullptr;
}

}  // namespace

void make_stream(BatchSource source, ArrowArrayStream* out) {
  auto memory = std::make_unique<StreamMemory>(StreamMemory{std::move(source), false, {}, {}});
  out->get_schema = get_schema;
  out->get_next = get_next;
  out->get_last_error = get_last_error;
  out->release = release_stream;
  out->private_data = memory.release();
}

}  // namespace stackpack::arrow
