// Annotations: Microsoft's cvinfo.h, BinaryAnnotationOpcode and CVUncompressData.
#include "symbolize/pdb/inline_sites.h"

#include <algorithm>
#include <utility>

#include "symbolize/pdb/codeview_kinds.h"

namespace stackpack::symbolize {

namespace {

enum class Annotation : std::uint32_t {
  kEnd = 0,
  kCodeOffset = 1,
  kChangeCodeOffsetBase = 2,
  kChangeCodeOffset = 3,
  kChangeCodeLength = 4,
  kChangeFile = 5,
  kChangeLineOffset = 6,
  kChangeCodeOffsetAndLineOffset = 11,
  kChangeCodeLengthAndCodeOffset = 12,
  kChangeColumnEnd = 13,
};

// Seven, fourteen or twenty-nine bits; 0, which ends the annotations, where there is no number.
std::uint32_t read_compressed(bytes::ByteCursor& in) {
  const std::uint32_t first = in.read<std::uint8_t>();
  if (first < 0x80) {
    return first;
  }
  const std::uint32_t second = in.read<std::uint8_t>();
  if (first < 0xC0) {
    return (first & 0x3F) << 8 | second;
  }
  const std::uint32_t third = in.read<std::uint8_t>();
  const std::uint32_t fourth = in.read<std::uint8_t>();
  return first < 0xE0 ? (first & 0x1F) << 24 | second << 16 | third << 8 | fourth : 0;
}

// Signed numbers have their sign in the lowest bit; wraps like the additions that follow.
std::uint32_t signed_delta(std::uint32_t code) {
  return (code & 1) != 0 ? 0U - (code >> 1) : code >> 1;
}

// Follows the annotations of one site: a program that moves an offset and a line.
class SiteWalk {
 public:
  SiteWalk(const InlineeLine* written, std::vector<SiteRange>& ranges)
      : file_(written != nullptr ? written->file : 0),
        line_(written != nullptr ? written->line : 0),
        known_(written != nullptr),
        ranges_(ranges),
        first_(ranges.size()) {}

  void run(bytes::ByteCursor in) {
    while (in.remaining() != 0) {
      const auto what = static_cast<Annotation>(read_compressed(in));
      if (what == Annotation::kEnd || what > Annotation::kChangeColumnEnd) {
        break;
      }
      const std::uint32_t value = read_compressed(in);
      const std::uint32_t second =
          what == Annotation::kChangeCodeLengthAndCodeOffset ? read_compressed(in) : 0;
      if (!in.ok()) {
        break;
      }
      step(what, value, second);
    }
    if (open_) {
      ranges_.pop_back();  // nothing says where it ends
    }
    const auto begin = ranges_.begin() + static_cast<std::ptrdiff_t>(first_);
    std::stable_sort(begin, ranges_.end(),
                     [](const SiteRange& a, const SiteRange& b) { return a.begin < b.begin; });
    ranges_.erase(std::remove_if(begin, ranges_.end(),
                                 [](const SiteRange& range) { return range.begin >= range.end; }),
                  ranges_.end());
  }

 private:
  void step(Annotation what, std::uint32_t value, std::uint32_t second) {
    switch (what) {
      case Annotation::kCodeOffset:
        offset_ = value;
        break;
      case Annotation::kChangeCodeOffsetBase:
        base_ = value;
        break;
      case Annotation::kChangeCodeOffset:
        begin_range(value);
        break;
      case Annotation::kChangeCodeLength:
        offset_ += value;
        end_range();
        break;
      case Annotation::kChangeFile:
        file_ = value;
        break;
      case Annotation::kChangeLineOffset:
        line_ += signed_delta(value);
        break;
      case Annotation::kChangeCodeOffsetAndLineOffset:
        line_ += signed_delta(value >> 4);
        begin_range(value & 0xF);
        break;
      case Annotation::kChangeCodeLengthAndCodeOffset:
        begin_range(second);
        ranges_.back().end = base_ + offset_ + value;
        open_ = false;
        break;
      default:  // ends of lines, columns
        break;
    }
  }

  void begin_range(std::uint32_t delta) {
    offset_ += delta;
    end_range();
    ranges_.push_back({base_ + offset_, 0, file_, known_ ? line_ : 0});
    open_ = true;
  }
  void end_range() {
    if (open_) {
      ranges_.back().end = base_ + offset_;
      open_ = false;
    }
  }

  std::uint32_t base_ = 0;
  std::uint32_t offset_ = 0;
  std::uint32_t file_;
  std::uint32_t line_;
  bool known_;
  bool open_ = false;  // the last range has no end yet
  std::vector<SiteRange>& ranges_;
  std::size_t first_;
};

void add_site(bytes::ByteCursor body, std::uint16_t kind, std::uint32_t parent,
              const ModuleLines& lines, InlineTree& tree) {
  body.skip(8);  // places of the parent and of the end: the nesting says them again
  InlineSite site;
  site.parent = parent;
  site.inlinee = body.read<std::uint32_t>();
  if (kind == codeview::kInlineSite2) {
    body.skip(4);  // calls counted by a profile
  }
  site.depth = parent == kNoSite ? 1 : tree.sites[parent].depth + 1;
  site.first_range = tree.ranges.size();
  SiteWalk(lines.inlinee(site.inlinee), tree.ranges).run(body);
  site.range_count = tree.ranges.size() - site.first_range;
  tree.sites.push_back(site);
}

}  // namespace

const SiteRange* InlineTree::range_at(const InlineSite& site, std::uint32_t offset) const {
  const auto begin = ranges.begin() + static_cast<std::ptrdiff_t>(site.first_range);
  const auto end = begin + static_cast<std::ptrdiff_t>(site.range_count);
  const auto after = std::upper_bound(
      begin, end, offset,
      [](std::uint32_t wanted, const SiteRange& range) { return wanted < range.begin; });
  return after != begin && offset < (after - 1)->end ? &*(after - 1) : nullptr;
}

bool read_inline_sites(bytes::ByteCursor symbols, std::size_t position, const ModuleLines& lines,
                       std::size_t max_depth, InlineTree& tree) {
  tree.sites.clear();
  tree.ranges.clear();
  symbols.seek(position);
  // Scopes that are open: the innermost site in each.
  std::vector<std::uint32_t> scopes;
  bool in_procedure = false;
  while (symbols.remaining() >= 4) {
    bytes::ByteCursor body = symbols.sub(symbols.read<std::uint16_t>());
    const auto kind = body.read<std::uint16_t>();
    if (!body.ok()) {
      return false;
    }
    const std::uint32_t site = scopes.empty() ? kNoSite : scopes.back();
    switch (kind) {
      case codeview::kInlineSite:
      case codeview::kInlineSite2:
        if (scopes.size() < max_depth) {
          add_site(body, kind, site, lines, tree);
          scopes.push_back(static_cast<std::uint32_t>(tree.sites.size() - 1));
        } else {
          scopes.push_back(site);
        }
        break;
      case codeview::kBlock:
      case codeview::kWith:
      case codeview::kThunk:
      case codeview::kSeparatedCode:
        scopes.push_back(site);
        break;
      case codeview::kEnd:
      case codeview::kInlineSiteEnd:
      case codeview::kProcedureIdEnd:
        if (scopes.empty()) {
          return true;
        }
        scopes.pop_back();
        break;
      default:
        if (codeview::is_procedure(kind) && std::exchange(in_procedure, true)) {
          return true;  // the end of the one asked for is missing
        }
        break;
    }
  }
  return true;
}

}  // namespace stackpack::symbolize
