// The bodies of Asio's and Beast's separately compiled parts: nowhere else.
#define BOOST_BEAST_SEPARATE_COMPILATION
#include "http/detail/asio.hpp"

#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
