# SPDX-License-Identifier: GPL-2.0-or-later
"""Why some functions of the driver are beyond frames, and beyond what a host's interface is asked for: patterns of
"file:function", the first that matches."""

_UNLOADED = "The module is unloaded"
_GONE = "The adapter goes away"
_DEBUGFS, _SYSFS = "Files of debugfs", "Files of sysfs"
_NETLINK = "netlink: attributes of a link, a path resolver in user space"
_OTHER_QUERIES = "Queries that ib_ipoib does not make"
_OTHER_USERS = "Users of ib_core and ib_cm other than ib_ipoib"
_ERRORS = "Errors of the adapter itself"
_ADMINISTRATOR = "An administrator's requests that adapters of DUTs have no name for"

REASONS: tuple[tuple[str, str], ...] = (
    (r".*:(?:__bpf_trace|__traceiter|perf_trace|trace_event_raw_event|trace_raw_output)_\w+|mad.c:create_mad_addr_info",
     "Trace points that nobody has turned on"),
    (r".*:(?:\w+_)?(?:cleanup|exit)(?:_\w+)?", _UNLOADED),
    (r".*:ipoib_unregister_\w+|sa_query.c:ib_sa_unregister_client", _UNLOADED),
    (r".*:\w*(?:remove_one|remove_client|port_close|remove_device)|cm.c:cm_(?:remove_\w+|dev_release)", _GONE),
    (r"mad.c:destroy_mad_qp|ipoib_main.c:ipoib_parent_unregister_pre|ipoib_cm.c:ipoib_cm_dma_unmap_rx", _GONE),
    (r".*:\w*debug\w*|ipoib_fs.c:.*|.*:\w*seq_(?:start|next|stop|show)|mad.c:format_gid", _DEBUGFS),
    (r"ipoib_multicast.c:ipoib_mcast_iter_\w+|ipoib_main.c:ipoib_path_iter_\w+", _DEBUGFS),
    (r".*:\w*(?:_show|_store|_show_counter)|ipoib_main.c:ipoib_add_\w+_attr|ipoib_vlan.c:ipoib_vlan_\w+", _SYSFS),
    (r"ipoib_main.c:(?:ipoib_set_umcast|set_base_guid|ipoib_set_mac|ipoib_ioctl)", _ADMINISTRATOR),
    (r"ipoib_ethtool.c:.*", "ethtool"),
    (r"ipoib_netlink.c:.*|sa_query.c:ib_(?:nl|make_nl)_\w*", _NETLINK),
    (r".*:\w*_vf_\w*", "Virtual functions of an adapter"),
    (r".*:\w*opa\w*", "Omni-Path"),
    (r"multicast.c:ib_init_ah_from_mcmember|.*:\w*roce\w*", "RoCE"),
    (r"sa_query.c:ib_sa_(?:service_rec|guid_?info|classport)\w*|multicast.c:ib_sa_get_mcmember_rec", _OTHER_QUERIES),
    (r"sa_query.c:ib_sa_(?:un)?pack_path", _OTHER_USERS),
    (r"cm.c:\w*_(?:sidr|lap|apr|mra)(?:_\w+)?", "SIDR, LAP, APR and MRA, which IPoIB does not use"),
    (r"cm.c:(?:ib_cm_(?:insert_listen|notify)|cm_establish|ibcm_reject_msg)", _OTHER_USERS),
    (r"mad.c:\w*(?:rmpp|vendor|oui|snoop)\w*", "RMPP and vendor classes: agents that neither ib_sa nor ib_cm is"),
    (r"ipoib_main.c:ipoib_(?:get_net_dev_by_\w+|match_\w+|is_dev_match_\w+|upper_walk)", "rdma_cm asks for an interface"),
    (r"ipoib_cm.c:\w*nonsrq\w*", "Adapters without SRQs"),
    (r".*:qp_event_handler|ipoib_ib.c:ipoib_qp_state_validate_work|ipoib_main.c:ipoib_timeout", _ERRORS),
)
