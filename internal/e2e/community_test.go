package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"sextant/internal/testkit/grafanakit"
)

// kernel stands for: there are series where the kernel tells.
const kernel = "the kernel may not tell"

// community are queries of well-known dashboards: "Node Exporter Full" (1860), the one of
// dcgm-exporter (12239) and "Kubernetes / Compute Resources". why says why there is no answer;
// docs/promql.md tells it to users. {n} stands for the selection of a node, [r] for a range.
var community = []struct{ expr, why string }{
	{`100 * (1 - avg(rate(node_cpu_seconds_total{mode="idle", {n}}[r])))`, ""},
	{`scalar(node_load1{{n}}) * 100 / count(count(node_cpu_seconds_total{{n}}) by (cpu))`, ""},
	{`clamp_min((1 - (node_memory_MemAvailable_bytes{{n}} / node_memory_MemTotal_bytes{{n}})) * 100, 0)`, ""},
	{`((node_memory_SwapTotal_bytes{{n}} - node_memory_SwapFree_bytes{{n}}) / (node_memory_SwapTotal_bytes{{n}})) * 100`, ""},
	{`100 - ((node_filesystem_avail_bytes{{n},mountpoint="/",fstype!="rootfs"} * 100) / node_filesystem_size_bytes{{n},mountpoint="/",fstype!="rootfs"})`, ""},
	{`100 - ((node_filesystem_avail_bytes{{n},device!~'rootfs'} * 100) / node_filesystem_size_bytes{{n},device!~'rootfs'})`, ""},
	{`count(count(node_cpu_seconds_total{{n}}) by (cpu))`, ""},
	{`node_memory_MemTotal_bytes{{n}}`, ""},
	{`node_time_seconds{{n}} - node_boot_time_seconds{{n}}`, ""},
	{`irate(node_pressure_cpu_waiting_seconds_total{{n}}[r])`, kernel},
	{`irate(node_pressure_memory_waiting_seconds_total{{n}}[r])`, kernel},
	{`irate(node_pressure_io_waiting_seconds_total{{n}}[r])`, kernel},
	{`sum(irate(node_cpu_seconds_total{{n}, mode="system"}[r])) / scalar(count(count(node_cpu_seconds_total{{n}}) by (cpu)))`, ""},
	{`sum by(instance) (irate(node_cpu_seconds_total{{n}, mode!='idle',mode!='user',mode!='system',mode!='iowait',mode!='irq',mode!='softirq'}[r])) / on(instance) group_left sum by (instance)((irate(node_cpu_seconds_total{{n}}[r])))`, ""},
	{`node_memory_MemTotal_bytes{{n}} - node_memory_MemFree_bytes{{n}} - (node_memory_Cached_bytes{{n}} + node_memory_Buffers_bytes{{n}} + node_memory_SReclaimable_bytes{{n}})`, ""},
	{`node_memory_Cached_bytes{{n}} + node_memory_Buffers_bytes{{n}} + node_memory_SReclaimable_bytes{{n}}`, ""},
	{`node_memory_Slab_bytes{{n}}`, ""}, {`node_memory_PageTables_bytes{{n}}`, ""}, {`node_memory_Committed_AS_bytes{{n}}`, ""}, {`node_memory_HugePages_Total{{n}}`, ""},
	{`irate(node_network_receive_bytes_total{{n}}[r])*8`, ""}, {`irate(node_network_transmit_packets_total{{n}}[r])`, ""}, {`irate(node_network_receive_errs_total{{n}}[r])`, ""},
	{`node_network_mtu_bytes{{n}}`, ""}, {`node_arp_entries{{n}}`, ""},
	{`irate(node_disk_reads_completed_total{{n},device=~"[a-z]+|nvme[0-9]+n[0-9]+|mmcblk[0-9]+"}[r])`, ""}, {`irate(node_disk_read_bytes_total{{n},device=~"[a-z]+|nvme[0-9]+n[0-9]+"}[r])`, ""},
	{`irate(node_disk_io_time_seconds_total{{n},device=~"[a-z]+|nvme[0-9]+n[0-9]+"}[r])`, ""},
	{`irate(node_disk_read_time_seconds_total{{n}}[r]) / irate(node_disk_reads_completed_total{{n}}[r])`, ""},
	{`irate(node_vmstat_pgfault{{n}}[r])`, ""}, {`irate(node_vmstat_pswpin{{n}}[r])`, kernel}, {`irate(node_vmstat_oom_kill{{n}}[r])`, kernel},
	{`node_procs_running{{n}}`, ""}, {`irate(node_forks_total{{n}}[r])`, ""}, {`irate(node_context_switches_total{{n}}[r])`, ""}, {`irate(node_intr_total{{n}}[r])`, ""}, {`node_load15{{n}}`, ""},
	{`irate(node_schedstat_running_seconds_total{{n}}[r])`, kernel}, {`node_filefd_allocated{{n}}`, ""}, {`node_entropy_available_bits{{n}}`, kernel},
	{`node_timex_estimated_error_seconds{{n}}`, kernel}, {`node_timex_sync_status{{n}}`, kernel},
	{`node_sockstat_TCP_alloc{{n}}`, ""}, {`node_sockstat_sockets_used{{n}}`, ""}, {`node_netstat_Tcp_CurrEstab{{n}}`, ""}, {`irate(node_netstat_Tcp_InSegs{{n}}[r])`, ""}, {`irate(node_netstat_Udp_InDatagrams{{n}}[r])`, ""},
	{`node_filesystem_avail_bytes{{n},device!~'rootfs'}`, ""}, {`node_filesystem_files_free{{n},device!~'rootfs'}`, ""}, {`node_filesystem_readonly{{n},device!~'rootfs'}`, ""},
	{`node_scrape_collector_duration_seconds{{n}}`, ""}, {`node_scrape_collector_success{{n}}`, ""},
	{`up{{n}}`, ""},
	{`node_systemd_units{{n},state="active"}`, "off in node_exporter unless it is asked for"},
	{`irate(node_interrupts_total{{n}}[r])`, "off in node_exporter unless it is asked for"},
	{`irate(process_cpu_seconds_total{{n}}[r])`, "the collectors run in the agent, whose own metrics have the job sextant-agent"},
	{`process_resident_memory_bytes{{n}}`, "the collectors run in the agent, whose own metrics have the job sextant-agent"},
	{`process_resident_memory_bytes{job="sextant-agent"}`, ""},

	{`avg(DCGM_FI_DEV_GPU_TEMP{instance=~".+", gpu=~".+"})`, "accel_temp_celsius{vendor=\"nvidia\",sensor=\"core\"}"},
	{`sum(DCGM_FI_DEV_POWER_USAGE{instance=~".+", gpu=~".+"})`, "accel_power_watts{vendor=\"nvidia\"}"},
	{`DCGM_FI_DEV_SM_CLOCK{instance=~".+", gpu=~".+"} * 1000000`, "accel_clock_hertz{vendor=\"nvidia\",domain=\"core\"}"},
	{`DCGM_FI_DEV_GPU_UTIL{instance=~".+", gpu=~".+"}`, "100 * accel_busy_ratio{vendor=\"nvidia\"}"},
	{`DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{instance=~".+", gpu=~".+"}`, "accel_compute_ratio{vendor=\"nvidia\",pipe=\"tensor\"}"},
	{`DCGM_FI_DEV_FB_USED{instance=~".+", gpu=~".+"}`, "accel_mem_used_bytes{vendor=\"nvidia\"} / 2^20"},

	{`sum(rate(container_cpu_usage_seconds_total{container!=""}[r])) by (namespace)`, ""},
	{`sum(container_memory_working_set_bytes{container!=""}) by (namespace)`, ""},
	{`sum(irate(container_network_receive_bytes_total{namespace=~".+"}[r])) by (pod)`, ""},
}

// askCommunity asks all of them of this host's own telemetry and of simulated devices. A
// vendor's metric has no series under its own name, and the canonical expression has.
func (l *line) askCommunity(t *testing.T) {
	answered := 0
	ask := func(expr string) int {
		t.Helper()
		expr = strings.NewReplacer("{n}", `instance="n1",job="node"`, "[r]", "[1m]").Replace(expr)
		n, err := grafanakit.AskProm(t.Context(), l.api, expr)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
		}
		return n
	}
	for _, c := range community {
		n := ask(c.expr)
		if n > 0 {
			answered++
		}
		if (n > 0) != (c.why == "") && c.why != kernel {
			t.Errorf("%s gives %d series, and the table says %q", c.expr, n, c.why)
		}
		if strings.Contains(c.why, "accel_") && ask(c.why) == 0 {
			t.Errorf("%s gives no series in place of %s", c.why, c.expr)
		}
	}
	t.Logf("%d of %d queries of the community's dashboards give data", answered, len(community))
	for path, want := range map[string]string{
		"label/job/values?match[]=" + url.QueryEscape("node_uname_info"):                         "node",
		"label/nodename/values?match[]=" + url.QueryEscape(`node_uname_info{job="node"}`):        "",
		"label/instance/values?match[]=" + url.QueryEscape(`node_uname_info{job="node"}`):        "n1",
		"label/namespace/values?match[]=" + url.QueryEscape(`container_cpu_usage_seconds_total`): "",
	} {
		if err := l.labelHas(path, want); err != nil {
			t.Errorf("variable %s: %v", path, err)
		}
	}
}

// labelHas wants a variable's values to be there, and one of them to be want.
func (l *line) labelHas(path, want string) error {
	text, err := get("http://" + l.api + "/api/v1/" + path)
	if err != nil {
		return err
	}
	var a struct{ Data []string }
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return err
	}
	if len(a.Data) == 0 || want != "" && !slices.Contains(a.Data, want) {
		return fmt.Errorf("%q, want %q among them", a.Data, want)
	}
	return nil
}
