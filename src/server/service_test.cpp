#include "server/service.h"

#include <fmt/format.h>

#include <boost/asio.hpp>
#include <future>
#include <stdexcept>
#include <thread>

#include "tests/support/engine_testing.h"

namespace tenon::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A server of one program, on a thread of its own.
class ServiceTest : public engine::test::EngineTest {
 protected:
  void SetUp() override {
    file("none.script", "");
    engine::Settings settings;
    settings.model.spec = "script:" + folder.file("none.script");
    engine::HostedPrograms programs;
    ASSERT_TRUE(programs.add(file("main.tn", "fn main() -> i32 { 42 }\n"), settings, system).has_value());
    engine::HostingOptions options;
    options.store_choice.path = folder.file("runs.db");
    auto opened = engine::Hosting::open(std::move(programs), std::move(options), hub, system);
    ASSERT_TRUE(opened.has_value()) << engine::describe(opened.error());
    hosting = std::move(*opened);
    texts.files = {{"main", folder.file("main.tn")}};
    service.emplace(*hosting, hub,
                    ServiceOptions{.limits = {}, .token = {}, .programs = &texts, .stopped_by = StoppedBy::Caller});
    const auto listening = service->listen({});
    ASSERT_TRUE(listening.has_value()) << listening.error();
    port = *listening;
    hosting->host().begin();
    thread = std::thread([this] { service->run(); });
  }
  void TearDown() override {
    if (!thread.joinable()) return;
    service->stop();
    thread.join();
    hosting->host().end();
  }

  /// The whole response, until the server closes the connection.
  [[nodiscard]] std::string get(const std::string& path) const {
    boost::asio::io_context io;
    boost::asio::ip::tcp::socket socket(io);
    socket.connect({boost::asio::ip::address_v4::loopback(), port});
    boost::asio::write(socket, boost::asio::buffer(fmt::format(
                                   "GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path)));
    std::string response;
    boost::system::error_code end;
    boost::asio::read(socket, boost::asio::dynamic_buffer(response), end);
    return response;
  }

  std::vector<std::string> reported;  ///< by the server's thread, before it answers
  engine::EventHub hub{Limits{}.queue_bytes, [this](std::string_view message) { reported.emplace_back(message); },
                       [](std::string_view message) { ADD_FAILURE() << message; }};
  std::unique_ptr<engine::Hosting> hosting;
  ProgramFiles texts;
  std::optional<Service> service;
  std::uint16_t port = 0;
  std::thread thread;
};

TEST_F(ServiceTest, WhatAHandlerThrowsIsReportedAndAnswered) {
  texts.read = [](const std::string&) -> Result<std::string, std::string> { throw std::runtime_error("a bug"); };
  const std::string response = get("/v1/programs/main");
  EXPECT_THAT(response, HasSubstr("HTTP/1.1 500 "));
  EXPECT_THAT(response, HasSubstr("\"code\":\"internal\""));
  EXPECT_THAT(reported, ElementsAre("GET /v1/programs/{name}: a bug"));
  EXPECT_THAT(get("/healthz"), HasSubstr("HTTP/1.1 200 ")) << "the server continues";
}

}  // namespace
}  // namespace tenon::server
