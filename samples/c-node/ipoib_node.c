// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * A minimal IP-over-InfiniBand node (RFC 4391, datagram mode, IPv4) on a raw port: one file, C11 and POSIX only.
 *
 * A raw port is a stream (here a Unix socket) of whole InfiniBand frames: a 16-bit big-endian length, then the frame
 * from its LRH to its VCRC; a length of 0 says that the link is down. Both CRCs stay zero: the other side fills them
 * in. Whoever sits on such a port is a channel adapter with one port, which a subnet manager brings up.
 *
 * To put your own stack there, keep "The raw port" and "Subnet management agent" and replace what follows. One line on
 * standard input is a command ("Control"), answered by one line: "ok", "failed" or "unsupported". The log goes to
 * standard error.
 *
 * Left out: IPv6, fragments, routers, IGMP, M_Keys, more than one P_Key, CRCs of what arrives.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* ---- Octets in network byte order, time, the log ----------------------------------------------------------- */

static uint64_t rd(const uint8_t *at, unsigned size) {
    uint64_t value = 0;
    while (size-- > 0) value = value << 8 | *at++;
    return value;
}
static unsigned rd16(const uint8_t *at) { return (unsigned)rd(at, 2); }
static uint32_t rd24(const uint8_t *at) { return (uint32_t)rd(at, 3); }
static uint32_t rd32(const uint8_t *at) { return (uint32_t)rd(at, 4); }
static void wr(uint8_t *at, unsigned size, uint64_t value) {
    for (; size-- > 0; value >>= 8) at[size] = (uint8_t)value;
}
static void wr16(uint8_t *at, uint64_t value) { wr(at, 2, value); }
static void wr24(uint8_t *at, uint64_t value) { wr(at, 3, value); }
static void wr32(uint8_t *at, uint64_t value) { wr(at, 4, value); }
static bool same(const uint8_t *a, const uint8_t *b, size_t length) { return memcmp(a, b, length) == 0; }

/* In milliseconds. */
static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

#define LOG(...) (fputs("ipoib_node: ", stderr), fprintf(stderr, __VA_ARGS__), (void)fputc('\n', stderr))

static const char *ip_text(uint32_t ip) {
    static char text[4][INET_ADDRSTRLEN]; /* so many may stand in one line of output */
    static unsigned turn;
    const struct in_addr address = {.s_addr = htonl(ip)};
    return inet_ntop(AF_INET, &address, text[turn++ % 4], INET_ADDRSTRLEN);
}

/* ---- What the node knows ----------------------------------------------------------------------------------- */

enum { LRH = 8, GRH = 40, BTH = 12, DETH = 8, ICRC = 4, VCRC = 2, ENCAP = 4, MAD = 256, GID = 16, LINK_ADDRESS = 20 };
enum { SHORTEST_FRAME = 26, LONGEST_FRAME = 4300, LONGEST_PAYLOAD = 4096, LONGEST_IP = LONGEST_PAYLOAD - ENCAP };
enum { PERMISSIVE_LID = 0xffff, FIRST_MLID = 0xc000, QPN = 0x48, MULTICAST_QP = 0xffffff, UD_SEND_ONLY = 0x64 };
enum { P_KEYS = 32, GROUPS = 64, NEIGHBOURS = 64, REQUESTS = 80, QUEUE = 4, LISTENERS = 16, RECEIVED = 32 };
enum { TYPE_IPV4 = 0x0800, TYPE_ARP = 0x0806 }; /* RFC 4391, 6 */
static const uint32_t gsi_q_key = 0x80010000;
static const uint32_t limited_broadcast = 0xffffffff, all_hosts = 0xe0000001, all_routers = 0xe0000002;

/* PortInfo, octet by octet. IBTA Vol 1, 14.2.5.6. */
enum { PI_PREFIX = 8, PI_LID = 16, PI_SM_LID = 18, PI_CAPABILITIES = 20, PI_LEASE = 26, PI_PORT = 28, PI_WIDTHS = 29 };
enum { PI_STATE = 32, PI_PHYSICAL = 33, PI_PROTECT_LMC = 34, PI_SPEEDS = 35, PI_MTU_SM_SL = 36, PI_VL_CAP = 37 };
enum { PI_MTU_CAP = 41, PI_VLS = 43, PI_VIOLATIONS = 44, PI_GUID_CAP = 50, PI_REREGISTER = 51, PI_RESPONSE = 52 };
enum { STATE_DOWN = 1, STATE_INIT, STATE_ARMED, STATE_ACTIVE };

static struct {
    const char *path;
    int descriptor;
    int64_t connect_at;
    uint64_t guid;
    uint8_t info[64], p_keys[2 * P_KEYS], sl_to_vl[8], vl_arbitration[4][64];
    uint8_t in[1 << 16], out[1 << 18];
    size_t in_length, out_length;
    uint32_t psn;
} port = {.descriptor = -1, .guid = 0x0002c90300dd0001};

/* The interface, with the parameters of its broadcast group. RFC 4391, 5. */
static struct {
    bool is_wanted, is_up;
    unsigned scope, p_key, sl, traffic_class, hop_limit, mtu_code, rate, lifetime;
    uint32_t q_key, flow_label;
    size_t mtu;        /* of IP */
    uint32_t ip, mask; /* the own address and its network; 0: none */
} ipoib = {.is_wanted = true};

/* Datagrams, without their encapsulation header, that wait for the SA or for an ARP reply. */
struct queue {
    unsigned count;
    struct {
        unsigned type;
        size_t length;
        uint8_t octets[LONGEST_IP];
    } item[QUEUE];
};

/* A multicast group by the IPv4 group that it stands for. The first is the broadcast group. */
static struct group {
    bool is_used, is_wanted;  /* wanted: IP listens to it */
    bool is_joined, is_heard; /* by whom: a program that joined it; a socket, or IP itself, which stay */
    bool exists, is_missing;  /* what the SA said; neither: it was not asked */
    bool is_asking;           /* one request at a time */
    unsigned joined, refusal; /* join states that the SA granted; the status with which it last refused */
    unsigned mlid, sl, traffic_class, hop_limit; /* as the SA told when it was joined */
    uint32_t ip, flow_label;
    uint8_t mgid[GID];
    int64_t retry_at, pause, used_at;
    struct queue waiting;
} groups[GROUPS];
static struct group *const broadcast_group = groups;
enum { FULL_MEMBER = 1, SEND_ONLY_NON_MEMBER = 4 };

/* A neighbour: first its link-layer address is asked for (RFC 4391, 9.2), then the path to its port (9.1.2). */
static struct neighbour {
    bool is_used, has_path;
    enum { ASKING, FINDING_PATH, READY } state;
    uint32_t ip;
    uint8_t address[LINK_ADDRESS];
    unsigned dlid, sl, traffic_class, hop_limit, tries;
    uint32_t flow_label;
    int64_t confirmed_at, due;
    struct queue waiting;
} neighbours[NEIGHBOURS];

/* A request to the subnet administrator. */
typedef void answer_function(unsigned index, unsigned status, const uint8_t *record);
static struct request {
    bool is_used;
    unsigned tries, index;
    int64_t due;
    answer_function *answered;
    uint8_t mad[MAD];
} requests[REQUESTS];
enum { NO_ANSWER = 0x10000 }; /* beside the 16 bits of a status */
static const char *status_text(unsigned status) {
    static char text[24];
    snprintf(text, sizeof text, "status 0x%04x", status);
    return status == NO_ANSWER ? "no answer" : text;
}

static int64_t reachable_time = 30000, sender_time = 20000;

static unsigned port_lid(void) { return rd16(port.info + PI_LID); }
static bool is_active(void) { return (port.info[PI_STATE] & 0xf) == STATE_ACTIVE; }
static void port_gid(uint8_t *gid) {
    memcpy(gid, port.info + PI_PREFIX, 8);
    wr(gid + 8, 8, port.guid);
}
/* Flags (reserved: zero), QPN, GID. RFC 4391, 9.1.1. */
static void link_address(uint8_t *address) {
    wr32(address, QPN);
    port_gid(address + 4);
}

static bool put(struct queue *queue, unsigned type, const uint8_t *octets, size_t length) {
    if (queue->count == QUEUE || length > LONGEST_IP) return false;
    queue->item[queue->count].type = type;
    queue->item[queue->count].length = length;
    memcpy(queue->item[queue->count++].octets, octets, length);
    return true;
}

static void interface_restart(void);

/* ---- The raw port ------------------------------------------------------------------------------------------ */

/* The headers of a UD packet. IBTA Vol 1, 7.7, 8.3, 9.2 and 9.3.2. */
struct headers {
    unsigned vl, sl, dlid, slid, p_key, traffic_class, hop_limit;
    uint32_t flow_label, dest_qp, q_key, src_qp;
    bool has_grh;
    uint8_t sgid[GID], dgid[GID];
};

static void port_flush(void) {
    while (port.descriptor >= 0 && port.out_length > 0) {
        const ssize_t sent = send(port.descriptor, port.out, port.out_length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0) return; /* full for now, or gone, which reading will tell */
        port.out_length -= (size_t)sent;
        memmove(port.out, port.out + sent, port.out_length);
    }
}

/* Room for all that one frame can bring about. Without it no frame is taken in, so that none must be dropped. */
static bool port_has_room(void) { return port.out_length < sizeof port.out / 2; }

/* `type` is that of the encapsulation header; 0: without one. */
static void send_packet(const struct headers *h, unsigned type, const uint8_t *payload, size_t length) {
    const size_t encap = type ? ENCAP : 0, pad = (4 - length % 4) % 4;
    const size_t size = LRH + (h->has_grh ? GRH : 0u) + BTH + DETH + encap + length + pad + ICRC + VCRC;
    if (port.descriptor < 0 || encap + length > LONGEST_PAYLOAD || 2 + size > sizeof port.out - port.out_length) return;
    uint8_t *at = port.out + port.out_length;
    memset(at, 0, 2 + size);
    port.out_length += 2 + size;
    wr16(at, size);
    at += 2;
    at[0] = (uint8_t)(h->vl << 4);
    at[1] = (uint8_t)(h->sl << 4 | (h->has_grh ? 3u : 2u));
    wr16(at + 2, h->dlid);
    wr16(at + 4, (size - VCRC) / 4);
    wr16(at + 6, h->slid);
    at += LRH;
    if (h->has_grh) {
        wr32(at, 6u << 28 | h->traffic_class << 20 | h->flow_label);
        wr16(at + 4, size - LRH - GRH - VCRC);
        at[6] = 0x1b;
        at[7] = (uint8_t)h->hop_limit;
        memcpy(at + 8, h->sgid, GID);
        memcpy(at + 24, h->dgid, GID);
        at += GRH;
    }
    at[0] = UD_SEND_ONLY;
    at[1] = (uint8_t)(pad << 4);
    wr16(at + 2, h->p_key);
    wr24(at + 5, h->dest_qp);
    wr24(at + 9, port.psn++);
    wr32(at + 12, h->q_key);
    wr24(at + 17, h->src_qp);
    at += BTH + DETH;
    if (encap) wr16(at, type); /* Reserved stays zero. RFC 4391, 6 */
    memcpy(at + encap, payload, length);
    port_flush();
}

/* Takes a frame apart; its lengths are checked here, once. The payload, or NULL: malformed, or no UD packet. */
static const uint8_t *take_apart(const uint8_t *frame, size_t size, struct headers *h, size_t *length) {
    const unsigned next_header = frame[1] & 3u;
    memset(h, 0, sizeof *h);
    h->has_grh = next_header == 3;
    const size_t headers = LRH + (h->has_grh ? GRH : 0u) + BTH + DETH;
    if (size < headers + ICRC + VCRC || (rd16(frame + 4) & 0x7ff) * 4 + VCRC != size) return NULL;
    if ((frame[0] & 0xf) != 0 || next_header < 2) return NULL;
    h->sl = frame[1] >> 4;
    h->dlid = rd16(frame + 2);
    h->slid = rd16(frame + 6);
    const uint8_t *at = frame + LRH;
    if (h->has_grh) {
        if (at[0] >> 4 != 6 || at[6] != 0x1b || rd16(at + 4) + LRH + GRH + VCRC != size) return NULL;
        memcpy(h->sgid, at + 8, GID);
        memcpy(h->dgid, at + 24, GID);
        at += GRH;
    }
    const size_t pad = at[1] >> 4 & 3;
    if (at[0] != UD_SEND_ONLY || (at[1] & 0xf) != 0 || size < headers + pad + ICRC + VCRC) return NULL;
    h->p_key = rd16(at + 2);
    h->dest_qp = rd24(at + 5);
    h->q_key = rd32(at + 12);
    h->src_qp = rd24(at + 17);
    *length = size - headers - pad - ICRC - VCRC;
    return *length > LONGEST_PAYLOAD ? NULL : at + BTH + DETH;
}

/* ---- Subnet management agent: how a subnet manager finds the node and brings its port up. IBTA Vol 1, 14.2 ---- */

enum { GET = 0x01, SET = 0x02, REPORT = 0x06, DELETE = 0x15, GET_RESP = 0x81, REPORT_RESP = 0x86, DELETE_RESP = 0x95 };
enum { BAD_VERSION = 0x04, BAD_METHOD = 0x08, BAD_ATTRIBUTE = 0x0c, BAD_VALUE = 0x1c };
enum { NODE_DESCRIPTION = 0x10, NODE_INFO = 0x11, GUID_INFO = 0x14, PORT_INFO = 0x15, P_KEY_TABLE = 0x16 };
enum { SL_TO_VL_MAPPING_TABLE = 0x17, VL_ARBITRATION_TABLE = 0x18, ATTRIBUTE = 64 };
enum { LID_ROUTED = 0x01, DIRECTED_ROUTE = 0x81, RETURN_PATH = 192 };

static void port_reset(void) {
    uint8_t *const info = port.info;
    memset(info, 0, sizeof port.info);
    wr16(info + PI_PREFIX, 0xfe80);
    info[PI_CAPABILITIES] = 0x02; /* ClientReregister is understood */
    info[PI_PORT] = 1;
    memset(info + PI_WIDTHS, 2, 3);          /* 4x, */
    info[PI_STATE] = 1 << 4 | STATE_INIT;    /* 2.5 Gb/s */
    info[PI_SPEEDS] = 1 << 4 | 1;            /* and no other */
    info[PI_PHYSICAL] = 5 << 4 | 2;          /* LinkUp */
    info[PI_MTU_CAP] = 5;                    /* 4096 octets, */
    info[PI_MTU_SM_SL] = 5 << 4;             /* as long as nobody says less */
    info[PI_VL_CAP] = info[PI_VLS] = 1 << 4; /* VL 0 only */
    info[PI_GUID_CAP] = 1;
    info[PI_RESPONSE] = 16;
    memset(port.p_keys, 0, sizeof port.p_keys);
    wr16(port.p_keys, 0xffff);
    memset(port.sl_to_vl, 0, sizeof port.sl_to_vl);
    memset(port.vl_arbitration, 0, sizeof port.vl_arbitration);
}

static void node_info(uint8_t *data) {
    wr32(data, 0x01010101);          /* versions, channel adapter, one port */
    wr(data + 4, 8, port.guid ^ 1);  /* system image */
    wr(data + 12, 8, port.guid ^ 1); /* node */
    wr(data + 20, 8, port.guid);
    wr16(data + 28, P_KEYS);
    wr16(data + 30, 1); /* device */
    data[36] = 1;       /* the port that the request came in by */
    wr24(data + 37, port.guid >> 40);
}

/* Get or Set(PortInfo). A change of LID, SM or state, or a call to reregister, begins the interface anew. */
static unsigned port_info(bool is_set, uint8_t *data) {
    uint8_t before[ATTRIBUTE];
    const unsigned state = data[PI_STATE] & 0xf, current = port.info[PI_STATE] & 0xf, mtu = data[PI_MTU_SM_SL] >> 4;
    const uint8_t reregister = is_set ? data[PI_REREGISTER] & 0x80 : 0;
    memcpy(before, port.info, sizeof before);
    if (is_set) {
        if (state == STATE_INIT || state > STATE_ACTIVE || (state == STATE_ACTIVE && current < STATE_ARMED) ||
            mtu < 1 || mtu > port.info[PI_MTU_CAP] || rd16(data + PI_LID) >= FIRST_MLID)
            return BAD_VALUE;
        memcpy(port.info, data, PI_CAPABILITIES); /* M_Key, prefix, LID, LID of the master SM */
        memcpy(port.info + PI_LEASE, data + PI_LEASE, 2);
        port.info[PI_PROTECT_LMC] = data[PI_PROTECT_LMC] & 0xc7;
        port.info[PI_MTU_SM_SL] = data[PI_MTU_SM_SL];
        memset(port.info + PI_VIOLATIONS, 0, 6);
        port.info[PI_REREGISTER] = data[PI_REREGISTER] & 0x1f;
        if (state != 0) port.info[PI_STATE] = (uint8_t)(1 << 4 | (state == STATE_DOWN ? STATE_INIT : state));
    }
    memcpy(data, port.info, ATTRIBUTE);
    data[PI_REREGISTER] |= reregister;
    if (!same(before + PI_PREFIX, data + PI_PREFIX, 12) || before[PI_STATE] != data[PI_STATE] || reregister)
        interface_restart();
    return 0;
}

/* The attributes that a manager reads and writes as they are; NULL: not one of them, or a wrong modifier. */
static uint8_t *table_of(unsigned attribute, uint32_t modifier, size_t *size) {
    const unsigned block = modifier >> 16;
    if (attribute == P_KEY_TABLE && (modifier & 0xffff) == 0) {
        *size = sizeof port.p_keys;
        return port.p_keys;
    }
    if (attribute == SL_TO_VL_MAPPING_TABLE) {
        *size = sizeof port.sl_to_vl;
        return port.sl_to_vl;
    }
    *size = sizeof port.vl_arbitration[0];
    return attribute == VL_ARBITRATION_TABLE && block >= 1 && block <= 4 ? port.vl_arbitration[block - 1] : NULL;
}

/* Carries out one SMP; `data` is the attribute, in and out. The status to answer with. */
static unsigned manage(bool is_set, unsigned attribute, uint32_t modifier, uint8_t *data) {
    const unsigned p_key = rd16(port.p_keys);
    size_t size = 0;
    uint8_t *const table = table_of(attribute, modifier, &size);
    if (attribute == PORT_INFO) return modifier > 1 ? BAD_VALUE : port_info(is_set, data);
    if (table && is_set) memcpy(table, data, size);
    memset(data, 0, ATTRIBUTE);
    if (table) memcpy(data, table, size);
    if (rd16(port.p_keys) != p_key) interface_restart();
    if (table) return 0;
    if (attribute == NODE_DESCRIPTION) memcpy(data, "ipoib_node", sizeof "ipoib_node");
    else if (attribute == NODE_INFO) node_info(data);
    else if (attribute == GUID_INFO && modifier == 0) wr(data, 8, port.guid);
    else return attribute >= GUID_INFO && attribute <= VL_ARBITRATION_TABLE ? BAD_VALUE : BAD_ATTRIBUTE;
    return is_set ? BAD_ATTRIBUTE : 0;
}

static void receive_smp(const struct headers *h, const uint8_t *request) {
    uint8_t mad[MAD];
    memcpy(mad, request, MAD);
    const bool is_directed = mad[1] == DIRECTED_ROUTE;
    const unsigned method = mad[3], hops = mad[7];
    if ((!is_directed && mad[1] != LID_ROUTED) || (method & 0x80)) return;
    if (!is_directed && h->dlid != port_lid()) return;
    if (is_directed) { /* the way of a directed route ends here, and goes back as it came. 14.2.2 */
        if (hops > 63 || mad[6] != hops || rd16(mad + 32) != PERMISSIVE_LID || rd16(mad + 34) != PERMISSIVE_LID) return;
        if (hops > 0) mad[RETURN_PATH + hops] = 1; /* the port that it came in by */
    }
    const struct headers back = {.vl = 15, .dlid = h->slid, .slid = h->dlid, .p_key = 0xffff};
    unsigned status = method == GET || method == SET ? 0 : BAD_METHOD;
    if (mad[0] != 1 || mad[2] != 1) status = BAD_VERSION;
    if (status == 0) status = manage(method == SET, rd16(mad + 16), rd32(mad + 20), mad + 64);
    mad[3] = GET_RESP;
    wr16(mad + 4, status | (is_directed ? 0x8000u : 0u)); /* D: on its way back */
    send_packet(&back, 0, mad, MAD);
}

/* ---- Subnet administration: requests to the SA, and its reports. IBTA Vol 1, 15.2 -------------------------- */

enum { SUBNET_ADMINISTRATION = 3, INFORM_INFO = 0x03, PATH_RECORD = 0x35, MC_MEMBER_RECORD = 0x38, SA_DATA = 56 };

static unsigned vl_of(unsigned sl) { return (unsigned)port.sl_to_vl[sl / 2] >> (sl % 2 ? 0 : 4) & 0xf; }

/* The headers of a packet of the interface, without a GRH. Q_Key and P_Key are the link's. RFC 4391, 9.1.2. */
static struct headers headers_to(unsigned dlid, unsigned sl, uint32_t dest_qp) {
    struct headers h = {.dlid = dlid, .slid = port_lid(), .sl = sl, .vl = vl_of(sl), .p_key = ipoib.p_key};
    h.dest_qp = dest_qp;
    h.q_key = ipoib.q_key;
    h.src_qp = QPN;
    port_gid(h.sgid);
    return h;
}

static void send_gsi(const uint8_t *mad, unsigned dlid, unsigned sl, uint32_t qp) {
    struct headers h = headers_to(dlid, sl, qp);
    h.q_key = gsi_q_key;
    h.src_qp = 1;
    for (const uint8_t *p_key = port.p_keys; p_key < port.p_keys + sizeof port.p_keys; p_key += 2)
        if ((rd16(p_key) & 0x7fff) == 0x7fff) h.p_key = rd16(p_key); /* the default partition, where there is one */
    send_packet(&h, 0, mad, MAD);
}

/* Asks the SA. `answered` is called once, with the status and the record, or with NO_ANSWER. */
static void ask_sa(unsigned method, unsigned attribute, uint64_t components, const uint8_t *record, size_t size,
                   answer_function *answered, unsigned index) {
    static uint32_t transaction;
    struct request *r = requests;
    while (r < requests + REQUESTS && r->is_used) ++r;
    if (r == requests + REQUESTS) {
        answered(index, NO_ANSWER, NULL);
        return;
    }
    *r = (struct request){.is_used = true, .index = index, .due = now(), .answered = answered};
    wr24(r->mad, 0x010302); /* MAD version, class, class version */
    r->mad[3] = (uint8_t)method;
    wr32(r->mad + 12, ++transaction);
    wr16(r->mad + 16, attribute);
    wr(r->mad + 48, 8, components);
    memcpy(r->mad + SA_DATA, record, size);
}

/* Sends what is due: at first, and again when there was no answer. */
static void requests_step(void) {
    for (struct request *r = requests; r < requests + REQUESTS; ++r) {
        if (!r->is_used || r->due > now()) continue;
        if (++r->tries > 3) {
            r->is_used = false;
            r->answered(r->index, NO_ANSWER, NULL);
            continue;
        }
        r->due = now() + 1000;
        send_gsi(r->mad, rd16(port.info + PI_SM_LID), port.info[PI_MTU_SM_SL] & 0xf, 1);
    }
}

static void receive_report(const uint8_t *notice);

static void receive_gsi(const struct headers *h, const uint8_t *mad) {
    if (h->q_key != gsi_q_key || rd24(mad) != 0x010302) return;
    if (mad[3] == REPORT) { /* until it is answered, the SA repeats it */
        uint8_t response[MAD];
        memcpy(response, mad, MAD);
        response[3] = REPORT_RESP;
        send_gsi(response, h->slid, h->sl, h->src_qp);
        receive_report(mad + SA_DATA);
        return;
    }
    const unsigned status = rd16(mad + 4), busy = 1;
    const bool is_response = mad[3] == GET_RESP || mad[3] == DELETE_RESP;
    if (!is_response || status == busy || h->slid != rd16(port.info + PI_SM_LID)) return;
    for (struct request *r = requests; r < requests + REQUESTS; ++r) {
        if (!r->is_used || !same(r->mad + 12, mad + 12, 4) || !same(r->mad + 16, mad + 16, 2)) continue;
        r->is_used = false;
        r->answered(r->index, status, mad + SA_DATA);
        return;
    }
}

static void subscribed(unsigned trap, unsigned status, const uint8_t *info) {
    if (status != 0 || !info) LOG("subscription to trap %u failed: %s", trap, status_text(status));
}

/* Senders subscribe to the traps of groups that are created (66) and deleted (67). RFC 4391, 10. */
static void subscribe(bool is_begun) {
    for (unsigned trap = 66; trap <= 67; ++trap) {
        uint8_t info[36] = {0};
        wr16(info + 16, 0xffff); /* all LIDs */
        info[22] = 1;            /* a generic trap */
        info[23] = is_begun;
        wr16(info + 24, 0xffff); /* all types */
        wr16(info + 26, trap);
        wr24(info + 28, 1);        /* reports come to QP1, */
        info[31] = 18;             /* which answers within a second */
        wr24(info + 33, 0xffffff); /* all producers */
        ask_sa(SET, INFORM_INFO, 0, info, sizeof info, subscribed, trap);
    }
}

/* ---- Multicast groups: RFC 4391, 4, 5 and 10 --------------------------------------------------------------- */

/* MCMemberRecord, octet by octet, and its bits in a component mask. IBTA Vol 1, 15.2.5.17. */
enum { MC_MGID = 0, MC_PORT_GID = 16, MC_Q_KEY = 32, MC_MLID = 36, MC_MTU = 38, MC_TCLASS = 39, MC_P_KEY = 40 };
enum { MC_RATE = 42, MC_LIFETIME = 43, MC_SL_FLOW_HOP = 44, MC_SCOPE_JOIN = 48, MC_SIZE = 52, EXACTLY = 2 << 6 };
enum { BY_MGID = 1 << 0, TO_JOIN = BY_MGID | 1 << 1 | 1 << 16 }; /* PortGID, JoinState */
/* Q_Key, MTU, TClass, P_Key, Rate, PacketLifeTime, SL, FlowLabel, HopLimit. */
enum { TO_CREATE = TO_JOIN | 1 << 2 | 3 << 4 | 1 << 6 | 1 << 7 | 3 << 8 | 3 << 10 | 1 << 12 | 1 << 13 | 1 << 14 };

static bool is_multicast(uint32_t ip) { return ip >> 28 == 0xe; }
static bool is_beyond_link_local(uint32_t group) { return group >> 8 != 0xe00000; } /* 224.0.0.0/24 is */

/* The MGID of an IPv4 group; 255.255.255.255 gives the broadcast-GID. RFC 4391, 4. */
static void map_group(struct group *g) {
    wr16(g->mgid, 0xff10 | ipoib.scope);
    wr16(g->mgid + 2, 0x401b);
    wr16(g->mgid + 4, ipoib.p_key | 0x8000);
    memset(g->mgid + 6, 0, 6);
    wr32(g->mgid + 12, g->ip == limited_broadcast ? g->ip : g->ip & 0x0fffffff);
}

static struct group *find_group(uint32_t ip, bool is_new_welcome) {
    struct group *vacant = NULL;
    for (struct group *g = groups; g < groups + GROUPS; ++g) {
        if (g->is_used && g->ip == ip) return g;
        if (!g->is_used) vacant = g;
    }
    if (!is_new_welcome || !vacant) return NULL;
    memset(vacant, 0, sizeof *vacant);
    vacant->is_used = true;
    vacant->ip = ip;
    vacant->used_at = now();
    map_group(vacant);
    return vacant;
}

/* The egress steps of RFC 4391, 10. False: dropped. */
static bool output_to_group(uint32_t ip, unsigned type, const uint8_t *octets, size_t length) {
    struct group *const g = ipoib.is_up ? find_group(ip, true) : NULL;
    if (!g || length > ipoib.mtu) return false;
    if (!g->joined && g->is_missing) /* routers get what goes beyond the link, if they have a group */
        return is_beyond_link_local(ip) && output_to_group(all_routers, type, octets, length);
    if (!g->joined) return put(&g->waiting, type, octets, length); /* until the SA says whether the group exists */
    struct headers h = headers_to(g->mlid, g->sl, MULTICAST_QP);
    h.has_grh = true;
    memcpy(h.dgid, g->mgid, GID);
    h.traffic_class = g->traffic_class;
    h.flow_label = g->flow_label;
    h.hop_limit = g->hop_limit;
    g->used_at = now();
    send_packet(&h, type, octets, length);
    return true;
}

/* The waiting datagrams go where they may go by now. */
static void release_waiting(struct group *g) {
    static struct queue waiting;
    waiting = g->waiting;
    g->waiting.count = 0;
    for (unsigned i = 0; i < waiting.count; ++i)
        output_to_group(g->ip, waiting.item[i].type, waiting.item[i].octets, waiting.item[i].length);
}

static void ask_about_group(struct group *g, unsigned method, unsigned join_state, uint64_t components,
                            answer_function *answered) {
    uint8_t record[MC_SIZE] = {0};
    memcpy(record + MC_MGID, g->mgid, GID);
    port_gid(record + MC_PORT_GID);
    record[MC_SCOPE_JOIN] = (uint8_t)(ipoib.scope << 4 | join_state);
    if (components == TO_CREATE) { /* a new group is like the broadcast group */
        wr32(record + MC_Q_KEY, ipoib.q_key);
        record[MC_MTU] = (uint8_t)(EXACTLY | ipoib.mtu_code);
        record[MC_TCLASS] = (uint8_t)ipoib.traffic_class;
        wr16(record + MC_P_KEY, ipoib.p_key);
        record[MC_RATE] = (uint8_t)(EXACTLY | ipoib.rate);
        record[MC_LIFETIME] = (uint8_t)(EXACTLY | ipoib.lifetime);
        wr32(record + MC_SL_FLOW_HOP, ipoib.sl << 28 | ipoib.flow_label << 8 | ipoib.hop_limit);
    }
    g->is_asking = true;
    ask_sa(method, MC_MEMBER_RECORD, components, record, sizeof record, answered, (unsigned)(g - groups));
}

static void group_left(unsigned index, unsigned status, const uint8_t *record) {
    groups[index].is_asking = false;
    if (status != 0 || !record) LOG("leaving group %s failed: %s", ip_text(groups[index].ip), status_text(status));
}
static void leave_group(struct group *g, unsigned join_state) {
    g->joined &= ~join_state;
    ask_about_group(g, DELETE, join_state, TO_JOIN, group_left);
}

/* The answer to the question whether a group exists. */
static void group_found(unsigned index, unsigned status, const uint8_t *record) {
    struct group *const g = &groups[index];
    g->is_asking = false;
    if (status == NO_ANSWER) {
        LOG("the SA does not say whether group %s exists", ip_text(g->ip));
        g->waiting.count = 0;
        return;
    }
    g->exists = status == 0 && same(record + MC_MGID, g->mgid, GID);
    g->is_missing = !g->exists;
    if (g->is_missing) release_waiting(g);
}

/* The interface takes over the parameters of the broadcast group that it joined. RFC 4391, 5. */
static void link_up(const uint8_t *record) {
    ipoib.mtu_code = record[MC_MTU] & 0x3f;
    ipoib.mtu = (128u << ipoib.mtu_code) - ENCAP;
    ipoib.q_key = rd32(record + MC_Q_KEY);
    ipoib.traffic_class = record[MC_TCLASS];
    ipoib.rate = record[MC_RATE] & 0x3f;
    ipoib.lifetime = record[MC_LIFETIME] & 0x3f;
    ipoib.sl = record[MC_SL_FLOW_HOP] >> 4;
    ipoib.flow_label = rd32(record + MC_SL_FLOW_HOP) >> 8 & 0xfffff;
    ipoib.hop_limit = record[MC_SL_FLOW_HOP + 3];
    ipoib.is_up = true;
    LOG("link up: P_Key 0x%04x, scope %u, IP MTU %zu", ipoib.p_key, ipoib.scope, ipoib.mtu);
    for (struct group *g = groups; g < groups + GROUPS; ++g) map_group(g);
    struct group *const hosts = find_group(all_hosts, true); /* every host listens to it. RFC 1112, 4 */
    if (hosts) hosts->is_wanted = hosts->is_heard = true;
    subscribe(true);
}

static void group_refused(struct group *g, unsigned status) {
    g->refusal = status;
    g->pause = g->pause == 0 ? 1000 : g->pause < 16000 ? 2 * g->pause : 16000;
    g->retry_at = now() + g->pause;
    g->waiting.count = 0;
    LOG("joining group %s of P_Key 0x%04x, scope %u, failed: %s", ip_text(g->ip), ipoib.p_key, ipoib.scope,
        status_text(status));
    if (g != broadcast_group || status == NO_ANSWER) return;
    /* The link may have another scope: the local one is tried first, then site-local, then, later, again. 4.1 */
    if (ipoib.scope == 2) g->retry_at = now();
    ipoib.scope = ipoib.scope == 2 ? 5 : 2;
    map_group(g);
}

static void group_joined(unsigned index, unsigned status, const uint8_t *record) {
    struct group *const g = &groups[index];
    g->is_asking = g->exists = false;
    if (status == 0) {
        const unsigned mtu = record[MC_MTU] & 0x3f;
        if (!same(record + MC_MGID, g->mgid, GID) || rd16(record + MC_MLID) < FIRST_MLID) status = BAD_VALUE;
        if (mtu < 1 || mtu > port.info[PI_MTU_CAP]) status = BAD_VALUE;
    }
    if (status != 0) {
        group_refused(g, status);
        return;
    }
    g->joined |= record[MC_SCOPE_JOIN] & (FULL_MEMBER | SEND_ONLY_NON_MEMBER);
    g->mlid = rd16(record + MC_MLID);
    g->sl = record[MC_SL_FLOW_HOP] >> 4;
    g->traffic_class = record[MC_TCLASS];
    g->flow_label = rd32(record + MC_SL_FLOW_HOP) >> 8 & 0xfffff;
    g->hop_limit = record[MC_SL_FLOW_HOP + 3];
    g->refusal = 0;
    g->pause = 0;
    g->used_at = now();
    if (g == broadcast_group) link_up(record);
    release_waiting(g);
}

static void join_group(struct group *g, unsigned join_state, uint64_t components) {
    if (now() < g->retry_at) return;
    g->retry_at = now() + 1000;
    ask_about_group(g, SET, join_state, components, group_joined);
}

/* Brings each group nearer to what is wanted of it. */
static void groups_step(void) {
    for (struct group *g = groups; g < groups + GROUPS; ++g) {
        const bool is_member = g->joined & FULL_MEMBER, is_old = now() - g->used_at > sender_time;
        if (!g->is_used || g->is_asking || !is_active() || (g != broadcast_group && !ipoib.is_up)) continue;
        if (g->is_wanted && !is_member) join_group(g, FULL_MEMBER, g == broadcast_group ? TO_JOIN : TO_CREATE);
        else if (!g->is_wanted && is_member) leave_group(g, FULL_MEMBER);
        else if (!g->joined && g->exists && g->waiting.count > 0) join_group(g, SEND_ONLY_NON_MEMBER, TO_JOIN);
        else if (!g->joined && g->waiting.count > 0) ask_about_group(g, GET, 0, BY_MGID, group_found);
        else if (g->joined & SEND_ONLY_NON_MEMBER && is_old) leave_group(g, SEND_ONLY_NON_MEMBER); /* RFC 4392, 4.2.5 */
        else if (!g->joined && is_old && g != broadcast_group) g->is_used = false;
    }
}

/* A group was created (66) or deleted (67): what was known of it is known no longer. */
static void receive_report(const uint8_t *notice) {
    const unsigned trap = rd16(notice + 4);
    for (struct group *g = groups + 1; g < groups + GROUPS; ++g) {
        if (!g->is_used || trap < 66 || trap > 67 || !same(g->mgid, notice + 16, GID)) continue;
        g->exists = g->is_missing = false;
        if (trap == 67) g->joined = 0;
    }
}

/* ---- Neighbours: RFC 4391, 9.1.2, 9.2 and 9.4 -------------------------------------------------------------- */

/* PathRecord, octet by octet. IBTA Vol 1, 15.2.5.16. */
enum { PATH_DGID = 8, PATH_SGID = 24, PATH_DLID = 40, PATH_FLOW_HOP = 44, PATH_TCLASS = 48, PATH_REVERSIBLE = 49 };
enum { PATH_P_KEY = 50, PATH_SL = 53, PATH_SIZE = 64 };
enum { TO_FIND_PATH = 1 << 2 | 1 << 3 | 1 << 11 | 1 << 12 | 1 << 13 }; /* GIDs, Reversible, NumbPath, P_Key */
enum { ARP_OPERATION = 6, ARP_SHA = 8, ARP_SPA = 28, ARP_THA = 32, ARP_TPA = 52, ARP_SIZE = 56 };
enum { ARP_REQUEST = 1, ARP_REPLY = 2 };
static const uint8_t arp_head[] = {0, 32, TYPE_IPV4 >> 8, TYPE_IPV4 & 0xff, LINK_ADDRESS, 4}; /* 32: InfiniBand */

static bool is_own(uint32_t ip) { return ip != 0 && ip == ipoib.ip; }
static bool is_broadcast(uint32_t ip) {
    return ip == limited_broadcast || (ipoib.mask < 0xfffffffe && ip == (ipoib.ip | ~ipoib.mask));
}
/* Whether `ip` is that of another node of the own network. */
static bool is_on_link(uint32_t ip) {
    return ipoib.ip != 0 && ((ip ^ ipoib.ip) & ipoib.mask) == 0 && !is_own(ip) && !is_broadcast(ip);
}

static struct neighbour *find_neighbour(uint32_t ip) {
    for (struct neighbour *n = neighbours; n < neighbours + NEIGHBOURS; ++n)
        if (n->is_used && n->ip == ip) return n;
    return NULL;
}

/* In a free place, or in that of the one that was confirmed longest ago. */
static struct neighbour *new_neighbour(uint32_t ip) {
    struct neighbour *place = neighbours;
    for (struct neighbour *n = neighbours; n < neighbours + NEIGHBOURS && place->is_used; ++n)
        if (!n->is_used || n->confirmed_at < place->confirmed_at) place = n;
    memset(place, 0, sizeof *place);
    place->is_used = true;
    place->ip = ip;
    place->confirmed_at = now();
    return place;
}

static void send_waiting(struct neighbour *n) {
    struct headers h = headers_to(n->dlid, n->sl, rd24(n->address + 1));
    memcpy(h.dgid, n->address + 4, GID);
    h.traffic_class = n->traffic_class;
    h.flow_label = n->flow_label;
    h.hop_limit = n->hop_limit;
    h.has_grh = !same(h.sgid, h.dgid, 8); /* it is in another IB subnet; within one a GRH is optional. RFC 4391, 6 */
    for (unsigned i = 0; i < n->waiting.count; ++i)
        send_packet(&h, n->waiting.item[i].type, n->waiting.item[i].octets, n->waiting.item[i].length);
    n->waiting.count = 0;
}

static void neighbour_is_confirmed(struct neighbour *n) {
    n->state = READY;
    n->confirmed_at = now();
    send_waiting(n);
}

static void path_found(unsigned index, unsigned status, const uint8_t *record) {
    struct neighbour *const n = &neighbours[index];
    if (!n->is_used || n->state != FINDING_PATH) return;
    if (status == 0 && !same(record + PATH_DGID, n->address + 4, GID)) return; /* of one that was here before */
    n->dlid = status == 0 ? rd16(record + PATH_DLID) : 0;
    if (n->dlid == 0 || n->dlid >= FIRST_MLID) {
        LOG("no path to %s: %s", ip_text(n->ip), status_text(status));
        n->is_used = false;
        return;
    }
    n->has_path = true;
    n->sl = record[PATH_SL] & 0xf;
    n->flow_label = rd32(record + PATH_FLOW_HOP) >> 8 & 0xfffff;
    n->hop_limit = record[PATH_FLOW_HOP + 3];
    n->traffic_class = record[PATH_TCLASS];
    neighbour_is_confirmed(n);
}

static void find_path(struct neighbour *n) {
    uint8_t record[PATH_SIZE] = {0};
    memcpy(record + PATH_DGID, n->address + 4, GID);
    port_gid(record + PATH_SGID);
    record[PATH_REVERSIBLE] = 0x80 | 1; /* and one path */
    wr16(record + PATH_P_KEY, ipoib.p_key);
    n->state = FINDING_PATH;
    n->has_path = false;
    ask_sa(GET, PATH_RECORD, TO_FIND_PATH, record, sizeof record, path_found, (unsigned)(n - neighbours));
}

static void send_arp_request(struct neighbour *n) {
    uint8_t arp[ARP_SIZE] = {0};
    memcpy(arp, arp_head, sizeof arp_head);
    wr16(arp + ARP_OPERATION, ARP_REQUEST);
    link_address(arp + ARP_SHA);
    wr32(arp + ARP_SPA, ipoib.ip);
    wr32(arp + ARP_TPA, n->ip);
    n->state = ASKING;
    n->due = now() + 1000;
    ++n->tries;
    output_to_group(limited_broadcast, TYPE_ARP, arp, sizeof arp);
}

static bool output_to_neighbour(uint32_t ip, unsigned type, const uint8_t *octets, size_t length) {
    if (!ipoib.is_up || length > ipoib.mtu || !is_on_link(ip)) return false;
    struct neighbour *n = find_neighbour(ip);
    /* The QPN in an address may change: it is confirmed from time to time. RFC 4391, 9.4 */
    const bool is_doubtful = !n || (n->state == READY && now() - n->confirmed_at > reachable_time);
    if (!n) n = new_neighbour(ip);
    const bool is_taken = put(&n->waiting, type, octets, length);
    if (is_doubtful) {
        n->tries = 0;
        n->has_path = false;
        send_arp_request(n);
    } else if (n->state == READY) {
        send_waiting(n);
    }
    return is_taken;
}

static void neighbours_step(void) {
    for (struct neighbour *n = neighbours; n < neighbours + NEIGHBOURS; ++n) {
        if (!n->is_used || n->state != ASKING || n->due > now()) continue;
        if (n->tries < 3) send_arp_request(n);
        else n->is_used = false; /* nobody answers */
    }
}

/* Takes in what an ARP packet says of its sender, the flags octet excepted. RFC 826; RFC 4391, 9.1.1. Who asks has no
 * address yet where it wants to know whether one is free (RFC 5227): its place is that of 0.0.0.0, for the reply. */
static struct neighbour *learn(uint32_t ip, const uint8_t *address, bool is_new_welcome) {
    const bool is_multicast_gid = address[4] == 0xff;
    const bool is_probe = ip == 0 && is_new_welcome;
    if ((!is_on_link(ip) && !is_probe) || is_multicast_gid) return NULL;
    struct neighbour *n = find_neighbour(ip);
    if (!n && is_new_welcome) n = new_neighbour(ip);
    if (!n) return NULL;
    const bool is_same = same(n->address + 1, address + 1, LINK_ADDRESS - 1);
    memcpy(n->address + 1, address + 1, LINK_ADDRESS - 1);
    if (is_probe && !is_same) n->waiting.count = 0; /* of another one */
    if (is_same && n->has_path) neighbour_is_confirmed(n);
    else if (!is_same || n->state != FINDING_PATH) find_path(n);
    return n;
}

static void receive_arp(const uint8_t *arp, size_t length) {
    if (length < ARP_SIZE || !same(arp, arp_head, sizeof arp_head)) return;
    const uint32_t sender = rd32(arp + ARP_SPA), target = rd32(arp + ARP_TPA);
    const bool is_request_for_me = rd16(arp + ARP_OPERATION) == ARP_REQUEST && is_own(target);
    struct neighbour *const n = learn(sender, arp + ARP_SHA, is_request_for_me);
    if (!n || !is_request_for_me) return;
    uint8_t reply[ARP_SIZE];
    memcpy(reply, arp_head, sizeof arp_head);
    wr16(reply + ARP_OPERATION, ARP_REPLY);
    link_address(reply + ARP_SHA);
    wr32(reply + ARP_SPA, target);
    memcpy(reply + ARP_THA, n->address, LINK_ADDRESS);
    wr32(reply + ARP_TPA, sender);
    put(&n->waiting, TYPE_ARP, reply, sizeof reply);
    if (n->state == READY) send_waiting(n);
}

/* ---- IPv4, ICMP echo and UDP: RFC 791, 792, 768 ------------------------------------------------------------ */

enum { IP_HEADER = 20, ICMP_HEADER = 8, UDP_HEADER = 8, PROTOCOL_ICMP = 1, PROTOCOL_UDP = 17, ECHO_ID = 0x4c4e };
enum { LONGEST_TRANSPORT = LONGEST_IP - IP_HEADER };

static struct {
    uint32_t ip;
    unsigned port;
} listeners[LISTENERS];
static unsigned listener_count, received_count;
static struct {
    uint32_t from, to;
    unsigned port, ttl;
    size_t length;
    uint8_t octets[LONGEST_IP];
} received[RECEIVED];
static struct {
    bool is_open;
    uint32_t to;
    unsigned sequence;
} ping;

static uint32_t sum16(uint32_t sum, const uint8_t *octets, size_t length) {
    for (size_t i = 0; i + 1 < length; i += 2) sum += rd16(octets + i);
    return length % 2 ? sum + ((uint32_t)octets[length - 1] << 8) : sum;
}
static unsigned checksum(uint32_t sum) {
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return ~sum & 0xffff;
}
static uint32_t pseudo_header(const uint8_t *ip, size_t length) {
    return sum16(PROTOCOL_UDP, ip + 12, 8) + (uint32_t)length;
}

/* Sends what `transport` wrote behind the IP header. False: there is no way to send it. */
static bool output_ip(uint8_t *packet, uint32_t to, unsigned protocol, unsigned ttl, size_t length) {
    static unsigned identification;
    memset(packet, 0, IP_HEADER);
    packet[0] = 0x45;
    wr16(packet + 2, IP_HEADER + length);
    wr16(packet + 4, ++identification);
    packet[6] = 0x40; /* not to be fragmented */
    packet[8] = (uint8_t)ttl;
    packet[9] = (uint8_t)protocol;
    wr32(packet + 12, ipoib.ip);
    wr32(packet + 16, to);
    wr16(packet + 10, checksum(sum16(0, packet, IP_HEADER)));
    if (protocol == PROTOCOL_UDP) {
        const unsigned sum = checksum(sum16(pseudo_header(packet, length), packet + IP_HEADER, length));
        wr16(packet + IP_HEADER + 6, sum ? sum : 0xffff);
    }
    if (is_multicast(to)) return output_to_group(to, TYPE_IPV4, packet, IP_HEADER + length);
    if (is_broadcast(to)) return output_to_group(limited_broadcast, TYPE_IPV4, packet, IP_HEADER + length);
    return output_to_neighbour(to, TYPE_IPV4, packet, IP_HEADER + length);
}

/* `icmp` begins with the type; the rest of the header and `size` octets follow it. */
static bool output_icmp(uint8_t *packet, uint32_t to, size_t length) {
    uint8_t *const icmp = packet + IP_HEADER;
    wr16(icmp + 2, 0);
    wr16(icmp + 2, checksum(sum16(0, icmp, length)));
    return output_ip(packet, to, PROTOCOL_ICMP, 64, length);
}

static void receive_icmp(uint32_t from, uint32_t to, const uint8_t *icmp, size_t length) {
    static uint8_t packet[LONGEST_IP];
    if (length < ICMP_HEADER || length > LONGEST_TRANSPORT || checksum(sum16(0, icmp, length)) != 0) return;
    if (icmp[0] == 0 && from == ping.to && rd16(icmp + 4) == ECHO_ID && rd16(icmp + 6) == ping.sequence)
        ping.is_open = false;
    if (icmp[0] != 8 || !is_own(to)) return;
    memcpy(packet + IP_HEADER, icmp, length);
    packet[IP_HEADER] = 0;
    output_icmp(packet, from, length);
}

static void receive_udp(const uint8_t *ip, uint32_t to, const uint8_t *udp, size_t available) {
    const size_t length = available < UDP_HEADER ? 0 : rd16(udp + 4);
    if (length < UDP_HEADER || length > available) return;
    if (rd16(udp + 6) != 0 && checksum(sum16(pseudo_header(ip, length), udp, length)) != 0) return;
    unsigned i = 0;
    while (i < listener_count &&
           (listeners[i].port != rd16(udp + 2) || (listeners[i].ip != to && listeners[i].ip != 0)))
        ++i;
    if (i == listener_count || received_count == RECEIVED) return;
    received[received_count].from = rd32(ip + 12);
    received[received_count].to = to;
    received[received_count].port = rd16(udp + 2);
    received[received_count].ttl = ip[8];
    received[received_count].length = length - UDP_HEADER;
    memcpy(received[received_count++].octets, udp + UDP_HEADER, length - UDP_HEADER);
}

static void receive_ip(const uint8_t *ip, size_t size) {
    if (size < IP_HEADER || ip[0] >> 4 != 4) return;
    const size_t header = (ip[0] & 0xfu) * 4, length = rd16(ip + 2);
    const unsigned more_fragments_or_offset = rd16(ip + 6) & 0x3fff;
    if (header < IP_HEADER || length < header || length > size || more_fragments_or_offset != 0) return;
    if (checksum(sum16(0, ip, header)) != 0) return;
    const uint32_t from = rd32(ip + 12), to = rd32(ip + 16);
    const struct group *const g = is_multicast(to) ? find_group(to, false) : NULL;
    if (!is_own(to) && !is_broadcast(to) && !(g && g->is_wanted)) return;
    if (ip[9] == PROTOCOL_ICMP) receive_icmp(from, to, ip + header, length - header);
    if (ip[9] == PROTOCOL_UDP) receive_udp(ip, to, ip + header, length - header);
}

/* ---- Frames that arrive, and the life of the interface ----------------------------------------------------- */

/* What a channel adapter drops before the interface sees it. IBTA Vol 1, 9.6 and 10.9.1.2; RFC 4391, 6 and 9.1. */
static bool is_for_the_interface(const struct headers *h) {
    const bool is_same_partition = ((h->p_key ^ ipoib.p_key) & 0x7fff) == 0 && ((h->p_key | ipoib.p_key) & 0x8000) != 0;
    if (!ipoib.is_up || h->q_key != ipoib.q_key || !is_same_partition) return false;
    if (h->dlid < FIRST_MLID) return h->dlid == port_lid() && h->dest_qp == QPN;
    uint8_t own[GID];
    port_gid(own);
    if (!h->has_grh || h->dest_qp != MULTICAST_QP || same(h->sgid, own, GID)) return false;
    for (const struct group *g = groups; g < groups + GROUPS; ++g)
        if (g->is_used && g->joined & FULL_MEMBER && g->mlid == h->dlid && same(g->mgid, h->dgid, GID)) return true;
    return false;
}

static void receive_frame(const uint8_t *frame, size_t size) {
    struct headers h;
    size_t length = 0;
    const uint8_t *const payload = take_apart(frame, size, &h, &length);
    if (!payload) return;
    if (h.dest_qp == 0) {
        if (length == MAD) receive_smp(&h, payload);
    } else if (h.dest_qp == 1) {
        if (length == MAD && is_active() && h.dlid == port_lid()) receive_gsi(&h, payload);
    } else if (length > ENCAP && is_for_the_interface(&h)) {
        /* Reserved is ignored; what has another Type is dropped. RFC 4391, 6 */
        if (rd16(payload) == TYPE_ARP) receive_arp(payload + ENCAP, length - ENCAP);
        if (rd16(payload) == TYPE_IPV4) receive_ip(payload + ENCAP, length - ENCAP);
    }
}

/* All that came from the subnet is void: the port came up, its LID, SM or P_Key changed, or the SM asks for it. */
static void interface_restart(void) {
    memset(requests, 0, sizeof requests);
    memset(neighbours, 0, sizeof neighbours);
    ipoib.is_up = false;
    ipoib.scope = 2;
    ipoib.p_key = rd16(port.p_keys);
    for (struct group *g = groups; g < groups + GROUPS; ++g) {
        g->is_asking = g->exists = g->is_missing = false;
        g->joined = g->refusal = g->waiting.count = 0;
        g->retry_at = g->pause = 0;
    }
    broadcast_group->is_used = true;
    broadcast_group->is_wanted = ipoib.is_wanted;
    broadcast_group->ip = limited_broadcast;
    map_group(broadcast_group);
}

/* Ends the subscriptions and leaves every group, the broadcast group last; the answers come later. */
static void interface_down(void) {
    memset(requests, 0, sizeof requests);
    if (ipoib.is_up) subscribe(false);
    for (struct group *g = groups + GROUPS; g-- > groups;) {
        if (g->is_asking && g->is_wanted) g->joined |= FULL_MEMBER; /* the answer may be on its way */
        if (g->is_used && g->joined) leave_group(g, g->joined);
    }
    ipoib.is_wanted = broadcast_group->is_wanted = ipoib.is_up = false;
    requests_step();
}

static void port_close(const char *why) {
    LOG("raw port: %s", why);
    if (port.descriptor >= 0) close(port.descriptor);
    port.descriptor = -1;
    port.in_length = port.out_length = 0;
    port.connect_at = now() + 200;
    port_reset();
    interface_restart();
}

static void port_connect(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int made = socket(AF_UNIX, SOCK_STREAM, 0);
    memcpy(address.sun_path, port.path, strlen(port.path)); /* which main() found short enough */
    port.connect_at = now() + 200;
    if (made >= 0 && connect(made, (const struct sockaddr *)&address, sizeof address) == 0) port.descriptor = made;
    else if (made >= 0) close(made);
}

/* Takes whole frames from what has arrived, as long as there is room for what they bring about. */
static void port_process(void) {
    size_t at = 0;
    while (port.in_length - at >= 2 && port_has_room()) {
        const size_t size = rd16(port.in + at);
        if (size != 0 && (size < SHORTEST_FRAME || size > LONGEST_FRAME)) {
            port_close("this is no length of a frame");
            return;
        }
        if (port.in_length - at < 2 + size) break;
        if (size > 0) {
            receive_frame(port.in + at + 2, size);
        } else { /* link down; it is up again with the next frame */
            port_reset();
            interface_restart();
        }
        at += 2 + size;
    }
    port.in_length -= at;
    memmove(port.in, port.in + at, port.in_length);
}

static void port_read(void) {
    const ssize_t count =
        recv(port.descriptor, port.in + port.in_length, sizeof port.in - port.in_length, MSG_DONTWAIT);
    if (count > 0) port.in_length += (size_t)count;
    else if (count == 0 || (errno != EAGAIN && errno != EINTR)) port_close("closed by the other side");
}

/* ---- Control: a line is a command, answered by a line ------------------------------------------------------ */

static const char later[] = "(answered later)", done[] = "(answered)",
                  no_way[] = "the link is down, or there is no way";
enum command { NOTHING, UP, JOIN, PING };
static struct {
    enum command what;
    struct group *group;
    int64_t until;
} pending;

static const char *await(enum command what, struct group *group, int64_t patience) {
    pending.what = what;
    pending.group = group;
    pending.until = now() + patience;
    return later;
}

static bool parse_ip(const char *text, uint32_t *ip) {
    struct in_addr address;
    if (!text || inet_pton(AF_INET, text, &address) != 1) return false;
    *ip = ntohl(address.s_addr);
    return true;
}
static bool parse_number(const char *text, unsigned most, unsigned *value) {
    char *end = NULL;
    const unsigned long number = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    if (!end || *end || number > most) return false;
    *value = (unsigned)number;
    return true;
}
static bool parse_hex(const char *text, uint8_t *octets, size_t most, size_t *length) {
    static const char digits[] = "0123456789abcdef";
    for (*length = 0; text && text[0]; text += 2) {
        const char *const high = strchr(digits, text[0]), *const low = text[1] ? strchr(digits, text[1]) : NULL;
        if (!high || !low || *length == most) return false;
        octets[(*length)++] = (uint8_t)((high - digits) << 4 | (low - digits));
    }
    return true;
}
static void print_hex(const uint8_t *octets, size_t length, const char *between) {
    for (size_t i = 0; i < length; ++i) printf("%s%02x", i ? between : "", octets[i]);
}

/* The words of the line that is obeyed. What obeys it gives NULL for "ok", or a text: why it failed. */
static char *word[6];

static const char *do_interface(void) {
    uint8_t address[LINK_ADDRESS];
    link_address(address);
    printf("ok up=%d mtu=%zu link_address=", ipoib.is_up, ipoib.is_up ? ipoib.mtu : 0);
    print_hex(address, sizeof address, ":");
    unsigned length = 0;
    while (length < 32 && ipoib.mask << length) ++length;
    if (ipoib.ip) printf(" ipv4=%s/%u", ip_text(ipoib.ip), length);
    for (const struct group *g = groups + 1; g < groups + GROUPS; ++g)
        if (g->is_used && g->is_wanted) printf(" group=%s", ip_text(g->ip));
    putchar('\n');
    return done;
}

static const char *do_up(void) {
    if (!ipoib.is_wanted) {
        ipoib.is_wanted = true;
        interface_restart();
    }
    return await(UP, broadcast_group, 3000);
}
static const char *do_down(void) {
    interface_down();
    return NULL;
}
static const char *do_restart(void) {
    interface_down();
    ipoib.is_wanted = true;
    port_close("restart");
    return NULL;
}

static const char *do_address(void) {
    const bool is_added = word[0][0] == 'a';
    char *const slash = word[1] ? strchr(word[1], '/') : NULL;
    uint32_t ip = 0;
    unsigned length = 0;
    if (slash) *slash = 0;
    if (!slash || !parse_ip(word[1], &ip) || !parse_number(slash + 1, 32, &length)) return "no ADDRESS/LENGTH";
    if (is_added ? ipoib.ip != 0 : ipoib.ip != ip)
        return is_added ? "there is one already" : "there is no such address";
    ipoib.ip = is_added ? ip : 0;
    ipoib.mask = is_added && length ? 0xffffffffu << (32 - length) : 0;
    memset(neighbours, 0, sizeof neighbours);
    return NULL;
}

static const char *join_for(bool is_socket) {
    uint32_t ip = 0;
    if (!parse_ip(word[1], &ip) || !is_multicast(ip)) return "no IPv4 group";
    struct group *const g = find_group(ip, true);
    if (!g) return "too many groups";
    g->is_wanted = true;
    *(is_socket ? &g->is_heard : &g->is_joined) = true;
    g->refusal = 0;
    g->retry_at = 0;
    return ipoib.is_up ? await(JOIN, g, 5000) : NULL;
}
static const char *do_join(void) { return join_for(false); }

/* The last one that is in the group leaves it at the SA. */
static const char *do_leave(void) {
    uint32_t ip = 0;
    struct group *const g = parse_ip(word[1], &ip) && is_multicast(ip) ? find_group(ip, false) : NULL;
    if (!g || !g->is_joined) return "it was not joined";
    g->is_joined = false;
    g->is_wanted = g->is_heard;
    return NULL;
}

static const char *do_send(void) {
    static uint8_t packet[LONGEST_IP];
    uint8_t *const udp = packet + IP_HEADER;
    uint32_t to = 0;
    unsigned to_port = 0, ttl = 0;
    size_t length = 0;
    if (!parse_ip(word[1], &to) || !parse_number(word[2], 65535, &to_port) || !parse_number(word[3], 255, &ttl) ||
        !parse_hex(word[4], udp + UDP_HEADER, LONGEST_TRANSPORT - UDP_HEADER, &length))
        return "send ADDRESS PORT TTL HEX";
    if (ipoib.is_up && IP_HEADER + UDP_HEADER + length > ipoib.mtu) return "the packet is too long";
    wr16(udp, 49152);
    wr16(udp + 2, to_port);
    wr16(udp + 4, UDP_HEADER + length);
    wr16(udp + 6, 0);
    /* A multicast packet without a group is dropped in silence. */
    const bool is_sent = output_ip(packet, to, PROTOCOL_UDP, ttl, UDP_HEADER + length);
    return is_sent || (ipoib.is_up && is_multicast(to)) ? NULL : no_way;
}

/* Listening on a group joins it. */
static const char *do_listen(void) {
    if (listener_count == LISTENERS || !parse_ip(word[1], &listeners[listener_count].ip) ||
        !parse_number(word[2], 65535, &listeners[listener_count].port))
        return "listen ADDRESS PORT, or too many";
    return is_multicast(listeners[listener_count++].ip) ? join_for(true) : NULL;
}

/* As many datagrams as a line should hold; the next request gets the others. */
static const char *do_received(void) {
    unsigned told = 0;
    fputs("ok", stdout);
    for (size_t octets = 0; told < received_count && octets < 16000; octets += received[told++].length) {
        printf(" %s,%s,%u,%u,", ip_text(received[told].from), ip_text(received[told].to), received[told].port,
               received[told].ttl);
        print_hex(received[told].octets, received[told].length, "");
    }
    putchar('\n');
    received_count -= told;
    memmove(received, received + told, received_count * sizeof received[0]);
    return done;
}

static const char *do_ping(void) {
    static uint8_t packet[LONGEST_IP];
    uint8_t *const icmp = packet + IP_HEADER;
    unsigned size = 0;
    if (!parse_ip(word[1], &ping.to) || !parse_number(word[2], LONGEST_TRANSPORT - ICMP_HEADER, &size))
        return "ping ADDRESS SIZE";
    memset(icmp, 0, ICMP_HEADER + size);
    icmp[0] = 8;
    wr16(icmp + 4, ECHO_ID);
    ping.sequence = (ping.sequence + 1) & 0xffff;
    wr16(icmp + 6, ping.sequence);
    ping.is_open = true;
    return output_icmp(packet, ping.to, ICMP_HEADER + size) ? await(PING, NULL, 3000) : no_way;
}

static const char *do_resolve(void) {
    uint32_t ip = 0;
    if (!parse_ip(word[1], &ip) || !ipoib.is_up || !is_on_link(ip)) return no_way;
    if (!find_neighbour(ip)) send_arp_request(new_neighbour(ip));
    return NULL;
}

static const char *do_neighbours(void) {
    fputs("ok", stdout);
    for (const struct neighbour *n = neighbours; n < neighbours + NEIGHBOURS; ++n) {
        if (!n->is_used || n->state == ASKING) continue;
        printf(" %s,", ip_text(n->ip));
        print_hex(n->address, LINK_ADDRESS, ":");
    }
    putchar('\n');
    return done;
}

static const char *do_flush(void) {
    memset(neighbours, 0, sizeof neighbours);
    return NULL;
}

/* In seconds: how long an address is believed, how long a sender stays in a group; 0: as it is. */
static const char *do_timers(void) {
    unsigned reachable = 0, sender = 0;
    if (!parse_number(word[1], 86400, &reachable) || !parse_number(word[2], 86400, &sender))
        return "timers SECONDS SECONDS";
    if (reachable) reachable_time = (int64_t)reachable * 1000;
    if (sender) sender_time = (int64_t)sender * 1000;
    return NULL;
}

static void obey(char *line) {
    enum { COMMANDS = 16 };
    static const struct {
        const char *name, *(*run)(void);
    } commands[COMMANDS] = {{"interface", do_interface}, {"up", do_up},
                            {"down", do_down},           {"restart", do_restart},
                            {"add", do_address},         {"remove", do_address},
                            {"join", do_join},           {"leave", do_leave},
                            {"send", do_send},           {"listen", do_listen},
                            {"received", do_received},   {"ping", do_ping},
                            {"resolve", do_resolve},     {"neighbours", do_neighbours},
                            {"flush", do_flush},         {"timers", do_timers}};
    size_t i = 0;
    memset(word, 0, sizeof word);
    for (size_t n = 0; n < 5 && (n == 0 || word[n - 1]); ++n) word[n] = strtok(n ? NULL : line, " ");
    while (i < COMMANDS && (!word[0] || strcmp(word[0], commands[i].name) != 0)) ++i;
    const char *const why = i < COMMANDS ? commands[i].run() : NULL;
    if (i == COMMANDS) puts("unsupported");
    else if (!why) puts("ok");
    else if (why != later && why != done) printf("failed %s\n", why);
}

/* Answers the command that waits, once it can be. */
static void pending_step(void) {
    const bool is_late = now() >= pending.until;
    const struct group *const g = pending.group;
    if (pending.what == UP && (ipoib.is_up || g->refusal || is_late)) puts("ok"); /* accepted; the rest is seen */
    else if (pending.what == JOIN && g->joined & FULL_MEMBER) puts("ok");
    else if (pending.what == JOIN && (g->refusal || is_late))
        printf("failed the SA refused to join: %s\n", status_text(g->refusal ? g->refusal : NO_ANSWER));
    else if (pending.what == PING && (!ping.is_open || is_late)) puts(ping.is_open ? "ok silent" : "ok answered");
    else return;
    pending.what = NOTHING;
}

/* ---- Main loop --------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t is_told_to_end;
static void tell_to_end(int signal_number) {
    (void)signal_number;
    is_told_to_end = 1;
}

static char input[1 << 14];
static size_t input_length;

/* False: there is no more, or a line that is too long. */
static bool read_input(void) {
    const size_t room = sizeof input - input_length;
    const ssize_t count = room > 0 ? read(STDIN_FILENO, input + input_length, room) : 0;
    if (count > 0) input_length += (size_t)count;
    return count > 0 || (count < 0 && errno == EINTR);
}

/* Commands are obeyed one after the other. */
static void obey_input(void) {
    char *end = NULL;
    while (pending.what == NOTHING && (end = memchr(input, '\n', input_length)) != NULL) {
        const size_t used = (size_t)(end - input) + 1;
        *end = 0;
        obey(input);
        input_length -= used;
        memmove(input, input + used, input_length);
    }
}

static void step(bool is_ending) {
    if (port.descriptor < 0 && now() >= port.connect_at && !is_ending) port_connect();
    port_process();
    if (!is_ending) groups_step();
    neighbours_step();
    requests_step();
    pending_step();
    obey_input();
    fflush(stdout);
}

static void wait_for_something(bool has_input) {
    enum { TICK = 20 }; /* ms: how exactly the timers are kept */
    const short port_events = (short)((port_has_room() ? POLLIN : 0) | (port.out_length > 0 ? POLLOUT : 0));
    struct pollfd polled[] = {{.fd = has_input ? STDIN_FILENO : -1, .events = POLLIN},
                              {.fd = port.descriptor, .events = port_events}};
    if (poll(polled, 2, TICK) <= 0) return;
    if (polled[1].revents & POLLOUT) port_flush();
    if (polled[1].revents & (POLLIN | POLLHUP | POLLERR)) port_read();
    if (polled[0].revents && !read_input()) is_told_to_end = 1;
}

static bool is_asking(void) {
    for (const struct request *r = requests; r < requests + REQUESTS; ++r)
        if (r->is_used) return true;
    return false;
}

int main(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--port") == 0) port.path = argv[i + 1];
        else if (strcmp(argv[i], "--guid") == 0) port.guid = strtoull(argv[i + 1], NULL, 16);
    }
    if (!port.path || strlen(port.path) >= sizeof((struct sockaddr_un *)0)->sun_path) {
        fputs("usage: ipoib_node --port PATH [--guid HEX]\n", stderr);
        return 2;
    }
    const struct sigaction action = {.sa_handler = tell_to_end}, ignored = {.sa_handler = SIG_IGN};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGPIPE, &ignored, NULL);
    port_reset();
    interface_restart();
    while (!is_told_to_end) {
        step(false);
        wait_for_something(true);
    }
    interface_down(); /* nothing is left behind on the subnet */
    for (const int64_t until = now() + 900; port.descriptor >= 0 && is_asking() && now() < until; step(true))
        wait_for_something(false);
    return 0;
}
