// The functions of fmt that are not templates, once for the whole library. fmt's own switch for
// doing without its shared library, FMT_HEADER_ONLY, would compile them in every source anew:
// twelve seconds each time.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// Declared as defined elsewhere by fmt/format.h.
template FMT_API thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template FMT_API char decimal_point_impl<char>(locale_ref);

}  // namespace detail
FMT_END_NAMESPACE
