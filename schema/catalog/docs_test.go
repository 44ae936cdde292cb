package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const docsFile = "../../docs/metrics.md"

const docsHead = `# Metrics

Written by ` + "`go test ./schema/catalog -run TestDocs -update`" + ` from the catalogue in ` + "`schema/catalog`" + `; do not edit.

A vendor's metric is stored under one canonical name, in SI units, ratios from 0 to 1. A value that
an exporter uses to say "none", or that the metric cannot have, is stored as nothing at all and
never as 0. Whether a metric is a counter is decided here and not by its TYPE line.

**Identity.** A device's series have the labels ` + "`node`, `vendor`, `device`" + ` and, for a reading of a part,
` + "`slice`" + ` (MIG, vNPU, partition, tile). ` + "`device`" + ` is the device's own id. Without one, or with one of zeros, it is the place
where the device sits, such as ` + "`pci:0000:17:00.0` or `index:0`" + `; two devices that claim one id are ` + "`id@place`" + `. A physical
reading that an exporter repeats for each slice is one series of the device. A device can have readings of
its own and of its slices: ` + "`slice=\"\"`" + ` picks the former.

**Facts and owners** are no part of a series. They are series of their own with the value 1:
` + "`accel_device_info`" + ` (model, driver, pci, index, serial; ` + "`identity`" + ` says what names the device: uid, duplicate or the kind of place),
` + "`accel_slice_info`" + ` (profile) and ` + "`accel_owner_info`" + ` (namespace, pod, container, or a job), one for each owner. NICs have ` + "`nic_device_info`" + `.

**Allocation and use** are never one metric. Who was given a device or slice is ` + "`accel_owner_info`" + `; how much of it, where the source says, ` + "`accel_allocated_mem_bytes`" + ` and, as a
scheduler sees the cluster, ` + "`cluster_accel_allocated_*`" + ` with the node in ` + "`exported_node`" + `; what pods ask for, ` + "`kube_pod_container_resource_requests`" + `. What is used is a reading of the device, of the
slice, or, where the source measures it inside the container, of the owner (` + "`accel_owner_*`" + `). With time-slicing and MPS only the device is measured: its reading is not repeated for each owner.

**A second choice** is marked: where a better measure is missing, the label ` + "`via`" + ` says how this one was made.

**Counters.** A value that is below the one before began anew, and a counter of a device says so with the flag ` + "`reset`" + `. The kernel's
accounting of CPU time (` + "`steps back`" + `) is corrected downwards at times: it is held at its highest value, with the flag ` + "`held`" + `, unless it falls by 3 s or the node booted.

**Unknown.** A name that begins like a known vendor's and is not listed is stored as exposed and counted; its
meaning is not guessed.

**Evidence:** S read in the exporter's source, D vendor or project documentation, 3P third-party material only, ? not established.
Nothing here was compared with real accelerators.

`

// TestDocs keeps the page that lists all metrics in step with the catalogue.
func TestDocs(t *testing.T) {
	rows := documented()
	var b strings.Builder
	b.WriteString(docsHead)
	writeCanonical(&b, rows)
	writeDerived(&b, rows)
	writeSources(&b, rows)
	golden(t, docsFile, b.String())
}

// documented is a row with all names that it has.
type docRow struct {
	*Metric
	names []string
}

// documented returns the rows in the order of the files.
func documented() []docRow {
	at := map[string]int{}
	var rows []docRow
	for _, m := range Default().Metrics() {
		key := fmt.Sprintf("%s:%06d", m.File, m.Line)
		i, ok := at[key]
		if !ok {
			i = len(rows)
			at[key] = i
			rows = append(rows, docRow{Metric: m})
		}
		if !strings.HasPrefix(m.Name, "amd_") {
			rows[i].names = append(rows[i].names, m.Name)
			if len(rows[i].names) == 1 {
				rows[i].Metric = m
			}
		}
	}
	slices.SortFunc(rows, func(a, b docRow) int {
		if d := strings.Compare(a.File, b.File); d != 0 {
			return d
		}
		return a.Line - b.Line
	})
	return rows
}

func writeCanonical(b *strings.Builder, rows []docRow) {
	first := map[string]docRow{}
	vendors := map[string][]string{}
	labels := map[string][]string{}
	for _, r := range rows {
		if r.Vendor == "" || r.Raw != "" {
			continue
		}
		if f, ok := first[r.Canonical]; !ok || r.Source == "dcgm-exporter" && f.Source != r.Source {
			first[r.Canonical] = r
		}
		if !slices.Contains(vendors[r.Canonical], r.Source) {
			vendors[r.Canonical] = append(vendors[r.Canonical], r.Source)
		}
		for _, l := range r.Add {
			labels[r.Canonical] = append(labels[r.Canonical], l.Name)
		}
		for _, l := range r.rename {
			labels[r.Canonical] = append(labels[r.Canonical], l.Value)
		}
	}
	b.WriteString("## Canonical metrics of devices\n\n| metric | kind | unit | labels | meaning | sources |\n|---|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(first)) {
		r := first[name]
		slices.Sort(labels[name])
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s | %s |\n", name, r.Kind, r.Unit, strings.Join(slices.Compact(labels[name]), ", "), cell(r.Help), strings.Join(vendors[name], ", "))
	}
	b.WriteString("\n")
}

// derived is the source of the rows that no exporter has.
const derived = "sextant-pipeline"

func writeDerived(b *strings.Builder, rows []docRow) {
	b.WriteString("## Metrics that the pipeline makes\n\nWhat stands in no single scrape is a series of its own, with the labels of the device or switch and the `code` or `event` " +
		"([ADR 13](adr/0013-events-and-resets.md)).\n\n| metric | unit | meaning | told by |\n|---|---|---|---|\n")
	by := map[string][]string{}
	for _, r := range rows {
		for _, name := range []string{r.Events, LastOf(r.Events)} {
			by[name] = append(by[name], "`"+r.names[0]+"`")
		}
	}
	for _, r := range rows {
		if r.Source == derived {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", r.Name, r.Unit, cell(r.Help), strings.Join(by[r.Name], ", "))
		}
	}
	b.WriteString("\n")
}

func writeSources(b *strings.Builder, rows []docRow) {
	source := ""
	for _, r := range rows {
		if r.Source == derived {
			continue
		}
		if r.Source != source {
			source = r.Source
			fmt.Fprintf(b, "\n## From %s\n\n", source)
			if source == "device-metrics-exporter" {
				b.WriteString("Each name also with the prefix `amd_`.\n\n")
			}
			b.WriteString("| exposed | for | stored as | conversion | scope | blank | evidence |\n|---|---|---|---|---|---|---|\n")
		}
		stored := "as exposed"
		if r.Canonical != r.Name {
			stored = "`" + r.Canonical + "`"
		}
		if r.Raw != "" {
			stored = "as exposed: " + cell(r.Raw)
		}
		for _, l := range r.Add {
			stored += " " + l.Name + "=" + l.Value
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", strings.Join(r.names, "` `"), conditions(r.When), stored, conversionText(r.Metric), r.Scope, blanksText(r.Blank), r.Evidence)
	}
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func conditions(cs []Condition) string {
	var out []string
	for _, c := range cs {
		var ps []string
		for _, p := range c.Patterns {
			if p.text == "" {
				p.text = "none"
			}
			ps = append(ps, p.text)
		}
		out = append(out, c.Label+"="+strings.Join(ps, " or "))
	}
	return cell(strings.Join(out, ", "))
}

func conversionText(m *Metric) string {
	text := ""
	if m.Scale != 1 {
		text = "× " + strconv.FormatFloat(m.Scale, 'g', -1, 64)
	}
	if m.StepsBack != 0 {
		text += "steps back"
	}
	if m.Offset != 0 {
		text += " + " + strconv.FormatFloat(m.Offset, 'g', -1, 64)
	}
	return text
}

// blanksText keeps the table narrow: the exact values stand in the YAML files.
func blanksText(blanks []float64) string {
	switch len(blanks) {
	case 0:
		return ""
	case 1, 2, 3, 4:
		var out []string
		for _, v := range blanks {
			out = append(out, strconv.FormatFloat(v, 'f', 0, 64))
		}
		return strings.Join(out, ", ")
	}
	return fmt.Sprintf("%d values", len(blanks))
}
