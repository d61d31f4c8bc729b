// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: whatever comes back from an SA, in whatever order, each request is answered once, repeated no more
// than it may be, and nothing is asked or told after it was forgotten. Steps: what, and what it needs.
#include "fabric/node/sa_client.hpp"
#include "fuzz/fuzzer.hpp"
#include "protocol/wire/rmpp.hpp"

#include <deque>
#include <vector>

using namespace ipoib;
using namespace ipoib::wire;
using namespace std::chrono_literals;
using fabric::MadOctets;
using fuzz::demand;

namespace {

/// QP1 of a port whose administrator is the input.
class Surface : public fabric::Gsi {
public:
    fabric::Loop& loop() noexcept override { return loop_; }
    [[nodiscard]] fabric::PortFacts facts() const override {
        fabric::PortFacts facts{.is_active = true, .lid = own_lid, .sm_lid = sm_lid};
        facts.p_keys = {0xffff};
        return facts;
    }
    std::uint32_t new_transaction() noexcept override { return ++transactions_; }
    void on_mad(MgmtClass mgmt_class, std::function<void(const fabric::Datagram&)> handler) override {
        demand(mgmt_class == MgmtClass::subn_adm);
        handler_ = std::move(handler);
    }
    void send_mad(const fabric::MadPath& path, const MadOctets& mad, fabric::Duration) override {
        demand(path.slid == own_lid);
        ++sent;
        if (View<Mad>::at(mad)[Mad::method] == Method::report_resp) return;
        const auto rmpp = View<Rmpp>::at(Octets{mad}.subspan(Mad::size));
        if (rmpp[Rmpp::active]) return;
        if (requests.size() == 8) requests.pop_front();
        requests.push_back(mad);
    }
    void deliver(const MadOctets& mad, bool is_cut) {
        const auto frame = fabric::mad_frame({.slid = sm_lid, .dlid = own_lid}, mad);
        Packet packet;
        decode(frame.octets(), packet);
        if (packet.mad && handler_) handler_({loop_.now(), &packet, is_cut});
    }

    static constexpr std::uint16_t own_lid = 4, sm_lid = 1;
    std::size_t sent = 0;
    std::deque<MadOctets> requests;  ///< the last ones

private:
    fabric::Loop loop_;
    std::uint32_t transactions_ = 0;
    std::function<void(const fabric::Datagram&)> handler_;
};

class Bench {
public:
    Bench() {
        client.on_report([this](View<Notice> notice) {
            demand(static_cast<bool>(notice));
            ++reports;
        });
    }
    void ask(fuzz::Input& input) {
        constexpr std::array methods{Method::get, Method::set, Method::get_table, Method::del};
        fabric::SaRequest request{.method = methods[input.number() % methods.size()],
                                  .attribute = static_cast<std::uint16_t>(0x35 + input.number() % 8)};
        const auto record = input.counted();
        request.record.assign(record.begin(), record.end());
        const unsigned retries = input.number() % 3;
        most_sent += 1 + retries;
        const auto at = answers.size();
        answers.push_back(0);
        const auto generation = forgotten;
        client.ask(request,
                   [this, at, generation](const fabric::SaAnswer& answer) {
                       demand(generation == forgotten && ++answers[at] == 1);
                       demand(answer.data.size() <= std::size_t{1} << 20);
                       demand(answer.is_answered || answer.data.empty());
                   },
                   {.timeout = 1s, .retries = retries});
    }
    /// An answer to one of the last requests, with what the input changes in it.
    void answer(fuzz::Input& input) {
        MadOctets mad{};
        if (!surface.requests.empty()) mad = surface.requests[input.number() % surface.requests.size()];
        const MutableOctets all{mad};
        const auto how = input.number();
        const auto method = static_cast<unsigned>(View<Mad>::at(mad)[Mad::method]) | response_bit;
        set_field(all, Mad::method, static_cast<Method>(how & 1U ? input.number() : method));
        if (how & 2U) set_field(all, Mad::status, input.number<std::uint16_t>());
        const auto rmpp = all.subspan(Mad::size);
        if (how & 4U) {
            const auto number = input.number(), flags = input.number();
            set_field(rmpp, Rmpp::type, static_cast<RmppType>(flags >> 4 ? 1U : flags >> 2));
            set_field(rmpp, Rmpp::active, true);
            set_field(rmpp, Rmpp::first, number == 1);
            set_field(rmpp, Rmpp::last, (flags & 1U) != 0);
            set_field(rmpp, Rmpp::segment_number, number);
            set_field(rmpp, Rmpp::payload_length, input.number());
        }
        const auto changed = how & 8U ? input.number() : std::uint8_t{0};
        if (how & 16U) mad[changed] = input.number();
        const auto data = input.octets(how & 32U ? SaHeader::data_size : 0);
        std::ranges::copy(data, mad.begin() + SaHeader::data_offset);
        surface.deliver(mad, (how & 64U) != 0);
        ++delivered;
    }
    void report(fuzz::Input& input) {
        MadOctets mad{};
        const MutableOctets all{mad};
        set_field(all, Mad::mgmt_class, MgmtClass::subn_adm);
        set_field(all, Mad::method, Method::report);
        set_field(all, Mad::attribute_id, input.number() % 4 ? attribute::notice : input.number<std::uint16_t>());
        surface.deliver(mad, false);
        ++delivered;
    }
    void forget() {
        ++forgotten;
        for (auto& answered : answers) answered = 1;
        client.forget_all();
    }
    void end() {
        surface.loop().run_for(1h);
        for (const auto answered : answers) demand(answered == 1);
        demand(surface.sent <= most_sent + delivered && reports <= delivered);
    }

    Surface surface;
    fabric::SaClient client{surface};
    std::vector<unsigned> answers;  ///< how often each was answered
    std::size_t most_sent = 0, delivered = 0, reports = 0, forgotten = 0;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input{data, size};
    Bench bench;
    while (!input.is_empty()) switch (input.number() % 16) {
            case 0:
            case 1:
            case 2:
                bench.ask(input);
                break;
            case 3:
                bench.report(input);
                break;
            case 4:
                bench.surface.loop().run_for(std::chrono::milliseconds{input.number() * 20});
                break;
            case 5:
                bench.forget();
                break;
            default:
                bench.answer(input);
        }
    bench.end();
    return 0;
}
