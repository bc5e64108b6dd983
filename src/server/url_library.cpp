// The functions that Boost.URL's headers declare without a definition. Compiled here, because they are otherwise in a
// library of its own, which is one more package.
#include <boost/url/src.hpp>
