package simulate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"sextant/internal/config"
)

// Load reads a cluster file. File names in it are relative to it.
func Load(file string) (*Config, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, config.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if len(text) > config.MaxBytes {
		return nil, fmt.Errorf("%s: larger than %d bytes", file, config.MaxBytes)
	}
	c, err := Parse(file, text)
	if err != nil {
		return nil, err
	}
	for _, p := range []*string{&c.Workload.Trace.Duty, &c.Workload.Trace.Memory} {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(filepath.Dir(file), *p)
		}
	}
	return c, nil
}

// Parse reads the text of a cluster file strictly, fills in defaults and checks it. It
// returns every fault at once, each as name:line: message.
func Parse(name string, text []byte) (*Config, error) {
	c := &Config{}
	if err := config.Decode(name, text, c); err != nil {
		return nil, err
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c.setDefaults()
	k := &check{file: name, root: &root}
	k.config(c)
	return c, errors.Join(k.faults...)
}

// check collects the faults of a configuration, with the line of the key at fault.
type check struct {
	file   string
	root   *yaml.Node
	faults []error
}

// fault notes one, at the deepest key of the path that is in the file. A path is made of
// keys and indices.
func (k *check) fault(at []any, format string, args ...any) {
	k.faults = append(k.faults, fmt.Errorf("%s:%d: %s", k.file, lineOf(k.root, at), fmt.Sprintf(format, args...)))
}

func lineOf(n *yaml.Node, at []any) int {
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	line := max(n.Line, 1)
	for _, step := range at {
		var key *yaml.Node
		if key, n = child(n, step); n == nil {
			break
		}
		line = key.Line
	}
	return line
}

// child returns where a key stands, and its value.
func child(n *yaml.Node, step any) (key, value *yaml.Node) {
	switch s := step.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && s < len(n.Content) {
			return n.Content[s], n.Content[s]
		}
	case string:
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == s {
				return n.Content[i], n.Content[i+1]
			}
		}
	}
	return nil, nil
}

var groupName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

func (k *check) config(c *Config) {
	if len(c.Groups) == 0 {
		k.fault([]any{"groups"}, "groups: at least one")
	}
	names, nodes, units := map[string]bool{}, 0, 0
	for i := range c.Groups {
		g, at := &c.Groups[i], []any{"groups", i}
		if names[g.Name] {
			k.fault(append(at, "name"), "name: %q is already a group", g.Name)
		}
		names[g.Name] = true
		nodes += max(g.Nodes, 0)
		units += max(g.Nodes, 0) * k.group(g, at)
	}
	if nodes > maxNodes {
		k.fault([]any{"groups"}, "groups: %d nodes, limit %d", nodes, maxNodes)
	}
	if units > maxUnits {
		k.fault([]any{"groups"}, "groups: %d devices and slices, limit %d", units, maxUnits)
	}
	k.workload(&c.Workload)
	for i := range c.Faults {
		k.faultEntry(c, &c.Faults[i], []any{"faults", i})
	}
}

// group returns how many devices and slices each node has.
func (k *check) group(g *Group, at []any) (units int) {
	bad := func(key string, wrong bool, format string, args ...any) {
		if wrong {
			k.fault(append(slices.Clone(at), key), key+": "+format, args...)
		}
	}
	bad("name", !groupName.MatchString(g.Name), "%q, want up to 40 small letters, digits and hyphens", g.Name)
	bad("nodes", g.Nodes < 1 || g.Nodes > maxNodes, "%d, want 1 to %d", g.Nodes, maxNodes)
	bad("intel", g.Intel != XPUMD && g.Intel != XPUM, "%q, want %s or %s", g.Intel, XPUMD, XPUM)
	h := g.Host
	bad("host", h.CPUs < 1 || h.CPUs > 1024, "cpus: %d, want 1 to 1024", h.CPUs)
	bad("host", h.Sockets < 1 || h.Sockets > h.CPUs, "sockets: %d, want 1 to the number of cpus", h.Sockets)
	bad("host", h.Memory < 1<<30, "memory: want at least 1GiB")
	bad("host", h.Network < 1_000_000, "network: want at least 1MB a second")
	bad("host", h.Disk < 1<<30, "disk: want at least 1GiB")
	devices := 0
	for i, d := range g.Devices {
		at := append(slices.Clone(at), "devices", i)
		devices += max(d.Count, 0)
		units += max(d.Count, 0) * max(len(d.Layout), 1)
		if d.Count < 1 || d.Count > maxDevicesOfNode {
			k.fault(append(at, "count"), "count: %d, want 1 to %d", d.Count, maxDevicesOfNode)
		}
		m, err := findModel(d.Vendor, d.Model)
		if err != nil {
			k.fault(append(at, "model"), "%v", err)
			continue
		}
		if _, err := m.slicesOf(d.Layout); err != nil {
			k.fault(append(at, "layout"), "layout: %v", err)
		}
	}
	bad("devices", devices > maxDevicesOfNode, "%d on a node, limit %d", devices, maxDevicesOfNode)
	for e, p := range g.Periods {
		at := append(slices.Clone(at), "periods", e)
		if !slices.Contains(g.exporters(), e) {
			k.fault(at, "periods: the nodes run no exporter %q", e)
		}
		if p.D() < time.Second || p.D() > 10*time.Minute || p.D()%time.Second != 0 {
			k.fault(at, "periods: %s, want whole seconds, 1s to 10m", p.D())
		}
	}
	return units
}

func (k *check) workload(w *Workload) {
	at := func(key string) []any { return []any{"workload", key} }
	if w.Source != Synthetic && w.Source != FromTrace {
		k.fault(at("source"), "source: %q, want %s or %s", w.Source, Synthetic, FromTrace)
	}
	if w.Source == FromTrace && w.Trace.Duty == "" {
		k.fault(at("trace"), "trace: duty is missing")
	}
	if w.Load < 0 || w.Load > 1 {
		k.fault(at("load"), "load: %g, want 0 to 1", w.Load)
	}
	if w.Trace.Speed < 0 || w.Trace.Speed > 1000 {
		k.fault([]any{"workload", "trace", "speed"}, "speed: %g, want up to 1000", w.Trace.Speed)
	}
	sum := 0.0
	for kind, weight := range w.Mix {
		if !slices.Contains(jobKinds, kind) {
			k.fault([]any{"workload", "mix", kind}, "mix: unknown kind of job %q, want %s", kind, strings.Join(jobKinds, ", "))
		}
		if !(weight >= 0 && weight <= 1e6) {
			k.fault([]any{"workload", "mix", kind}, "mix: weight %g, want 0 or more", weight)
		}
		sum += weight
	}
	if sum == 0 {
		k.fault(at("mix"), "mix: at least one weight above 0")
	}
}

// faultEntry checks a fault, and that some node can have it.
func (k *check) faultEntry(c *Config, f *Fault, at []any) {
	bad := func(key string, wrong bool, format string, args ...any) {
		if wrong {
			k.fault(append(slices.Clone(at), key), key+": "+format, args...)
		}
	}
	info, known := faultInfos[f.Kind]
	if !known {
		bad("kind", true, "%q, want one of %s", f.Kind, join(faultKinds()))
		return
	}
	_, err := path.Match(f.Nodes, "")
	bad("nodes", err != nil, "%q is not a pattern", f.Nodes)
	bad("at", f.At != 0 && f.Every != 0, "a fault has at or every, not both")
	bad("kind", f.At == 0 && f.Every == 0, "%s needs at or every", f.Kind)
	bad("every", f.Every != 0 && f.Every.D() < time.Second, "%s, want at least 1s", f.Every.D())
	bad("probability", !(f.Probability > 0 && f.Probability <= 1), "%g, want above 0, up to 1", f.Probability)
	bad("for", f.For.D() < time.Second, "%s, want at least 1s", f.For.D())
	bad("device", f.Device != nil && *f.Device < 0, "%d, want 0 or more", *orZero(f.Device))
	if info.check != nil {
		info.check(f, bad)
	}
	for i := range c.Groups {
		if g := &c.Groups[i]; info.possible(g, f) && k.anyNode(g, f) {
			return
		}
	}
	bad("kind", true, "no node can have %s: %s", f.Kind, info.needs)
}

func (k *check) anyNode(g *Group, f *Fault) bool {
	for i := range min(max(g.Nodes, 0), maxNodes) {
		if f.matches(g.nodeName(i)) {
			return true
		}
	}
	return false
}

func orZero(p *int) *int {
	if p == nil {
		return new(int)
	}
	return p
}
