// One request to an HTTP server on this machine, for tests of what a process serves.
#ifndef RINGSIDE_TESTS_TESTING_HTTP_GET_H_
#define RINGSIDE_TESTS_TESTING_HTTP_GET_H_

#include <poll.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/network/socket.h"

namespace ringside {

// What 127.0.0.1:`port` answers, head and body, up to the end of the connection; else what went
// wrong.
inline std::string HttpGet(int port, const std::string& path) {
  auto socket = Socket::Connect({"127.0.0.1", port}, absl::Now() + absl::Seconds(30));
  if (!socket.ok()) return std::string(socket.status().message());
  const std::string request = absl::StrCat("GET ", path, " HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n");
  iovec piece = {const_cast<char*>(request.data()), request.size()};
  const auto written = (*socket)->TryWrite({&piece, 1});
  if (!written.ok() || written->bytes != request.size()) return "the request was not taken";
  std::string answer;
  while (true) {
    pollfd waiting = {(*socket)->fd(), POLLIN, 0};
    if (poll(&waiting, 1, 30000) != 1) return absl::StrCat(answer, "(no end)");
    uint8_t buffer[4096];
    const auto read = (*socket)->TryRead(absl::MakeSpan(buffer));
    if (!read.ok()) return answer;
    answer.append(reinterpret_cast<char*>(buffer), read->bytes);
  }
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_TESTING_HTTP_GET_H_
