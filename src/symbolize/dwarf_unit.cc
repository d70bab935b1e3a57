#include "symbolize/dwarf_unit.h"

#include <algorithm>
#include <string>

#include <dwarf.h>

#include "symbolize/library_memory.h"

namespace stackpack::symbolize {

namespace {

constexpr unsigned kDeepestEntry = 512;  // of entries within entries

class DwarfUnit {
 public:
  DwarfUnit(DwarfSearch& search, const DwarfUnitEntries& unit)
      : search_(search),
        code_(unit.code),
        lines_(unit.lines),
        bias_(unit.bias),
        folder_(unit.folder) {
    const auto language = dwarf_number(code_, DW_AT_language);
    nests_ = language != DW_LANG_C89 && language != DW_LANG_C && language != DW_LANG_C99 &&
             language != DW_LANG_C11;
    if (!reads_lines()) {
      return;  // libdw reads all lines for the files
    }
    // A unit without files of its own has those of its skeleton.
    if (::dwarf_getsrcfiles(&code_, &files_, &file_count_) != 0 &&
        ::dwarf_getsrcfiles(&lines_, &files_, &file_count_) != 0) {
      files_ = nullptr;
    }
  }

  /// Whether all of it could be read.
  bool read() {
    read_lines();
    walk(code_, 0);
    heed_lack_of_memory();
    return !damaged_;
  }

 private:
  [[nodiscard]] bool reads_lines() const {
    return search_.request.inlines && search_.request.lines;
  }

  // Addresses [first, last) of the request.
  struct Some {
    std::size_t first = 0;
    std::size_t last = 0;

    [[nodiscard]] bool any() const { return first < last; }
  };

  [[nodiscard]] Some asked(std::uint64_t begin, std::uint64_t end) const {
    const auto& all = search_.addresses;
    const auto first = std::lower_bound(all.begin(), all.end(), begin);
    if (first == all.end() || *first >= end) {
      return {};
    }
    return {static_cast<std::size_t>(first - all.begin()),
            static_cast<std::size_t>(std::lower_bound(first, all.end(), end) - all.begin())};
  }

  // Calls visit(begin, end, addresses) for each stretch of code of an entry that has addresses.
  // Whether it has any code, asked for or not. `bias`: to be added to its addresses.
  template <typename Visit>
  bool each_range(Dwarf_Die& die, std::uint64_t bias, const Visit& visit) {
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    bool any = false;
    ptrdiff_t at = 0;
    while ((at = ::dwarf_ranges(&die, at, &base, &begin, &end)) > 0) {
      if (begin >= end) {
        continue;
      }
      any = true;
      begin += bias;
      end += bias;
      // Linkers put 0 where they threw code away; no program has code in its first byte.
      if (const Some some = asked(begin, end); begin != 0 && some.any()) {
        visit(begin, end, some);
      }
    }
    damaged_ |= at < 0;
    return any;
  }

  std::uint32_t file_text(const char* name) {
    if (name == nullptr) {
      return kNoText;
    }
    const auto [known, fresh] = search_.files.try_emplace(name, kNoText);
    if (fresh) {
      std::string path;
      if (!folder_.empty() && *name != '/') {
        path.append(folder_).append("/");
      }
      path.append(name);
      known->second = search_.names.text(std::string_view(path).substr(0, kLongestText));
    }
    return known->second;
  }

  // The last row at or before each address. Rows are sorted by libdw, across sequences: what a unit
  // has no code at belongs to none of them.
  void read_lines() {
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    if (!reads_lines()) {
      return;
    }
    if (::dwarf_getsrclines(&lines_, &lines, &count) != 0) {
      damaged_ |= ::dwarf_hasattr(&lines_, DW_AT_stmt_list) != 0;
      return;
    }
    const auto address_of = [lines](std::size_t row) {
      Dwarf_Addr address = 0;
      ::dwarf_lineaddr(::dwarf_onesrcline(lines, row), &address);
      return address;
    };
    const auto row_after = [&](std::uint64_t address) {
      std::size_t low = 0;
      for (std::size_t high = count; low < high;) {
        const std::size_t middle = low + (high - low) / 2;
        if (address_of(middle) <= address) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    };
    const auto take = [&](std::uint64_t begin, std::uint64_t end, const Some& some) {
      for (std::size_t i = some.first; i < some.last; ++i) {
        const std::size_t after = row_after(search_.addresses[i]);
        if (after != 0) {
          set_line(::dwarf_onesrcline(lines, after - 1), std::max(begin, address_of(after - 1)),
                   after < count ? std::min(end, address_of(after)) : end, search_.places[i]);
        }
      }
    };
    if (!each_range(lines_, 0, take)) {
      take(0, ~std::uint64_t{0}, {0, search_.addresses.size()});
    }
  }

  void set_line(Dwarf_Line* line, std::uint64_t begin, std::uint64_t end, DwarfPlace& place) {
    bool ends = false;
    int number = 0;
    if (line == nullptr || ::dwarf_lineendsequence(line, &ends) != 0 || ends) {
      return;
    }
    ::dwarf_lineno(line, &number);
    place.file = file_text(::dwarf_linesrc(line, nullptr, nullptr));
    place.line = static_cast<std::uint32_t>(std::max(number, 0));
    place.begin = std::max(place.begin, begin);
    place.end = std::min(place.end, end);
  }

  // The entry that a function or an inlined call is an instance of.
  static Dwarf_Die origin_of(const Dwarf_Die& die) {
    Dwarf_Die origin = die;
    constexpr int kMostSteps = 16;
    for (int step = 0; step < kMostSteps; ++step) {
      Dwarf_Attribute attribute;
      Dwarf_Attribute* found = ::dwarf_attr(&origin, DW_AT_abstract_origin, &attribute);
      Dwarf_Die next;
      if (found == nullptr || ::dwarf_formref_die(found, &next) == nullptr) {
        break;
      }
      origin = next;
    }
    return origin;
  }

  // A compiler splits a function to inline its beginning elsewhere, and puts the rest back into
  // what it came from: as a call of the function within itself, from where it is declared.
  static bool is_rest_of(const Dwarf_Die& around, Dwarf_Die& call) {
    Dwarf_Die origin = origin_of(call);
    int line = 0;
    int column = 0;
    return origin.addr == origin_of(around).addr && ::dwarf_decl_line(&origin, &line) == 0 &&
           ::dwarf_decl_column(&origin, &column) == 0 &&
           dwarf_number(call, DW_AT_call_line) == static_cast<std::uint64_t>(line) &&
           dwarf_number(call, DW_AT_call_column) == static_cast<std::uint64_t>(column);
  }

  // The names of a function: those of the entry that others are instances of.
  LinkedName names_of(const Dwarf_Die& die) {
    Dwarf_Die origin = origin_of(die);
    const auto [known, fresh] = search_.functions.try_emplace(origin.addr);
    if (fresh) {
      const char* linkage = dwarf_text(origin, DW_AT_linkage_name);
      linkage = linkage == nullptr ? dwarf_text(origin, DW_AT_MIPS_linkage_name) : linkage;
      const char* const name = linkage != nullptr ? nullptr : dwarf_text(origin, DW_AT_name);
      if (linkage != nullptr || name != nullptr) {
        known->second = search_.linked.add(linkage != nullptr ? linkage : name);
      }
    }
    return known->second;
  }

  // Entries within `parent`: functions, and what may have functions in it.
  void walk(Dwarf_Die& parent, unsigned depth) {
    each_child(parent, [&](Dwarf_Die& die) {
      switch (::dwarf_tag(&die)) {
        case DW_TAG_subprogram:
          take_function(die, depth);
          break;
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_interface_type:
        case DW_TAG_lexical_block:
        case DW_TAG_inlined_subroutine:
          if (nests_ && may_enter(depth)) {
            walk(die, depth + 1);
          }
          break;
        default:
          break;
      }
    });
  }

  // What is deeper is lost.
  bool may_enter(unsigned depth) {
    damaged_ |= depth >= kDeepestEntry;
    return depth < kDeepestEntry;
  }

  void take_function(Dwarf_Die& die, unsigned depth) {
    bool asked_for = false;
    const bool has_code =
        each_range(die, bias_, [&](std::uint64_t begin, std::uint64_t end, const Some& some) {
          asked_for = true;
          const LinkedName names = names_of(die);
          for (std::size_t i = some.first; i < some.last; ++i) {
            DwarfPlace& place = search_.places[i];
            place.function_begin = begin;
            place.function_end = end;
            place.function = names;
            place.inlined = kNoInline;
            place.begin = std::max(place.begin, begin);
            place.end = std::min(place.end, end);
          }
        });
    if (!may_enter(depth)) {
      return;
    }
    if (asked_for && search_.request.inlines) {
      take_inlined(die, die, kNoInline, 0, depth + 1);
    } else if (nests_ && (has_code || ::dwarf_hasattr(&die, DW_AT_inline) != 0)) {
      // Of a function that is inlined everywhere a class within may have code of its own.
      walk(die, depth + 1);
    }
  }

  // The inlined calls in a part of `around`, a function or an inlined call of row `parent`.
  void take_inlined(Dwarf_Die& part, const Dwarf_Die& around, std::uint32_t parent,
                    std::size_t inlines, unsigned depth) {
    each_child(part, [&](Dwarf_Die& die) {
      switch (::dwarf_tag(&die)) {
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
          if (may_enter(depth)) {
            take_inlined(die, around, parent, inlines, depth + 1);
          }
          break;
        case DW_TAG_inlined_subroutine:
          take_call(die, around, parent, inlines, depth);
          break;
        case DW_TAG_subprogram:
          take_function(die, depth);
          break;
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
          if (nests_ && may_enter(depth)) {
            walk(die, depth + 1);
          }
          break;
        default:
          break;
      }
    });
  }

  void take_call(Dwarf_Die& die, const Dwarf_Die& around, std::uint32_t parent, std::size_t inlines,
                 unsigned depth) {
    if (!may_enter(depth) || inlines >= search_.request.limits.inline_depth) {
      damaged_ = true;
      return;
    }
    if (is_rest_of(around, die)) {
      take_inlined(die, around, parent, inlines, depth + 1);
      return;
    }
    InlinedCall call;
    std::uint32_t row = kNoInline;
    bool asked_for = false;
    each_range(die, bias_, [&](std::uint64_t begin, std::uint64_t end, const Some& some) {
      if (!asked_for) {
        asked_for = true;
        call = call_of(die, parent);
        row = call.name == kNoText ? parent : search_.names.add_call(call);
      }
      for (std::size_t i = some.first; i < some.last; ++i) {
        DwarfPlace& place = search_.places[i];
        if (call.name == kNoText) {
          place.file = call.call_file;
          place.line = call.call_line;
        }
        place.inlined = row;
        place.begin = std::max(place.begin, begin);
        place.end = std::min(place.end, end);
      }
    });
    if (asked_for && call.name == kNoText) {
      // It would break the chain: what is inside belongs to the one around.
      ++search_.names.losses().nameless_calls;
    } else if (asked_for) {
      take_inlined(die, die, row, inlines + 1, depth + 1);
    } else if (nests_) {
      walk(die, depth + 1);
    }
  }

  InlinedCall call_of(Dwarf_Die& die, std::uint32_t parent) {
    InlinedCall call;
    call.parent = parent;
    const LinkedName names = names_of(die);
    call.name = names.name;
    call.linkage = names.linkage;
    const std::uint64_t file = dwarf_number(die, DW_AT_call_file);
    if (files_ != nullptr && file < file_count_) {
      call.call_file = file_text(::dwarf_filesrc(files_, file, nullptr, nullptr));
    }
    call.call_line = static_cast<std::uint32_t>(dwarf_number(die, DW_AT_call_line));
    return call;
  }

  template <typename Visit>
  void each_child(Dwarf_Die& parent, const Visit& visit) {
    Dwarf_Die child;
    if (const int first = ::dwarf_child(&parent, &child); first != 0) {
      damaged_ |= first < 0;
      return;
    }
    while (true) {
      visit(child);
      Dwarf_Die next;
      const int more = ::dwarf_siblingof(&child, &next);
      // A damaged file may lead back.
      if (more != 0 || next.addr <= child.addr) {
        damaged_ |= more <= 0;
        return;
      }
      child = next;
    }
  }

  static constexpr std::size_t kLongestText = std::size_t{64} << 10;

  DwarfSearch& search_;
  Dwarf_Die code_;
  Dwarf_Die lines_;
  std::uint64_t bias_;
  std::string_view folder_;
  Dwarf_Files* files_ = nullptr;
  std::size_t file_count_ = 0;
  bool damaged_ = false;
  bool nests_ = true;  // functions may be within namespaces, classes and functions
};

}  // namespace

const char* dwarf_text(Dwarf_Die& entry, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Attribute* const found = ::dwarf_attr_integrate(&entry, name, &attribute);
  return found == nullptr ? nullptr : ::dwarf_formstring(found);
}

std::uint64_t dwarf_number(Dwarf_Die& entry, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  Dwarf_Attribute* const found = ::dwarf_attr(&entry, name, &attribute);
  return found != nullptr && ::dwarf_formudata(found, &value) == 0 ? value : 0;
}

bool read_dwarf_unit(DwarfSearch& search, const DwarfUnitEntries& unit) {
  return DwarfUnit(search, unit).read();
}

}  // namespace stackpack::symbolize
