-- Each node as its agent and Kubernetes have it, newest: hardware is the agent's word, what
-- may run there is Kubernetes'. A node that only one of them knows has the columns of the
-- other empty; agent and kubernetes say who knows it. labels are the agent's own.
CREATE OR REPLACE VIEW {{.DB}}.nodes{{.OnCluster}} AS
SELECT
    if(i.node != '', i.node, k.node) AS node,
    if(i.node != '', i.since, k.since) AS since,
    if(i.node != '', i.collected, k.collected) AS collected,
    i.simulated AS simulated,
    i.hash AS hash,
    if(i.node != '', i.arch, transform(k.arch, ['amd64', 'arm64'], ['x86_64', 'aarch64'], k.arch)) AS arch,
    if(i.kernel != '', i.kernel, k.kernel) AS kernel,
    i.os AS os,
    i.os_version AS os_version,
    if(i.boot_id != '', i.boot_id, k.boot_id) AS boot_id,
    i.vendor AS vendor,
    i.product AS product,
    i.hypervisor AS hypervisor,
    i.cpu_model AS cpu_model,
    i.sockets AS sockets,
    i.cores AS cores,
    i.threads AS threads,
    i.memory_bytes AS memory_bytes,
    i.numa_nodes AS numa_nodes,
    i.accelerators AS accelerators,
    i.nics AS nics,
    if(i.region != '', i.region, k.region) AS region,
    if(i.zone != '', i.zone, k.zone) AS zone,
    if(i.rack != '', i.rack, k.rack) AS rack,
    i.switch AS switch,
    if(kubernetes, k.unschedulable, i.cordoned) AS cordoned,
    i.labels AS labels,
    if(kubernetes, k.labels, i.kubernetes_labels) AS kubernetes_labels,
    if(kubernetes, k.taints, i.taints) AS taints,
    if(kubernetes, k.allocatable, i.allocatable) AS allocatable,
    i.faults AS faults,
    toUInt8(i.node != '') AS agent,
    toUInt8(k.node != '') AS kubernetes,
    k.cluster AS cluster,
    if(kubernetes, toNullable(k.since), NULL) AS kubernetes_since,
    if(kubernetes, toNullable(k.ready), NULL) AS ready,
    k.ready_since AS ready_since,
    if(kubernetes, toNullable(k.schedulable), NULL) AS schedulable,
    k.trouble AS trouble,
    k.created AS created,
    k.provider_id AS provider_id,
    k.annotations AS annotations,
    k.capacity AS capacity,
    k.capacity_amounts AS capacity_amounts,
    k.allocatable_amounts AS allocatable_amounts,
    k.addresses AS addresses,
    k.kubelet AS kubelet,
    k.runtime AS runtime,
    k.os_image AS os_image
FROM
(
    SELECT * FROM
    (
        SELECT * FROM {{.DB}}.inventories ORDER BY ingest DESC, since DESC LIMIT 1 BY node
    )
    WHERE removed = 0
) AS i
FULL OUTER JOIN
(
    SELECT * FROM {{.DB}}.kubernetes_nodes ORDER BY ingest DESC, cluster LIMIT 1 BY node
) AS k ON k.node = i.node
ORDER BY node
