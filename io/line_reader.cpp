#include "io/line_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "io/suffix.hpp"

namespace fedpp::io {

namespace {
constexpr std::size_t kReadBlock = 1u << 16;
}  // namespace

/// The file's text, inflated where it is gzip. zlib's inflate instead of its gz* functions: those drop silently what
/// follows a damaged start of a further member.
class LineReader::Bytes {
 public:
  explicit Bytes(const std::string& path) : input_(kReadBlock) {
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe would wait for its writer
    if (fd_ < 0) throw Error(fmt::format("{}: cannot open: {}", path, std::strerror(errno)));
    struct stat status{};
    if (::fstat(fd_, &status) != 0) return;
    const char* problem = S_ISDIR(status.st_mode)    ? "is a folder; expected a file"
                          : S_ISFIFO(status.st_mode) ? "is a pipe: data are read several times, name a file"
                                                     : nullptr;
    if (!problem) return;
    ::close(fd_);
    throw Error(fmt::format("{}: {}", path, problem));
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() {
    if (inflating_) inflateEnd(&stream_);
    ::close(fd_);
  }

  /// Up to `size` bytes; 0 at the end of the file. What cannot be read is said in `problem`.
  std::size_t read(char* out, std::size_t size, bool named_gz, std::string& problem) {
    if (!looked_) look(named_gz, problem);
    if (!problem.empty()) return 0;
    size = std::min<std::size_t>(size, 1 << 30);  // zlib counts in 32 bits
    if (!gzip_) {
      if (stream_.avail_in == 0 && !fill(problem)) return 0;
      const std::size_t count = std::min<std::size_t>(size, stream_.avail_in);
      std::memcpy(out, stream_.next_in, count);
      consume(count);
      return count;
    }
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size) {
      if (stream_.avail_in == 0 && !fill(problem)) {
        if (problem.empty() && in_member_)
          problem = "the gzip data ends in the middle (truncated file); fetch or compress it again";
        return 0;
      }
      if (!in_member_) {
        inflateReset(&stream_);
        in_member_ = true;
      }
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        in_member_ = false;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        problem = fmt::format("the gzip data is corrupt ({}); fetch or compress it again",
                              stream_.msg ? stream_.msg : "zlib gives no reason");
        return 0;
      }
    }
    return size - stream_.avail_out;
  }

 private:
  void look(bool named_gz, std::string& problem) {
    looked_ = true;
    if (!fill(problem)) return;
    gzip_ = stream_.avail_in >= 2 && stream_.next_in[0] == 0x1f && stream_.next_in[1] == 0x8b;
    if (!gzip_ && named_gz) problem = "is named .gz but is not gzip data; rename it, or fetch it again";
    if (gzip_) {
      if (inflateInit2(&stream_, 15 + 16) != Z_OK) problem = "zlib cannot start";
      inflating_ = in_member_ = problem.empty();
    }
  }

  bool fill(std::string& problem) {
    ssize_t count;
    do count = ::read(fd_, input_.data(), input_.size());
    while (count < 0 && errno == EINTR);
    if (count < 0) problem = fmt::format("cannot read: {}", std::strerror(errno));
    stream_.next_in = input_.data();
    stream_.avail_in = count > 0 ? static_cast<uInt>(count) : 0;
    return count > 0;
  }

  void consume(std::size_t count) {
    stream_.next_in += count;
    stream_.avail_in -= static_cast<uInt>(count);
  }

  int fd_ = -1;
  std::vector<Bytef> input_;
  z_stream stream_{};
  bool looked_ = false, gzip_ = false, inflating_ = false, in_member_ = false;
};

LineReader::LineReader(const std::string& path, std::size_t longest)
    : path_(path), longest_(longest), bytes_(std::make_unique<Bytes>(path)), buffer_(kReadBlock, '\0') {}
LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;

Error LineReader::error(const std::string& what) const {
  return Error(fmt::format("{}:{}: {}", path_, line_number_, what));
}

void LineReader::check_encoding(std::string_view first_line) const {
  if (first_line.starts_with("\xFF\xFE") || first_line.starts_with("\xFE\xFF"))
    throw error("is text in UTF-16; write it in UTF-8: iconv -f UTF-16 -t UTF-8");
  if (first_line.find('\r') < first_line.size() - 1 && first_line.find('"') == first_line.npos)
    throw error("lines end with CR alone; write them with LF: tr '\\r' '\\n'");
}

bool LineReader::refill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ > longest_)
    throw Error(fmt::format("{}:{}: the line has more than {} bytes: put its end where a sequence or a row ends", path_,
                            line_number_ + 1, longest_));
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  std::string problem;
  const std::size_t count =
      bytes_->read(buffer_.data() + end_, buffer_.size() - end_, has_suffix(path_, ".gz"), problem);
  if (!problem.empty()) throw Error(fmt::format("{}:{}: {}", path_, line_number_ + 1, problem));
  end_ += count;
  return count > 0;
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;  // bytes after begin_ known to hold no line end
  while (true) {
    const char* start = buffer_.data() + begin_;
    const void* found = std::memchr(start + searched, '\n', end_ - begin_ - searched);
    std::size_t length;
    if (found) {
      length = static_cast<const char*>(found) - start;
      line = {start, length};
      begin_ += length + 1;
    } else {
      searched = end_ - begin_;
      if (!finished_ && refill()) continue;
      finished_ = true;
      if (begin_ == end_) return false;
      line = {buffer_.data() + begin_, end_ - begin_};
      begin_ = end_;
    }
    if (++line_number_ == 1) check_encoding(line);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line_number_ == 1 && line.substr(0, 3) == "\xEF\xBB\xBF") line.remove_prefix(3);
    return true;
  }
}

}  // namespace fedpp::io
