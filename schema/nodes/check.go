package nodes

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"sextant/schema/tasks"
)

// Limits of a document.
const (
	MaxName        = 253 // bytes of a name
	MaxText        = 1024
	MaxLabels      = 512
	MaxAnnotations = 64
	MaxTaints      = 128
	MaxResources   = 256
	MaxConditions  = 64
	MaxAddresses   = 64
)

// Check returns every fault of the document, each with the path of its key.
func (n *Node) Check() error {
	c := &checker{}
	c.bad(n.Version != Version, "version: %d, want %d", n.Version, Version)
	c.name("cluster", n.Cluster)
	c.name("node", n.Node)
	c.bad(strings.Contains(n.Node, "/"), "node: %q has a slash", n.Node)
	c.bad(n.Collected <= 0 || n.Since <= 0 || n.Since > n.Collected, "since_ms, collected_ms: %d, %d are no points in time in this order", n.Since, n.Collected)
	c.bad(len(n.Hash) != 32 || strings.Trim(n.Hash, "0123456789abcdef") != "", "hash: %q is not 32 hexadecimal digits", n.Hash)
	for _, l := range []struct {
		key      string
		n, limit int
	}{{"labels", len(n.Labels), MaxLabels}, {"annotations", len(n.Annotations), MaxAnnotations}, {"taints", len(n.Taints), MaxTaints},
		{"capacity", len(n.Capacity), MaxResources}, {"allocatable", len(n.Allocatable), MaxResources},
		{"conditions", len(n.Conditions), MaxConditions}, {"addresses", len(n.Addresses), MaxAddresses}} {
		c.bad(l.n > l.limit, "%s: %d entries, the limit is %d", l.key, l.n, l.limit)
	}
	if len(c.faults) > 0 {
		return errors.Join(c.faults...)
	}
	c.text("uid, provider_id", n.UID, n.Provider)
	c.text("region, zone, rack", n.Region, n.Zone, n.Rack)
	c.text("kubelet, runtime, os_image, kernel, os, arch, boot_id, machine_id", n.Kubelet, n.Runtime, n.OSImage, n.Kernel, n.OS, n.Arch, n.BootID, n.MachineID)
	c.texts("labels", n.Labels)
	c.texts("annotations", n.Annotations)
	c.quantities("capacity", n.Capacity)
	c.quantities("allocatable", n.Allocatable)
	for i, t := range n.Taints {
		c.bad(t.Key == "" || t.Effect == "", "taints[%d]: a key and an effect are needed", i)
		c.text("taints", t.Key, t.Value, t.Effect)
	}
	for i, s := range n.Conditions {
		c.bad(s.Type == "" || s.Status == "", "conditions[%d]: a type and a status are needed", i)
		c.text("conditions", s.Type, s.Status, s.Reason)
		c.bad(s.Since < 0, "conditions[%d].since_ms: %d", i, s.Since)
	}
	for _, a := range n.Addresses {
		c.text("addresses", a.Type, a.Address)
	}
	return errors.Join(c.faults...)
}

// checker collects faults, at most a few: a broken document needs no thousand of them.
type checker struct{ faults []error }

func (c *checker) bad(bad bool, format string, args ...any) {
	if bad && len(c.faults) < 10 {
		c.faults = append(c.faults, fmt.Errorf(format, args...))
	}
}

func (c *checker) name(path, v string) {
	c.bad(v == "" || len(v) > MaxName, "%s: a name of at most %d bytes is needed", path, MaxName)
	c.text(path, v)
}

func (c *checker) text(path string, values ...string) {
	for _, v := range values {
		c.bad(len(v) > MaxText, "%s: %d bytes, the limit is %d", path, len(v), MaxText)
		c.bad(!utf8.ValidString(v) || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }), "%s: %.64q has a control character", path, v)
	}
}

func (c *checker) texts(path string, m map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		c.bad(k == "", "%s: a name is empty", path)
		c.text(path, k, m[k])
	}
}

func (c *checker) quantities(path string, m map[string]string) {
	c.texts(path, m)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		_, err := tasks.Quantity(m[k])
		c.bad(err != nil, "%s.%.64s: %v", path, k, err)
	}
}
