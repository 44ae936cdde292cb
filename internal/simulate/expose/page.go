// Package expose writes what the exporters of each vendor would print of a simulated
// node: the names, labels, types, units, order and oddities of theirs, not of this
// project. docs/simulate.md says what is known of each and what is an assumption.
package expose

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"sextant/internal/simulate"
)

// ContentType is that of every page.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

const (
	gauge   = "gauge"
	counter = "counter"
	mib     = float64(1 << 20)
)

// Page appends the exposition of one exporter of the node to dst. The node is a
// simulate.Node's View for that exporter.
func Page(dst []byte, exporter string, n *simulate.Node) ([]byte, error) {
	p := &page{buf: dst}
	switch exporter {
	case simulate.NodeExporter:
		p.nodeExporter(n)
	case simulate.CAdvisor:
		p.cadvisor(n)
	case simulate.DCGM:
		p.dcgm(n)
	case simulate.NPU:
		p.npu(n)
	case simulate.AMDExporter:
		p.amd(n)
	case simulate.XPUMD:
		p.xpumd(n)
	case simulate.XPUM:
		p.xpum(n)
	case simulate.GaudiMetrics:
		p.gaudi(n)
	case simulate.DTS:
		p.dts(n)
	default:
		return dst, fmt.Errorf("no exporter is called %q", exporter)
	}
	return p.buf, nil
}

// page is an exposition that is being written.
type page struct{ buf []byte }

func (p *page) head(name, kind, help string) {
	p.buf = append(p.buf, "# HELP "...)
	p.buf = append(p.buf, name...)
	p.buf = append(p.buf, ' ')
	p.buf = append(p.buf, help...)
	p.buf = append(p.buf, '\n')
	p.kind(name, kind)
}

func (p *page) kind(name, kind string) {
	p.buf = append(p.buf, "# TYPE "...)
	p.buf = append(p.buf, name...)
	p.buf = append(p.buf, ' ')
	p.buf = append(p.buf, kind...)
	p.buf = append(p.buf, '\n')
}

// series writes all of a line before its value. labels is the text between the braces.
func (p *page) series(name, labels string) {
	p.buf = append(p.buf, name...)
	if labels != "" {
		p.buf = append(p.buf, '{')
		p.buf = append(p.buf, labels...)
		p.buf = append(p.buf, '}')
	}
	p.buf = append(p.buf, ' ')
}

// row writes a line with a value as Go's client writes it.
func (p *page) row(name, labels string, v float64) {
	p.series(name, labels)
	p.buf = strconv.AppendFloat(p.buf, v, 'g', -1, 64)
	p.buf = append(p.buf, '\n')
}

// rowAt is row with a timestamp in unix ms.
func (p *page) rowAt(name, labels string, v float64, ms int64) {
	p.series(name, labels)
	p.buf = strconv.AppendFloat(p.buf, v, 'g', -1, 64)
	p.buf = append(p.buf, ' ')
	p.buf = strconv.AppendInt(p.buf, ms, 10)
	p.buf = append(p.buf, '\n')
}

// one writes a family of one row.
func (p *page) one(name, kind, help, labels string, v float64) {
	p.head(name, kind, help)
	p.row(name, labels, v)
}

// pairs joins names and values to the text between braces. Values are escaped.
func pairs(nameValue ...string) string {
	var b strings.Builder
	for i := 0; i < len(nameValue); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(nameValue[i])
		b.WriteString(`="`)
		b.WriteString(escape.Replace(nameValue[i+1]))
		b.WriteByte('"')
	}
	return b.String()
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// devices are the vendor's devices of the node.
func devices(n *simulate.Node, v simulate.Vendor) []*simulate.Device {
	var out []*simulate.Device
	for i := range n.Devices {
		if n.Devices[i].Vendor == v {
			out = append(out, &n.Devices[i])
		}
	}
	return out
}

// owner are the labels of the pod that has the unit, "" for none.
func owner(n *simulate.Node, u *simulate.Unit) (container, namespace, pod string) {
	if u == nil || u.Job == nil {
		return "", "", ""
	}
	return u.Job.Container, u.Job.Namespace, u.Job.Pod(n)
}

func percent(ratio float64) float64 { return math.Round(100 * ratio) }
func whole(v float64) float64       { return math.Round(v) }
func tenths(v float64) float64      { return math.Round(v*10) / 10 }
func asFloat(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
