#include "cli/output.hpp"

namespace sy::cli {

bool Output::flush() {
  if (stream_ == nullptr) return true;
  if (!text_.empty() && !broken_)
    broken_ = std::fwrite(text_.data(), 1, text_.size(), stream_) != text_.size() || std::fflush(stream_) != 0;
  text_.clear();
  return !broken_;
}

}  // namespace sy::cli
