package nodes

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func node(edits ...func(*Node)) *Node {
	n := &Node{Cluster: "c", Node: "n1", Collected: 20, Since: 10, UID: "u", Labels: map[string]string{"a": "b"}, Taints: []Taint{{Key: "k", Effect: "NoSchedule"}},
		Capacity: map[string]string{"cpu": "8", "gpu.intel.com/i915": "2", "gpu.intel.com/xe": "1"}, Allocatable: map[string]string{"cpu": "7500m", "memory": "1Gi"},
		Conditions: []Condition{{Type: Ready, Status: "False", Since: 5}, {Type: "DiskPressure", Status: "True"}}, Addresses: []Address{{"InternalIP", "10.0.0.1"}}}
	for _, e := range edits {
		e(n)
	}
	return n
}

func encoded(t testing.TB, n *Node) []byte {
	t.Helper()
	if err := n.Seal(); err != nil {
		t.Fatal(err)
	}
	b, err := n.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestThereAndBack(t *testing.T) {
	n := node()
	back, err := Decode(encoded(t, n))
	if err != nil || fmt.Sprintf("%+v", back) != fmt.Sprintf("%+v", n) {
		t.Errorf("%+v\nwant\n%+v\n%v", back, n, err)
	}
	again := node(func(n *Node) { n.Collected, n.Since = 99, 98 })
	other := node(func(n *Node) { n.Unschedulable = true })
	for _, x := range []*Node{again, other} {
		if err := x.Seal(); err != nil {
			t.Fatal(err)
		}
	}
	if again.Hash != n.Hash || other.Hash == n.Hash {
		t.Error("the hash is not that of the content")
	}
	if a := Amounts(n.Capacity); a["accelerators_intel"] != 3 || a["cpu_cores"] != 8 {
		t.Errorf("two names of one thing: %v", a)
	}
	if tr := n.Trouble(); len(tr) != 1 || tr[0] != "DiskPressure" || n.Condition(Ready).Status != "False" || n.Condition("x") != nil {
		t.Errorf("%v", tr)
	}
}

func TestFaults(t *testing.T) {
	for want, edit := range map[string]func(*Node){
		"node: a name":         func(n *Node) { n.Node = "" },
		"has a slash":          func(n *Node) { n.Node = "a/b" },
		"cluster: a name":      func(n *Node) { n.Cluster = "" },
		"since_ms":             func(n *Node) { n.Since = 30 },
		"labels: 513":          func(n *Node) { n.Labels = many(513) },
		"capacity.cpu":         func(n *Node) { n.Capacity["cpu"] = "much" },
		"allocatable.cpu":      func(n *Node) { n.Allocatable["cpu"] = "-1" },
		"control character":    func(n *Node) { n.Labels["a"] = "b\x00" },
		"taints[0]":            func(n *Node) { n.Taints[0].Key = "" },
		"conditions[1]":        func(n *Node) { n.Conditions[1].Status = "" },
		"1025 bytes":           func(n *Node) { n.Kubelet = strings.Repeat("x", MaxText+1) },
		"annotations: a name":  func(n *Node) { n.Annotations = map[string]string{"": "x"} },
		"conditions[0].since_": func(n *Node) { n.Conditions[0].Since = -1 },
	} {
		n := node(edit)
		if err := n.Seal(); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Encode(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	good := encoded(t, node())
	for want, b := range map[string][]byte{
		"version 2":         bytes.Replace(good, []byte(`"version":1`), []byte(`"version":2`), 1),
		"after top-level":   append(bytes.Clone(good), '1'),
		"unexpected end":    good[:len(good)-1],
		"the limit is":      bytes.Repeat([]byte(" "), MaxBytes+1),
		"no points in time": bytes.Replace(good, []byte(`"since_ms":10`), []byte(`"since_ms":0`), 1),
	} {
		if _, err := Decode(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func many(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprint(i)] = "x"
	}
	return out
}

// FuzzDecode: what is read can be written, and is then the same.
func FuzzDecode(f *testing.F) {
	f.Add(encoded(f, node()))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := Decode(b)
		if err != nil {
			return
		}
		Amounts(n.Capacity)
		c, err := n.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(c)
		if err != nil || fmt.Sprintf("%+v", again) != fmt.Sprintf("%+v", n) {
			t.Errorf("%+v, want %+v: %v", again, n, err)
		}
	})
}
