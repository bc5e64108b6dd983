#include "journal/postgres/notice_sending.h"

namespace tenon::journal::postgres {
namespace {

const Statement send_notices{
    "SELECT pg_notify(n.channel, n.payload) FROM unnest($1::text[], $2::text[]) AS n(channel, payload)"};

}  // namespace

Result<void, SessionError> notify(Session& session, const std::vector<Notification>& notices) {
  if (notices.empty()) return {};
  ArrayValue channels(ArrayValue::Element::Text), payloads(ArrayValue::Element::Text);
  for (const Notification& notice : notices) {
    channels.add(notice.channel);
    payloads.add(notice.payload);
  }
  const auto sent = session.run(send_notices, Parameters().array(std::move(channels)).array(std::move(payloads)));
  if (!sent) return failure(sent.error());
  return {};
}

}  // namespace tenon::journal::postgres
