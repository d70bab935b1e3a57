#include "capture/function_recorder.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <tuple>

#include "bytes/byte_text.h"
#include "capture/function_fact.h"
#include "capture/function_lives.h"
#include "capture/redaction.h"
#include "capture/system_tables.h"
#include "core/radix_sort.h"
#include "core/sort_rows.h"
#include "scratch/sorted_runs.h"
#include "scratch/text_log.h"

namespace stackpack::capture {

namespace {

// By owner, pid or image, start; then in the order of time, and of the source.
auto place_of(const FunctionRow& row) {
  return std::tuple(row.owner, row.pid_or_image, row.start, order_of_time(row.time_ns),
                    row.sequence);
}

bool before(const FunctionRow& a, const FunctionRow& b) {
  return place_of(a) < place_of(b);
}

constexpr std::size_t kUsualRows = std::size_t{1} << 14;

using Image = std::pair<std::string, std::vector<std::uint8_t>>;

}  // namespace

struct FunctionRecorder::Impl {
  Impl(std::string directory, std::uint64_t limit)
      : memory_limit(limit), texts(directory, kTextBytes), runs(std::move(directory), limit / 4) {}

  void add(const FunctionFact& fact);
  void keep_texts(const FunctionFact& fact, FunctionRow& row);
  void spill();
  std::uint32_t image_of(const FunctionFact& fact);
  Status each_row(const std::function<Status(const FunctionRow&)>& visit);
  std::optional<std::uint32_t> module_of(std::uint32_t image, const SystemTables& tables) const;
  Result<bool> read_texts(const FunctionRow& row, RecordedFunction& function);
  Status visit_function(const FunctionLife& life, RecordedFunction function, const Visit& visit);

  [[nodiscard]] std::size_t most_rows() const {
    return std::max<std::size_t>(1024,
                                 static_cast<std::size_t>(memory_limit / 2 / sizeof(FunctionRow)));
  }

  std::uint64_t memory_limit;
  scratch::TextLog texts;
  scratch::SortedRuns<FunctionRow> runs;
  std::vector<FunctionRow> rows;
  std::map<Image, std::uint32_t> images;
  std::vector<const Image*> image_by_number;
  std::vector<std::unique_ptr<NameSource>> sources;
  std::uint64_t facts = 0;
  std::uint64_t unsized_facts = 0;
  bool redacts = false;
  Status status;
  std::string text;  // of the function that is visited
  std::string code_text;
  std::vector<InlinedFact> inlined;
};

std::uint32_t FunctionRecorder::Impl::image_of(const FunctionFact& fact) {
  Image image{std::string(fact.image_path), {fact.build_id.begin(), fact.build_id.end()}};
  const auto [known, fresh] =
      images.try_emplace(std::move(image), static_cast<std::uint32_t>(images.size()));
  if (fresh) {
    image_by_number.push_back(&known->first);
  }
  return known->second;
}

void FunctionRecorder::Impl::add(const FunctionFact& fact) {
  ++facts;
  // The last byte of all is the end of what begins before.
  if (fact.size == 0 || fact.start == ~std::uint64_t{0}) {
    ++unsized_facts;
    return;
  }
  FunctionRow row;
  row.start = fact.start;
  row.size = std::min(fact.size, ~std::uint64_t{0} - fact.start);
  row.time_ns = fact.time_ns;
  row.id = fact.id;
  row.sequence = facts;
  row.line = fact.line;
  row.owner = fact.owner;
  row.news = fact.news;
  row.source = fact.source;
  row.pid_or_image = fact.owner == FunctionOwner::kProcess ? fact.pid
                     : fact.owner == FunctionOwner::kImage ? image_of(fact)
                                                           : kKernelPid;
  keep_texts(fact, row);
  if (rows.empty()) {  // address space alone, as long as it is not used
    rows.reserve(std::min(most_rows(), kUsualRows));
  }
  rows.push_back(row);
  if (rows.size() >= most_rows()) {
    spill();
  }
}

void FunctionRecorder::Impl::keep_texts(const FunctionFact& fact, FunctionRow& row) {
  if (fact.name_place.source != 0) {
    row.name_source = fact.name_place.source;
    row.text_offset = fact.name_place.offset;
    row.name_bytes = fact.name_place.bytes;
    return;
  }
  row.name_bytes = static_cast<std::uint32_t>(fact.name.size());
  row.linkage_bytes =
      fact.linkage == fact.name ? 0 : static_cast<std::uint32_t>(fact.linkage.size());
  row.file_bytes = static_cast<std::uint32_t>(fact.file.size());
  write_code(fact.code, code_text);
  row.code_bytes = static_cast<std::uint32_t>(code_text.size());
  row.text_offset =
      texts.add({fact.name, row.linkage_bytes == 0 ? std::string_view() : fact.linkage, fact.file,
                 code_text});
}

void FunctionRecorder::Impl::spill() {
  core::sort_rows(rows, before);
  if (status) {
    status = runs.add(rows);
  }
  rows.clear();
}

Status FunctionRecorder::Impl::each_row(const std::function<Status(const FunctionRow&)>& visit) {
  if (!runs.empty()) {
    spill();
    if (!status) {
      return status;
    }
    return runs.merge(
        before, [](FunctionRow&, const FunctionRow&) {}, visit);
  }
  // Numbers of rows are put in order, since rows are large: by place, then as the source has them.
  std::vector<core::OrderKey> order;
  std::vector<core::OrderKey> scratch;
  order.reserve(rows.size());
  for (const FunctionRow& row : rows) {
    order.push_back({row.start, static_cast<std::uint32_t>(order.size())});
  }
  core::sort_by_value(order, scratch);
  for (core::OrderKey& key : order) {
    const FunctionRow& row = rows[key.index];
    key.value = (static_cast<std::uint64_t>(row.owner) << 32) | row.pid_or_image;
  }
  core::sort_by_value(order, scratch);
  for (const core::OrderKey& key : order) {
    if (const Status visited = visit(rows[key.index]); !visited) {
      return visited;
    }
  }
  return status;
}

std::optional<std::uint32_t> FunctionRecorder::Impl::module_of(std::uint32_t image,
                                                               const SystemTables& tables) const {
  const Image& wanted = *image_by_number[image];
  for (std::uint32_t i = 0; i < tables.modules.size(); ++i) {
    const Module& module = tables.modules[i];
    if (module.path == wanted.first &&
        (wanted.second.empty() || module.build_id.empty() || module.build_id == wanted.second)) {
      return i;
    }
  }
  return std::nullopt;
}

// False: there is no name.
Result<bool> FunctionRecorder::Impl::read_texts(const FunctionRow& row,
                                                RecordedFunction& function) {
  if (row.name_source != 0) {
    const Result<bool> found =
        sources[row.name_source - 1U]->read(row.text_offset, row.name_bytes, text);
    function.name = text;
    return found;
  }
  text.resize(std::size_t{row.name_bytes} + row.linkage_bytes + row.file_bytes + row.code_bytes);
  if (const Status read = texts.read(row.text_offset, text); !read) {
    return read.error();
  }
  const std::string_view all = text;
  function.name = all.substr(0, row.name_bytes);
  function.linkage = all.substr(row.name_bytes, row.linkage_bytes);
  const std::size_t file_begins = std::size_t{row.name_bytes} + row.linkage_bytes;
  function.file = all.substr(file_begins, row.file_bytes);
  function.code = read_code(all.substr(file_begins + row.file_bytes), inlined);
  return true;
}

Status FunctionRecorder::Impl::visit_function(const FunctionLife& life, RecordedFunction function,
                                              const Visit& visit) {
  function.born_ns = life.born_ns;
  function.source = life.row.source;
  function.line = life.row.line;
  const Result<bool> named = read_texts(life.row, function);
  if (!named) {
    return named.error();
  }
  if (!*named) {
    return {};
  }
  if (!redacts) {
    return visit(function);
  }
  const std::string name = without_user_names(function.name);
  const std::string linkage = without_user_names(function.linkage);
  const std::string file = without_user_names(function.file);
  function.name = name;
  function.linkage = linkage;
  function.file = file;
  // Kept apart from the facts, which refer to them.
  std::deque<std::string> redacted;
  const auto without = [&redacted](std::string_view given) -> std::string_view {
    return redacted.emplace_back(without_user_names(given));
  };
  function.code.file = without(function.code.file);
  for (InlinedFact& call : inlined) {
    call = {without(call.name), without(call.linkage), without(call.call_file), call.call_line};
  }
  return visit(function);
}

FunctionRecorder::FunctionRecorder() : impl_(std::make_unique<Impl>(".", kDefaultMemoryLimit)) {}
FunctionRecorder::~FunctionRecorder() = default;
FunctionRecorder::FunctionRecorder(FunctionRecorder&&) noexcept = default;
FunctionRecorder& FunctionRecorder::operator=(FunctionRecorder&&) noexcept = default;

void FunctionRecorder::configure(std::string scratch_directory, std::uint64_t memory_limit) {
  const bool redacts = impl_->redacts;
  impl_ = std::make_unique<Impl>(std::move(scratch_directory), memory_limit);
  impl_->redacts = redacts;
}

void FunctionRecorder::set_redaction(bool redacts) {
  impl_->redacts = redacts;
}

std::uint8_t FunctionRecorder::add_source(std::unique_ptr<NameSource> source) {
  constexpr std::size_t kMostSources = 0xFF;
  if (impl_->sources.size() == kMostSources) {
    return 0;
  }
  impl_->sources.push_back(std::move(source));
  return static_cast<std::uint8_t>(impl_->sources.size());
}

void FunctionRecorder::add(const FunctionFact& fact) {
  impl_->add(fact);
}

std::uint64_t FunctionRecorder::facts() const {
  return impl_->facts;
}

std::uint64_t FunctionRecorder::unsized_facts() const {
  return impl_->unsized_facts;
}

Status FunctionRecorder::for_each_time(
    const std::function<void(std::uint32_t, std::uint64_t)>& visit) {
  return impl_->each_row([&visit](const FunctionRow& row) -> Status {
    const bool changes = row.news == FunctionNews::kBegins || row.news == FunctionNews::kEnds;
    if (changes && row.owner != FunctionOwner::kImage && row.time_ns != kUnknownTime) {
      visit(row.pid_or_image, row.time_ns);
    }
    return {};
  });
}

// Visits the functions of a recorder in the order of a file: rows come by owner and address, and
// those that touch each other are looked at together, since one decides when another was born.
class FunctionRecorder::Finish {
 public:
  Finish(Impl& recorder, const SystemTables& tables, const Occurs& occurs, const Visit& visit)
      : recorder_(recorder), lives_(tables), occurs_(occurs), visit_(visit) {
    for (std::uint32_t image = 0; image < recorder.image_by_number.size(); ++image) {
      modules_.push_back(recorder.module_of(image, tables));
    }
  }

  Status run() {
    const Status read =
        recorder_.each_row([this](const FunctionRow& row) -> Status { return add(row); });
    const Status settled = read ? settle() : read;
    return settled ? visit_images() : settled;
  }

 private:
  Status add(const FunctionRow& row) {
    const bool same_owner = !together_.empty() && together_.front().owner == row.owner &&
                            together_.front().pid_or_image == row.pid_or_image;
    const bool full =
        together_.size() >= recorder_.most_rows() && together_.back().start != row.start;
    if (!same_owner || row.start >= end_ || full) {
      if (const Status settled = settle(); !settled) {
        return settled;
      }
      end_ = 0;
    }
    together_.push_back(row);
    end_ = std::max(end_, row.start + row.size);
    return {};
  }

  // Whose bytes a row is about; false: those of an image that is in no table of modules.
  bool set_owner(RecordedFunction& function, const FunctionRow& row) const {
    function.owner = row.owner;
    if (row.owner != FunctionOwner::kImage) {
      function.pid = row.pid_or_image;
      return true;
    }
    function.module = modules_[row.pid_or_image].value_or(0);
    return modules_[row.pid_or_image].has_value();
  }

  bool any_occurs() const {
    RecordedFunction all;
    all.start = together_.front().start;
    all.size = end_ - all.start;
    return set_owner(all, together_.front()) && occurs_(all);
  }

  Status settle() {
    if (together_.empty() || !any_occurs()) {
      together_.clear();
      return {};
    }
    for (const FunctionLife& life : lives_.of(together_)) {
      RecordedFunction function;
      function.life_ns = life.life_ns;
      function.start = life.row.start;
      function.size = life.row.size;
      if (!set_owner(function, life.row) || !occurs_(function)) {
        continue;
      }
      if (function.owner == FunctionOwner::kImage) {
        in_images_.emplace_back(function, life);
      } else if (const Status visited = recorder_.visit_function(life, function, visit_);
                 !visited) {
        return visited;
      }
    }
    together_.clear();
    return {};
  }

  Status visit_images() {
    core::sort_rows(in_images_, [](const auto& a, const auto& b) {
      return std::tuple(a.first.module, a.first.start, a.second.born_ns + 1) <
             std::tuple(b.first.module, b.first.start, b.second.born_ns + 1);
    });
    for (const auto& [function, life] : in_images_) {
      if (const Status visited = recorder_.visit_function(life, function, visit_); !visited) {
        return visited;
      }
    }
    return {};
  }

  Impl& recorder_;
  FunctionLives lives_;
  const Occurs& occurs_;
  const Visit& visit_;
  std::vector<std::optional<std::uint32_t>> modules_;  // by image
  std::vector<FunctionRow> together_;
  std::uint64_t end_ = 0;  // where the last byte of `together_` ends
  // Those of images that occur: images are numbered as they came, not as the modules are.
  std::vector<std::pair<RecordedFunction, FunctionLife>> in_images_;
};

Status FunctionRecorder::finish(const SystemTables& tables, const Occurs& occurs,
                                const Visit& visit) {
  return Finish(*impl_, tables, occurs, visit).run();
}

}  // namespace stackpack::capture
