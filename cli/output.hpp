// Text on its way to a terminal, a pipe or a test: collected, then written in large pieces.
// Not a formatter: see columns.hpp and table.hpp.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace sy::cli {

class Output {
 public:
  // Without a stream the text stays in text(): that is what tests read.
  explicit Output(std::FILE* stream = nullptr, bool tty = false, int width = 80) : stream_(stream), tty_(tty), width_(width) {}
  ~Output() { flush(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  Output& operator<<(std::string_view s) {
    text_ += s;
    if (stream_ != nullptr && text_.size() >= 1U << 16U) flush();
    return *this;
  }
  void line(std::string_view s) { *this << s << "\n"; }
  // False once the reader has gone or the disk is full: the command ends with exit code 1.
  bool flush();

  bool tty() const { return tty_; }
  int width() const { return width_; }
  void set_tty(bool tty, int width) {
    tty_ = tty;
    width_ = width;
  }
  const std::string& text() const { return text_; }
  void clear() { text_.clear(); }

 private:
  std::FILE* stream_;
  std::string text_;
  bool tty_;
  int width_;
  bool broken_{};
};

}  // namespace sy::cli
