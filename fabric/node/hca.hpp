// SPDX-License-Identifier: GPL-2.0-or-later
// A channel adapter with one port: what an end node does below its queue pairs. IBTA Vol 1, 9, 10, 14; UD multicast.
#pragma once

#include "fabric/node/gsi.hpp"

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace ipoib::fabric {

/// What the adapter is made with.
struct HcaConfig {
    std::uint64_t port_guid = 0;  ///< the node GUID is the same but for its lowest bit
    std::string description = "ipoib-conform";
    std::uint8_t mtu = 4;             ///< MTU capability, as code
    std::uint8_t rate = 3;            ///< of the link, as rate code
    std::size_t attach_limit = 1024;  ///< multicast attachments of all queue pairs together
    std::size_t most_queue_pairs = 256;
    bool is_sm = false;  ///< IsSM of the capability mask
};

/// What an adapter does with UD multicast, and with whatever comes, each as the specification has it. A wrong adapter
/// differs in one.
struct HcaBehaviour {
    bool discards_wrong_dest_qp = true;    ///< multicast with BTH.DestQP other than FFFFFFh
    bool discards_unattached_mgid = true;  ///< an MGID that no queue pair is attached to
    bool discards_wrong_q_key = true;
    bool discards_wrong_q_key_of_multicast = true;  ///< where it discards any
    bool discards_wrong_p_key = true;
    bool discards_wrong_p_key_of_multicast = true;  ///< where it discards any
    std::uint16_t p_key_bits = 0xffff;              ///< those that it looks at
    std::uint32_t q_key_bits = 0xffff'ffff;         ///< those that it looks at
    bool takes_limited_members = true;              ///< of its partition, where it is a full member itself
    bool keeps_limited_members_apart = true;        ///< drops what one limited member sends to another
    bool discards_multicast_without_grh = true;
    bool loops_back = true;  ///< to other attached queue pairs of the sender's adapter
    bool delivers_to_all_attached = true;
    bool enforces_attach_limit = true;
    /// Whether what came to an MGID is for who is attached to another one. Null: to none but the same.
    bool (*takes_for)(const wire::Gid& attached, const wire::Gid& dgid) = nullptr;
    /// Whether it goes on after such a frame; else only subnet management hears from it again. Null: after every one.
    bool (*survives)(const wire::Packet&) = nullptr;
};

/// What the subnet manager changed. IBTA Vol 1, 11.6.3.
enum class PortEvent : std::uint8_t { active, down, lid_change, sm_change, client_reregister, p_key_change };

/// The other end of a reliable connection. IBTA Vol 1, 9.7.
struct FarEnd {
    std::uint16_t lid = 0;
    std::uint32_t qpn = 0;
    std::uint32_t expected_psn = 0;     ///< of its next packet
    std::uint32_t messages = 0;         ///< taken so far: MSN
    std::uint8_t mtu = 0;               ///< of the path, as code; 0: the port's
    std::size_t longest = 65536;        ///< octets of a message that are taken
    std::vector<std::uint8_t> begun{};  ///< of a message whose last packet has not come
};

/// A queue pair of the UD type, or of the RC type once it has a connection. Its P_Key and Q_Key are those it accepts
/// and, by default, sends. Its owner may change them; a P_Key that is not in the port's table, membership bit included,
/// accepts nothing.
struct QueuePair {
    std::uint32_t qpn = 0;
    std::uint32_t q_key = 0;
    std::uint16_t p_key = 0xffff;
    bool takes_any_p_key = false;  ///< as the GSI: any P_Key of the table
    std::uint32_t next_psn = 0;    ///< of the next datagram that its owner sends by it, modulo 2^24
    std::optional<FarEnd> connection;
    std::function<void(const Datagram&)> receive;
    /// Of a connection: told of answers to what its owner has sent. AETH.Syndrome.
    std::function<void(std::uint32_t psn, std::uint8_t syndrome)> answered{};
};

/// Counters of frames that went nowhere, by reason.
struct HcaDrops {
    std::uint64_t bad_crc = 0, malformed = 0, not_active = 0, other_lid = 0, no_queue_pair = 0, dest_qp = 0,
                  unattached = 0, no_grh = 0, q_key = 0, p_key = 0, too_long = 0, other_gid = 0;
};

class Hca : public FrameSink, public Gsi {
public:
    Hca(Loop& loop, HcaConfig config, HcaBehaviour behaviour = {});
    ~Hca() override;
    Hca(const Hca&) = delete;
    Hca& operator=(const Hca&) = delete;

    /// Plugs the cable in (the port goes to INIT, a subnet manager may find it) or out (null).
    void connect(FrameSink* wire);
    [[nodiscard]] bool is_connected() const noexcept;
    [[nodiscard]] bool is_active() const noexcept;
    /// Its own LID and that of its subnet manager, 0 before there are any.
    [[nodiscard]] std::uint16_t lid() const noexcept;
    [[nodiscard]] std::uint16_t sm_lid() const noexcept;
    [[nodiscard]] PortFacts facts() const override;
    [[nodiscard]] const HcaConfig& config() const noexcept;
    [[nodiscard]] Loop& loop() noexcept override;
    [[nodiscard]] const HcaDrops& drops() const noexcept;

    /// A new UD queue pair; its number is chosen (from 0x48 on). Null when there are no more.
    QueuePair* create(std::uint32_t q_key, std::uint16_t p_key, std::function<void(const Datagram&)> receive);
    void destroy(QueuePair* queue_pair);

    /// Attaches a queue pair to a group; false at the attach limit. Attaching twice is as once.
    bool attach(QueuePair& queue_pair, const wire::Gid& mgid, std::uint16_t mlid);
    void detach(QueuePair& queue_pair, const wire::Gid& mgid, std::uint16_t mlid);

    /// Sends a frame as it is, whatever it says; CRCs that are zero stay zero inside the process. Multicast loops back
    /// to the adapter's other attached queue pairs, `from` excepted; unicast to the own LID comes back, and so does a
    /// directed-route SMP of no hops (the requester of any other sends HopPointer 1: what stands on its first cable).
    /// Before the port is active only QP0 sends; without a cable nothing is sent.
    void send(const Frame& frame, const QueuePair* from = nullptr);
    void send(wire::Octets frame, const QueuePair* from = nullptr) { send(Frame{frame}, from); }

    /// The PSN of the next datagram of QP1: a queue pair numbers what it sends. IBTA Vol 1, 9.8.
    [[nodiscard]] std::uint32_t next_gsi_psn() noexcept;
    [[nodiscard]] std::uint32_t new_transaction() noexcept override;
    void on_mad(wire::MgmtClass mgmt_class, std::function<void(const Datagram&)> handler) override;
    void send_mad(const MadPath& path, const MadOctets& mad, Duration) override {
        send(mad_frame(path, mad, next_gsi_psn()));
    }
    /// SMPs for QP0 that are not for the subnet management agent: responses, traps and SMInfo, for a subnet manager
    /// here.
    void on_smp(std::function<void(const Datagram&)> handler);
    /// Told of events, in the order of registration; the number removes the listener again.
    std::uint32_t on_event(std::function<void(PortEvent)> listener);
    void remove_listener(std::uint32_t listener);
    /// Every frame that is sent and every one that arrives, before anything is judged or dropped.
    std::function<void(const Frame&, bool is_sent)> tap;

    /// From the wire.
    void receive(const Frame& frame) override;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ipoib::fabric
