package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Load reads every *.yaml file in the root of fsys:
//
//	source: gpu-exporter       # who exposes these
//	evidence: S                # S, D, 3P or ?; a row may have its own
//	scope: device              # optional default of the rows, see Scope
//	newest: true               # optional: of several samples of one series on a page the newest stands
//	metrics:
//	  - name: gpu_busy_percent
//	    kind: gauge            # gauge, counter, info, stateset, histogram, summary
//	    unit: ratio            # the canonical one; none for bare numbers
//	    help: Busy share.
//	    canonical: accel_busy_ratio  # optional, but for a vendor's metric
//	    from: percent          # optional: the source's unit; or scale: 0.01
//	    offset: 0              # optional, added after scaling
//	    min: 0                 # optional, in the canonical unit
//	    max: 1
//	    blank: [255, int]      # optional, as exposed; a word is a list under blanks
//	    aliases: [gpu_util]    # optional: other names of the same
//	    when: {type: [a, "b*"]}  # optional: the row is for such series only
//	    add: {sensor: core}    # optional: labels of the canonical series
//	    rename: {idx: sensor}  # optional
//	    drop: [err_msg]        # optional
//	    rank: 1                # optional: a fallback for rows of a lower rank
//	    fold: max              # optional: series that differ in nothing else are parts
//	    steps_back: 3          # optional: a counter that falls by less, in the canonical unit, goes on
//	    events: accel_fault_events  # optional: the derived metric of the events that it tells of
//	  - {name: gpu_odd, kind: gauge, raw: "unit unknown"}  # a vendor's metric, kept as exposed
//
// A file with a vendor says how its labels name a device:
//
//	vendor: acme
//	claims: [acme_, {prefix: hw_, label: hw_id}]  # unknown names that are this vendor's
//	prefixes: ["", amd_]       # put before every name of the file
//	blanks: {int: [2147483632, 2147483633]}
//	identity:
//	  uid: [UUID, uuid]        # the first that is a value is the device
//	  place: [pci=pci_bus_id, index=gpu]  # for want of a uid
//	  apart: [pci_bus_id]      # differs between two devices that claim one uid
//	  slice: [GPU_I_ID]
//	  split: {mode: [dpx]}     # optional: only then is there a slice
//	  whole: {part: ["", "0"]}  # optional: else a row of scope device tells nothing of it
//	  port: [port]
//	  link: [nvlink]
//	  void: [NA]               # values that are none
//	  not_uid: ["gpu-[0-9]"]   # ids that are but an index
//	  owner: {pod: [exported_pod, pod]}
//	  facts: {model: [modelName]}
//	  parts: {profile: [GPU_I_PROFILE]}
//	  drop: [hostname]
//	  class: accel             # or nic
//
// Rows of one name stand in one file and are tried in its order. Load is strict: an
// unknown or repeated key, a bad value, a row that cannot be reached, or a canonical name
// with two units is a fault. The error holds all of them, each as `file:line: message`.
func Load(fsys fs.FS) (*Catalog, error) {
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list catalogue files: %w", err)
	}
	if len(names) == 0 {
		return nil, errors.New("no *.yaml file in the catalogue")
	}
	l := loader{catalog: &Catalog{byName: make(map[string][]*Metric)}, meanings: make(map[string]*Metric)}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read catalogue: %w", err)
		}
		l.load(name, text)
	}
	l.checkEvents()
	if len(l.faults) > 0 {
		return nil, errors.Join(l.faults...)
	}
	return l.catalog, nil
}

type loader struct {
	catalog  *Catalog
	faults   []error
	meanings map[string]*Metric // the first row of each canonical name

	// The current file, and its defaults.
	file     string
	source   *source
	grade    Evidence
	scope    Scope
	prefixes []string
	blanks   map[string][]float64
	newest   bool

	eventful []eventful
}

func (l *loader) fault(n *yaml.Node, format string, args ...any) {
	l.faults = append(l.faults, fmt.Errorf("%s:%d: %s", l.file, n.Line, fmt.Sprintf(format, args...)))
}

func (l *loader) load(file string, text []byte) {
	l.file, l.grade = file, Unproven
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		l.faults = append(l.faults, fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: ")))
		return
	}
	if len(doc.Content) == 0 {
		l.faults = append(l.faults, fmt.Errorf("%s:1: the file is empty", file))
		return
	}
	root := doc.Content[0]
	keys := l.mapping(root, "source", "evidence", "metrics", "vendor", "scope", "claims", "prefixes", "blanks", "identity", "newest")
	if keys == nil {
		return
	}
	l.head(keys, root)
	rows, ok := keys["metrics"]
	if !ok || rows.Kind != yaml.SequenceNode {
		l.fault(root, "metrics is missing, or no list")
		return
	}
	for _, row := range rows.Content {
		l.metric(row)
	}
}

// mapping returns the values of n by key, or nil if n is no mapping.
func (l *loader) mapping(n *yaml.Node, known ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		l.fault(n, "want a mapping with keys %s", strings.Join(known, ", "))
		return nil
	}
	keys := make(map[string]*yaml.Node)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case !slices.Contains(known, key.Value):
			l.fault(key, "unknown key %q, want one of %s", key.Value, strings.Join(known, ", "))
		case keys[key.Value] != nil:
			l.fault(key, "key %s is given twice", key.Value)
		default:
			keys[key.Value] = n.Content[i+1]
		}
	}
	return keys
}

func (l *loader) kind(keys map[string]*yaml.Node, n *yaml.Node) Kind {
	text := l.text(keys, n, "kind")
	if i := slices.Index(kindTexts[1:], text); i >= 0 {
		return Kind(i + 1)
	}
	if text != "" {
		l.fault(keys["kind"], "unknown kind %q, want one of %s", text, strings.Join(kindTexts[1:], ", "))
	}
	return Unknown
}

func (l *loader) evidence(n *yaml.Node) Evidence {
	switch grade := Evidence(n.Value); grade {
	case FromSource, FromDocs, FromThirdParty, Unproven:
		return grade
	}
	l.fault(n, "unknown evidence %q, want S, D, 3P or ?", n.Value)
	return Unproven
}

// unit returns the canonical unit and the scale that leads to it.
func (l *loader) unit(keys map[string]*yaml.Node, n *yaml.Node) (unit string, scale float64) {
	unit, scale = l.text(keys, n, "unit"), 1
	if unit != "" && !units[unit] {
		l.fault(keys["unit"], "unknown unit %q, want one of %s", unit, strings.Join(slices.Sorted(maps.Keys(units)), ", "))
	}
	from, hasFrom := keys["from"]
	factor, hasScale := keys["scale"]
	switch {
	case hasFrom && hasScale:
		l.fault(factor, "from and scale exclude each other")
	case hasFrom:
		c, ok := conversions[from.Value]
		if !ok {
			l.fault(from, "unknown source unit %q, want one of %s", from.Value, strings.Join(slices.Sorted(maps.Keys(conversions)), ", "))
		} else if c.unit != unit {
			l.fault(from, "%s converts to %s, not to %s", from.Value, c.unit, unit)
		} else {
			scale = c.scale
		}
	case hasScale:
		if v := l.number(factor); v != nil && *v != 0 {
			scale = *v
		} else if v != nil {
			l.fault(factor, "scale is 0")
		}
	}
	if unit == "none" {
		unit = ""
	}
	return unit, scale
}
