package catalog

import (
	"strings"

	"sextant/schema/wire"
)

// source is what the rows of one file share: the exporter, its vendor, and which labels
// name a device.
type source struct {
	name, vendor string
	class        string // what its devices are: accel or nic; the prefix of info series
	claims       []claim

	uid    []string    // labels that hold a device's own id, the best first
	places []place     // labels that say where it sits, for want of an id
	apart  []string    // labels that differ between two devices of one id, if the id is wrong
	slice  []string    // labels that hold the id of a part, the outer part first
	split  []Condition // there is a slice only if these hold
	whole  []Condition // a row speaks for the device only if these hold
	port   []string
	link   []string
	void   []pattern // values that are no value
	notUID []pattern // ids that are but an index
	owner  []naming
	facts  []naming
	parts  []naming // facts about a slice
	drop   []pattern

	eaten map[string]struct{} // labels that canonical ones stand for
}

// claim says that a metric name with the prefix belongs to a vendor. With a label, only
// if the series has it: some vendors use prefixes that are not theirs alone.
type claim struct{ prefix, label string }

// place is a label that tells where a device sits, and the kind of place it is.
type place struct{ kind, label string }

// naming is a canonical label and the names that sources use for it, the best first.
type naming struct {
	name string
	from []string
}

func (s *source) claimed(name string, ls []wire.Label) bool {
	for _, c := range s.claims {
		if strings.HasPrefix(name, c.prefix) && (c.label == "" || valueOf(ls, c.label) != "") {
			return true
		}
	}
	return false
}

// first returns the value of the first label that has one.
func (s *source) first(ls []wire.Label, names []string) string {
	for _, name := range names {
		if v := valueOf(ls, name); v != "" && !matches(s.void, v) {
			return v
		}
	}
	return ""
}

// ownID returns the id that a device has wherever it sits. Virtual functions report an
// id of zeros.
func (s *source) ownID(ls []wire.Label) string {
	for _, name := range s.uid {
		v := valueOf(ls, name)
		digits := strings.TrimPrefix(strings.TrimPrefix(v, "GPU-"), "MIG-")
		if v == "" || strings.Trim(digits, "0-") == "" || strings.Trim(digits, "fF-") == "" || matches(s.void, v) || matches(s.notUID, v) {
			continue
		}
		return v
	}
	return ""
}

// placesOf returns where a device sits, as kind:value, the most lasting kind first.
func (s *source) placesOf(ls []wire.Label, dst []string) []string {
	for _, p := range s.places {
		if v := valueOf(ls, p.label); v != "" && !matches(s.void, v) {
			if p.kind == "pci" {
				v = pciAddress(v)
			}
			dst = append(dst, p.kind+":"+v)
		}
	}
	return dst
}

// sliceOf returns the id of the slice, outer/inner for a slice of a slice, "" if the device
// is whole.
func (s *source) sliceOf(ls []wire.Label) string {
	if !allHold(s.split, ls) {
		return ""
	}
	id := ""
	for _, name := range s.slice {
		v := valueOf(ls, name)
		if v == "" || matches(s.void, v) {
			continue
		}
		if id != "" {
			id += "/"
		}
		id += v
	}
	return id
}

// pciAddress writes an address as the kernel does: small letters, and a domain of four
// digits where it fits.
func pciAddress(v string) string {
	v = strings.ToLower(v)
	if domain, rest, ok := strings.Cut(v, ":"); ok && len(domain) == 8 && strings.HasPrefix(domain, "0000") {
		return domain[4:] + ":" + rest
	}
	return v
}
