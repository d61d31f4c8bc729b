// SPDX-License-Identifier: GPL-2.0-only
/* A virtual InfiniBand fabric: adapters, switches, raw ports, and the cables between them. */
#define pr_fmt(fmt) "vib: " fmt
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "vib_capture.h"
#include "vib_control.h"
#include "vib_fabric.h"
#include "vib_hca.h"
#include "vib_link.h"
#include "vib_raw.h"
#include "vib_switch.h"

#define MAX_HCAS 64
#define MAX_RAWS 64
#define MAX_SWITCHES 16
#define MAX_CABLES (MAX_HCAS + MAX_RAWS + MAX_SWITCHES)

#define SWITCH_GUID 0x0002c9b100000000ULL
#define HCA_GUID 0x0002c9b200000000ULL
#define GUID_STEP 0x100

static unsigned int hcas = 2;
module_param(hcas, uint, 0444);
MODULE_PARM_DESC(hcas, "channel adapters, vib0 and on");
static unsigned int raws = 2;
module_param(raws, uint, 0444);
MODULE_PARM_DESC(raws, "raw ports, /dev/vibraw0 and on");
static unsigned int switches = 1;
module_param(switches, uint, 0444);
MODULE_PARM_DESC(switches, "switches in a chain; nodes are spread over them in turn");
static bool direct;
module_param(direct, bool, 0444);
MODULE_PARM_DESC(direct, "no switch: adapter and raw port of the same number are cabled to each other");
static unsigned int mtu[MAX_HCAS];
static int mtus;
module_param_array(mtu, uint, &mtus, 0444);
MODULE_PARM_DESC(mtu, "MTU of each adapter as code, 1 (256) to 5 (4096); 4 (2048) unless given");
static bool enhanced;
module_param(enhanced, bool, 0444);
MODULE_PARM_DESC(enhanced, "IPoIB's datagrams go by the adapter's own driver (rdma_netdev), not by ib_ipoib");
static bool block_loopback;
module_param(block_loopback, bool, 0444);
MODULE_PARM_DESC(block_loopback, "with enhanced: multicast comes to no interface on the port that has sent it");
static unsigned long long guid = HCA_GUID + 1;
module_param(guid, ullong, 0444);
MODULE_PARM_DESC(guid, "port GUID of the first adapter; the others follow");
static unsigned long long seed = 1;
module_param(seed, ullong, 0444);
MODULE_PARM_DESC(seed, "of the random faults");

static struct vib_hca *hca[MAX_HCAS];
static struct vib_raw *raw[MAX_RAWS];
static struct vib_switch *sw[MAX_SWITCHES];
static struct vib_link *link[MAX_CABLES];
static unsigned int links, registered_hcas, registered_raws;

static int check_parameters(void)
{
	int i;

	if (hcas > MAX_HCAS || raws > MAX_RAWS) {
		pr_err("at most %u adapters and %u raw ports\n", MAX_HCAS, MAX_RAWS);
		return -EINVAL;
	}
	if (!direct && (switches < 1 || switches > MAX_SWITCHES)) {
		pr_err("1 to %u switches\n", MAX_SWITCHES);
		return -EINVAL;
	}
	for (i = 0; i < mtus; i++)
		if (mtu[i] < IB_MTU_256 || mtu[i] > IB_MTU_4096) {
			pr_err("MTU code %u is none of 1 to 5\n", mtu[i]);
			return -EINVAL;
		}
	return 0;
}

static int cable(struct vib_end *a, struct vib_end *b)
{
	/* Each cable has two seeds. */
	struct vib_link *made = vib_connect(a, b, seed + 2 * links);

	if (!made)
		return -ENOMEM;
	link[links++] = made;
	return 0;
}

static int create_hca(unsigned int unit)
{
	const struct vib_hca_config config = {
		.unit = unit,
		.node_guid = guid + unit * GUID_STEP - 1,
		.port_guid = guid + unit * GUID_STEP,
		.mtu = unit < mtus ? mtu[unit] : IB_MTU_2048,
		.is_enhanced = enhanced,
		.blocks_loopback = block_loopback,
	};
	struct vib_hca *made = vib_hca_create(&config);

	if (IS_ERR(made))
		return PTR_ERR(made);
	hca[unit] = made;
	return 0;
}

static int create_raw(unsigned int unit)
{
	struct vib_raw *made = vib_raw_create(unit);

	if (IS_ERR(made))
		return PTR_ERR(made);
	raw[unit] = made;
	return 0;
}

static int create_nodes(void)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < hcas && !error; i++)
		error = create_hca(i);
	for (i = 0; i < raws && !error; i++)
		error = create_raw(i);
	return error;
}

/* Of count nodes in turn over the switches, those on this one. */
static unsigned int share(unsigned int count, unsigned int unit)
{
	return (count + switches - 1 - unit) / switches;
}

static int create_switch(unsigned int unit)
{
	unsigned int neighbours = (unit > 0) + (unit + 1 < switches);
	unsigned int ports = share(hcas, unit) + share(raws, unit) + neighbours;
	struct vib_switch *made = vib_switch_create(unit, SWITCH_GUID + unit * GUID_STEP, max(ports, 1u), IB_MTU_4096);

	if (IS_ERR(made))
		return PTR_ERR(made);
	sw[unit] = made;
	return 0;
}

/* Ports are used in this order: adapters, raw ports, the next switch, the one before. */
static int cable_switch(unsigned int unit)
{
	unsigned int port = 1, i;
	int error = 0;

	for (i = unit; i < hcas && !error; i += switches)
		error = cable(vib_hca_end(hca[i]), vib_switch_end(sw[unit], port++));
	for (i = unit; i < raws && !error; i += switches)
		error = cable(vib_raw_end(raw[i]), vib_switch_end(sw[unit], port++));
	if (unit + 1 < switches && !error) {
		unsigned int nodes = share(hcas, unit + 1) + share(raws, unit + 1);
		unsigned int their_port = nodes + (unit + 2 < switches) + 1;

		error = cable(vib_switch_end(sw[unit], port), vib_switch_end(sw[unit + 1], their_port));
	}
	return error;
}

static int build_switched(void)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < switches && !error; i++)
		error = create_switch(i);
	for (i = 0; i < switches && !error; i++)
		error = cable_switch(i);
	return error;
}

static int build_direct(void)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < min(hcas, raws) && !error; i++)
		error = cable(vib_hca_end(hca[i]), vib_raw_end(raw[i]));
	return error;
}

/* From here on the kernel and processes use them. */
static int register_nodes(void)
{
	int error;

	for (; registered_raws < raws; registered_raws++) {
		error = vib_raw_register(raw[registered_raws]);
		if (error)
			return error;
	}
	for (; registered_hcas < hcas; registered_hcas++) {
		error = vib_hca_register(hca[registered_hcas]);
		if (error)
			return error;
	}
	return 0;
}

/* First those who send, then the cables, with all that is on its way; then what they connected. */
static void tear_down(void)
{
	unsigned int i;

	for (i = 0; i < registered_hcas; i++)
		vib_hca_unregister(hca[i]);
	for (i = 0; i < registered_raws; i++)
		vib_raw_unregister(raw[i]);
	while (links)
		vib_disconnect(link[--links]);
	for (i = 0; i < MAX_HCAS; i++)
		if (hca[i])
			vib_hca_destroy(hca[i]);
	for (i = 0; i < MAX_RAWS; i++)
		if (raw[i])
			vib_raw_destroy(raw[i]);
	for (i = 0; i < MAX_SWITCHES; i++)
		if (sw[i])
			vib_switch_destroy(sw[i]);
}

static int build(void)
{
	int error = create_nodes();

	if (!error)
		error = direct ? build_direct() : build_switched();
	if (!error)
		error = register_nodes();
	if (error)
		tear_down();
	return error;
}

static int __init vib_init(void)
{
	int error = check_parameters();

	if (error)
		return error;
	error = vib_fabric_init();
	if (error)
		return error;
	error = vib_capture_init();
	if (error)
		goto no_capture;
	error = build();
	if (error)
		goto no_nodes;
	vib_control_init();
	return 0;

no_nodes:
	vib_capture_exit();
no_capture:
	vib_fabric_exit();
	return error;
}

static void __exit vib_exit(void)
{
	vib_control_exit();
	tear_down();
	vib_capture_exit();
	vib_fabric_exit();
}

module_init(vib_init);
module_exit(vib_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Virtual InfiniBand adapters, switches and raw ports");
