package tasks

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Canonical names of resources. Accelerators are Accelerators and the vendor, as the
// inventory names it; other resources keep their own name.
const (
	CPU          = "cpu_cores"
	Memory       = "memory_bytes"
	Storage      = "ephemeral_storage_bytes"
	Accelerators = "accelerators_"
)

// canonical are the names that others use. A slice of a device, such as
// nvidia.com/mig-1g.10gb, is no accelerator and keeps its name.
var canonical = map[string]string{
	"cpu": CPU, "memory": Memory, "ephemeral-storage": Storage,
	"nvidia.com/gpu": Accelerators + "nvidia", "amd.com/gpu": Accelerators + "amd",
	"gpu.intel.com/i915": Accelerators + "intel", "gpu.intel.com/xe": Accelerators + "intel",
	"habana.ai/gaudi":      Accelerators + "habana",
	"huawei.com/Ascend910": Accelerators + "huawei", "huawei.com/Ascend310": Accelerators + "huawei", "huawei.com/Ascend310P": Accelerators + "huawei",
}

// Canonical is the name under which a resource is kept.
func Canonical(name string) string {
	if c, ok := canonical[name]; ok {
		return c
	}
	return name
}

// suffixes of quantities as Kubernetes writes them.
var suffixes = map[string]float64{
	"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
	"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50, "Ei": 1 << 60,
}

var quantities = regexp.MustCompile(`^([0-9]+(?:\.[0-9]*)?|\.[0-9]+)((?:[eE][+-]?[0-9]{1,3})?)([a-zA-Z]{0,2})$`)

// quantity reads an amount: a number, or a string such as 500m or 4Gi.
func quantity(b json.RawMessage) (float64, error) {
	var v float64
	if err := json.Unmarshal(b, &v); err != nil || string(b) == "null" {
		var s string
		if err := json.Unmarshal(b, &s); err != nil || string(b) == "null" {
			return 0, fmt.Errorf("want a number, or a quantity such as 500m or 4Gi")
		}
		return Quantity(s)
	}
	return v, within(v)
}

// Quantity reads an amount as Kubernetes writes it, such as 500m or 4Gi.
func Quantity(s string) (float64, error) {
	v, err := parseQuantity(s)
	if err != nil {
		return 0, err
	}
	return v, within(v)
}

func within(v float64) error {
	if v < 0 || v > MaxAmount || math.IsNaN(v) {
		return fmt.Errorf("%g is not within 0 and %g", v, float64(MaxAmount))
	}
	return nil
}

func parseQuantity(s string) (float64, error) {
	m := quantities.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("%.40q is no quantity such as 500m or 4Gi", s)
	}
	scale, ok := suffixes[m[3]]
	if !ok || m[2] != "" && m[3] != "" {
		return 0, fmt.Errorf("%.40q is no quantity such as 500m or 4Gi", s)
	}
	v, err := strconv.ParseFloat(m[1]+strings.ToLower(m[2]), 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q: %w", s, err)
	}
	return v * scale, nil
}
