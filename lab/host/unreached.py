# SPDX-License-Identifier: GPL-2.0-or-later
"""Why some functions of the driver are beyond frames and beyond what a host's interface is asked for: patterns of
"file:function", the first that matches."""

REASONS: tuple[tuple[str, str], ...] = (
    (r".*:(?:__bpf_trace|__traceiter|perf_trace|trace_event_raw_event|trace_raw_output)_\w+", "Trace points that nobody has turned on"),
    (r".*:(?:\w+_)?(?:cleanup|exit)(?:_\w+)?|.*:ipoib_unregister_\w+|.*:ib_(?:sa|mad|mcast)_cleanup|.*:cleanup_module", "The module is unloaded"),
    (r".*:\w*(?:remove_one|remove_client|port_close|unregister_device)\w*|sa_query.c:ib_sa_remove_one|cm.c:cm_remove_\w+"
     r"|multicast.c:mcast_remove_one|mad.c:(?:ib_mad_remove_device|destroy_mad_qp|unregister_mad_\w+)", "The adapter goes away"),
    (r".*:\w*debug\w*|ipoib_fs.c:.*|.*:\w*seq_(?:start|next|stop|show)", "Files of debugfs"),
    (r"ipoib_multicast.c:ipoib_mcast_iter_\w+|ipoib_main.c:ipoib_path_iter_\w+|mad.c:format_gid", "Files of debugfs"),
    (r".*:\w*(?:_show|_store)|.*:(?:show|store)_\w+|cm.c:cm_show_counter", "Files of sysfs"),
    (r"ipoib_ethtool.c:.*|.*:\w*(?:get|set)_coalesce\w*", "ethtool"),
    (r"ipoib_netlink.c:.*|.*:\w*_(?:newlink|changelink|fill_info|nl_\w+)|sa_query.c:ib_(?:nl|make_nl|nl_\w+)\w*|sa_query.c:\w*_nl_\w*",
     "netlink: attributes of a link, a path resolver in user space"),
    (r".*:\w*(?:vf|_vf_)\w*", "Virtual functions of an adapter"),
    (r".*:\w*opa\w*", "Omni-Path"),
    (r"multicast.c:ib_init_ah_from_mcmember|sa_query.c:\w*roce\w*|.*:\w*(?:gid_change|roce)\w*", "RoCE"),
    (r"sa_query.c:ib_sa_(?:service_rec|guid_info|classport\w*|get_mcmember)\w*|multicast.c:ib_sa_get_mcmember_rec",
     "Queries that ib_ipoib does not make"),
    (r"cm.c:(?:ib_)?(?:cm_)?\w*(?:sidr|lap|apr|mra|alt)\w*", "SIDR, LAP, APR and MRA, which IPoIB does not use"),
    (r"cm.c:ib_cm_(?:insert_listen|notify|init_qp_attr)|cm.c:cm_(?:establish|migrate|init_qp_\w+)",
     "Users of ib_cm other than ib_ipoib"),
    (r"mad.c:\w*(?:rmpp|vendor|oui|snoop)\w*", "RMPP, vendor classes: agents that neither ib_sa nor ib_cm is"),
    (r"ipoib_main.c:ipoib_(?:get_netdev|match_\w+|get_net_dev_\w+|intf_alloc)\w*", "rdma_cm asks for an interface"),
    (r"ipoib_cm.c:\w*(?:nonsrq)\w*", "Adapters without SRQs"),
)
