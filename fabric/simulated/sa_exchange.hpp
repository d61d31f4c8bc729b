// SPDX-License-Identifier: GPL-2.0-or-later
// A request as the administrator works on it, what it comes to, and the way out. IBTA Vol 1, 15.2 and 15.4.
#pragma once

#include "fabric/node/mad_frame.hpp"
#include "fabric/simulated/subnet_administrator.hpp"

namespace ipoib::fabric::sa {

/// A request whose whole MAD came. Valid while its packet is.
struct Request {
    wire::Octets mad;                 ///< wire::mad_size octets
    MadPath back;                     ///< the way of the answer
    const KnownPort* port = nullptr;  ///< who asks
    bool has_sm_key = false;

    [[nodiscard]] wire::View<wire::Mad> header() const noexcept { return wire::View<wire::Mad>::at(mad); }
    [[nodiscard]] wire::View<wire::Rmpp> rmpp() const noexcept;
    [[nodiscard]] wire::View<wire::SaHeader> sa() const noexcept;
    [[nodiscard]] wire::Method method() const noexcept { return header()[wire::Mad::method]; }
    [[nodiscard]] std::uint16_t attribute() const noexcept { return header()[wire::Mad::attribute_id]; }
    [[nodiscard]] std::uint64_t mask() const noexcept { return sa()[wire::SaHeader::component_mask]; }
    /// Whether all these components are given.
    [[nodiscard]] bool gives(std::uint64_t components) const noexcept { return (mask() & components) == components; }
    template <class Record>
    [[nodiscard]] wire::View<Record> record() const noexcept {
        static_assert(Record::size <= wire::SaHeader::data_size);
        return wire::View<Record>::at(mad.subspan(wire::SaHeader::data_offset));
    }
};

/// What a request comes to: records, or a status.
class Reply {
public:
    Reply() = default;
    /// The request's own record goes back with the status.
    static Reply refuse(std::uint16_t status) {
        Reply reply;
        reply.status_ = status;
        return reply;
    }
    template <class Record>
    static Reply of(const wire::Bytes<Record>& record) {
        Reply reply;
        reply.add(record);
        return reply;
    }
    /// Appends a record, on the boundary that AttributeOffset can tell. False when the table is as large as it may be:
    /// its answer is ERR_NO_RESOURCES then.
    template <class Record>
    bool add(const wire::Bytes<Record>& record) {
        return append(record.octets);
    }
    Reply& with(std::uint16_t status) {
        status_ = status;
        return *this;
    }

    [[nodiscard]] std::uint16_t status() const noexcept { return status_; }
    [[nodiscard]] const std::vector<std::uint8_t>& data() const noexcept { return data_; }
    [[nodiscard]] std::vector<std::uint8_t>&& take_data() noexcept { return std::move(data_); }
    /// Octets from record to record.
    [[nodiscard]] std::size_t stride() const noexcept { return stride_; }
    [[nodiscard]] std::size_t count() const noexcept { return stride_ ? data_.size() / stride_ : 0; }

private:
    bool append(wire::Octets record);
    std::uint16_t status_ = wire::mad_status::ok;
    std::size_t stride_ = 0;
    std::vector<std::uint8_t> data_;
};

/// The octets of records that a table may have.
inline constexpr std::size_t longest_table = std::size_t{4} << 20;

/// The answer as a MAD of its own: of a Get one record, of a table none of its segments but their head.
[[nodiscard]] MadOctets answer(const Request& request, const Reply& reply);

/// Whether the port has the partition in its table, as full or as limited member. IBTA Vol 1, 10.9.
[[nodiscard]] bool has_p_key(const KnownPort& port, std::uint16_t p_key) noexcept;
/// The entry of `from` for the first partition, by number, in which the two can communicate; or none. Two limited
/// members cannot. IBTA Vol 1, 10.9.3.
[[nodiscard]] std::optional<std::uint16_t> shared_p_key(const KnownPort& from, const KnownPort& to) noexcept;
/// Whether a port is told of the other: of itself, whatever its membership is, and of whom it can communicate with.
[[nodiscard]] bool is_told_of(const KnownPort& asker, const KnownPort& port) noexcept;
[[nodiscard]] bool share_p_key(const KnownPort& one, const KnownPort& other, std::uint16_t p_key) noexcept;

/// A port by GID; the link-local prefix stands for the subnet's own. IBTA Vol 1, 4.1.1.
[[nodiscard]] const KnownPort* find_port(const SubnetView& subnet, const wire::Gid& gid, std::uint64_t subnet_prefix);

/// Whether two records have the same value in a row of their header.
[[nodiscard]] bool is_same(const wire::FieldSpec& row, wire::Octets one, wire::Octets other) noexcept;

/// MADs on their way out of the administrator's port.
class Outbox : public FrameSink {
public:
    Outbox(Hca& hca, const SaConfig& config, const SaFaults& faults) : hca_(hca), config_(config), faults_(faults) {}
    ~Outbox() override { hca_.loop().forget(*this); }
    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;

    /// As an answer: after the time that the administrator takes. Dropped when too many wait already.
    void post(const MadPath& path, const MadOctets& mad);
    /// At once: the next segment of a table.
    void send(const MadPath& path, const MadOctets& mad) { hca_.send(mad_frame(path, mad, hca_.next_gsi_psn())); }
    void receive(const Frame& frame) override;
    [[nodiscard]] Duration delay() const noexcept { return config_.answer_after + faults_.delay; }
    [[nodiscard]] Loop& loop() noexcept { return hca_.loop(); }
    /// Drops what waits.
    void clear();

private:
    static constexpr std::size_t most_waiting = 16384;
    Hca& hca_;
    const SaConfig& config_;
    const SaFaults& faults_;
    std::size_t waiting_ = 0;
};

}  // namespace ipoib::fabric::sa
