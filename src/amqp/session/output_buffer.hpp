#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace acemq::amqp {

// Bytes that wait to be sent. Keeps its memory for the next burst, unless one large message made it grow.
class OutputBuffer {
 public:
  // For appending only.
  std::string& end() noexcept { return bytes_; }
  std::string_view view() const noexcept { return std::string_view(bytes_).substr(sent_); }

  void consume(std::size_t count) {
    sent_ += count;
    if (sent_ == bytes_.size()) {
      if (bytes_.capacity() > kKeptMax) std::string().swap(bytes_);
      bytes_.clear();
      sent_ = 0;
    } else if (sent_ > kKeptMax && sent_ > bytes_.size() / 2) {
      bytes_.erase(0, sent_);  // moves less than was sent since the last time
      sent_ = 0;
    }
  }

 private:
  static constexpr std::size_t kKeptMax = std::size_t{1} << 20;

  std::string bytes_;
  std::size_t sent_ = 0;
};

}  // namespace acemq::amqp
