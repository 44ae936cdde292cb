package telegraf

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sextant/collectors/plugins"
)

// TestHost reads this host with the plugins that each Telegraf has.
func TestHost(t *testing.T) {
	o := open(t, `
[[inputs.cpu]]
  percpu = false
  collect_cpu_time = true
[[inputs.mem]]
[[inputs.swap]]
[[inputs.disk]]
  mount_points = ["/"]
[[inputs.net]]
  interfaces = ["lo"]
  ignore_protocol_stats = true
[[inputs.kernel]]
[[inputs.processes]]
[[inputs.system]]
`, plugins.Config{})
	fs, err := o.Gather()
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, page(t, fs), `cpu_time_idle{cpu="cpu-total",host="n1"} `, `mem_used_percent{host="n1"} `, `swap_total{host="n1"} `,
		`disk_total{`, `net_bytes_recv{host="n1",interface="lo"} `, `kernel_context_switches{host="n1"} `, `processes_total{host="n1"} `, `system_load1{host="n1"} `)
	for name, want := range map[string]string{"cpu_time_idle": "COUNTER", "mem_used": "GAUGE", "system_load1": "GAUGE", "net_bytes_recv": "COUNTER", "kernel_boot_time": "COUNTER"} {
		if got := types(fs)[name]; got != want {
			t.Errorf("%s is a %s, want %s", name, got, want)
		}
	}
	var names []string
	for _, p := range o.Plugins {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "cpu mem swap disk net kernel processes system" {
		t.Errorf("plugins %s, want the order of the file", got)
	}
}

// TestCPUUsage: usage needs two readings of one plugin, so its state must stay.
func TestCPUUsage(t *testing.T) {
	o := open(t, "[[inputs.cpu]]\n  percpu = false\n", plugins.Config{})
	if first := page(t, first(t, o)); strings.Contains(first, "cpu_usage_idle") {
		t.Fatal(first)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) { // the kernel counts in ticks of 10 ms
		fs, err := o.Gather()
		if err == nil && strings.Contains(page(t, fs), `cpu_usage_idle{cpu="cpu-total",host="n1"} `) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no usage: %v", err)
		}
	}
}

func TestExecInfluxAndTimes(t *testing.T) {
	file := script(t, `echo 'job,queue=a\ b,tenant-id=t1 depth=3i,ok=true,state="busy" 1700000000400000000'
echo 'job,queue=c depth=4i'
`)
	o := open(t, fmt.Sprintf("[agent]\n omit_hostname = true\n[[inputs.exec]]\n commands = [%q]\n data_format = \"influx\"\n", file), plugins.Config{})
	wantLines(t, o.read(t),
		`job_depth{queue="c"} 4`+"\n",                                // its time is that of the scrape
		`job_depth{queue="a b",tenant_id="t1"} 3 1700000000000`+"\n", // its own, to the second
		`job_ok{queue="a b",tenant_id="t1"} 1 1700000000000`+"\n")
	if got := counter(t, o.reg, "sextant_telegraf_string_fields_dropped_total"); got != 1 {
		t.Errorf("%g string fields dropped, want 1", got)
	}
	labelled := open(t, fmt.Sprintf("[agent]\n omit_hostname = true\n[[inputs.exec]]\n commands = [%q]\n data_format = \"influx\"\n precision = \"1ms\"\n", file), plugins.Config{StringAsLabel: true})
	wantLines(t, labelled.read(t), `job_depth{queue="a b",state="busy",tenant_id="t1"} 3 1700000000400`+"\n")
	if got := counter(t, labelled.reg, "sextant_telegraf_string_fields_dropped_total"); got != 0 {
		t.Errorf("%g string fields dropped, want 0", got)
	}
}

// TestExecJSON: the default format of exec, with names from the plugin.
func TestExecJSON(t *testing.T) {
	o := open(t, fmt.Sprintf("[[inputs.exec]]\n commands = [%q]\n", script(t, `echo '{"a": {"b": 1.5}, "c": 2}'`)), plugins.Config{})
	wantLines(t, o.read(t), `exec_a_b{host="n1"} 1.5`+"\n", `exec_c{host="n1"} 2`+"\n")
}
