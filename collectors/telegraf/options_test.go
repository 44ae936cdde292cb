package telegraf

import (
	"testing"
	"time"

	upstream "github.com/influxdata/telegraf"

	"sextant/collectors/plugins"
)

// three is an input with three metrics.
func three(acc upstream.Accumulator) error {
	acc.AddGauge("disk", map[string]any{"used": 1, "free": 2.5}, map[string]string{"path": "/", "fstype": "ext4"})
	acc.AddCounter("disk", map[string]any{"used": uint64(3)}, map[string]string{"path": "/tmp", "fstype": "tmpfs"})
	acc.AddFields("other", map[string]any{"x": true}, nil)
	return nil
}

func TestOptionsOfAnInput(t *testing.T) {
	on(t, "three", three)
	for _, c := range []struct{ name, options, want string }{
		{"none", "", `disk_free{fstype="ext4",path="/"} 2.5
disk_used{fstype="tmpfs",path="/tmp"} 3
disk_used{fstype="ext4",path="/"} 1
other_x 1
`},
		{"override", "namepass = ['other']\nname_override = 'o'", "o_x 1\n"},
		{"prefix and suffix", "namepass = ['other']\nname_prefix = 'a_'\nname_suffix = '_z'", "a_other_z_x 1\n"},
		{"namedrop", "namedrop = ['disk']", "other_x 1\n"},
		{"fieldinclude", "fieldinclude = ['free']", "disk_free{fstype=\"ext4\",path=\"/\"} 2.5\n"},
		{"fieldpass, its old name", "fieldpass = ['free']", "disk_free{fstype=\"ext4\",path=\"/\"} 2.5\n"},
		{"fieldexclude", "namepass = ['disk']\nfieldexclude = ['used']", "disk_free{fstype=\"ext4\",path=\"/\"} 2.5\n"},
		{"tagpass", "[inputs.test_func.tagpass]\npath = ['/tmp']", "disk_used{fstype=\"tmpfs\",path=\"/tmp\"} 3\n"},
		{"tagdrop", "namepass = ['disk']\n[inputs.test_func.tagdrop]\nfstype = ['ext*']", "disk_used{fstype=\"tmpfs\",path=\"/tmp\"} 3\n"},
		{"tagexclude", "fieldinclude = ['free']\ntagexclude = ['fstype']", "disk_free{path=\"/\"} 2.5\n"},
		{"taginclude", "fieldinclude = ['free']\ntaginclude = ['fstype']", "disk_free{fstype=\"ext4\"} 2.5\n"},
		{"metricpass", "metricpass = 'name == \"other\"'", "other_x 1\n"},
		{"tags", "namepass = ['other']\n[inputs.test_func.tags]\nrack = 'r1'", "other_x{rack=\"r1\"} 1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := open(t, "[agent]\nomit_hostname = true\n[[inputs.test_func]]\ncall = 'three'\n"+c.options, plugins.Config{})
			if got := o.read(t); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestGlobalTagsAndHost(t *testing.T) {
	on(t, "three", three)
	t.Setenv("RACK", "r7")
	input := "[[inputs.test_func]]\ncall = 'three'\nnamepass = ['other']\n"
	for name, c := range map[string]struct{ text, want string }{
		"node":     {"[global_tags]\nrack = \"$RACK\"\n", "other_x{host=\"n1\",rack=\"r7\"} 1\n"},
		"hostname": {"[agent]\nhostname = 'h'\n[global_tags]\nrack = \"${ROW:-none}\"\n", "other_x{host=\"h\",rack=\"none\"} 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := open(t, c.text+input, plugins.Config{}).read(t); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestIntervalsAndNames(t *testing.T) {
	text := `[agent]
interval = "30s"
[[inputs.test_func]]
[[inputs.mem]]
interval = "5s"
[[inputs.test_func]]
[[inputs.test_func]]
alias = "third"
`
	o := open(t, text, plugins.Config{})
	want := []struct {
		name     string
		line     int
		interval time.Duration
	}{{"test_func", 3, 30e9}, {"mem", 4, 5e9}, {"test_func-2", 6, 30e9}, {"test_func:third", 7, 30e9}}
	if len(o.Plugins) != len(want) {
		t.Fatalf("%d plugins, want %d", len(o.Plugins), len(want))
	}
	for i, w := range want {
		if p := o.Plugins[i]; p.Name != w.name || p.line != w.line || p.Interval != w.interval {
			t.Errorf("%s in line %d every %s, want %+v", p.Name, p.line, p.Interval, w)
		}
	}
	if p := open(t, "[[inputs.mem]]\n", plugins.Config{}).Plugins[0]; p.Interval != 10*time.Second {
		t.Errorf("every %s, want the agent's 10s", p.Interval)
	}
}

func TestLabels(t *testing.T) {
	on(t, "labels", func(acc upstream.Accumulator) error {
		acc.AddGauge("m-1", map[string]any{"a.b": 1}, map[string]string{"x.y": "1", "x_y": "2", "__name__": "up", "9": "n", "é": "q"})
		return nil
	})
	got := open(t, "[agent]\nomit_hostname = true\n[[inputs.test_func]]\ncall = 'labels'\n", plugins.Config{}).read(t)
	if want := "m_1_a_b{x_y=\"1\"} 1\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
