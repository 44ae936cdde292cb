package agent

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"sextant/internal/simulate"
	"sextant/internal/simulate/expose"
)

// The node that is scraped beside its node_exporter.
const (
	nodeGPUs = 8
	nodePods = 100
)

// newGPUPage is what dcgm-exporter prints of a node with 8 GPUs that are all given out, and
// newPodPage what the kubelet's cAdvisor prints of 100 pods. Names, labels and forms of the
// numbers are those of the project's simulated exporters.
func newGPUPage(number uint64) (*page, error) { return exported(number, simulate.DCGM) }
func newPodPage(number uint64) (*page, error) { return exported(number, simulate.CAdvisor) }

func exported(number uint64, exporter string) (*page, error) {
	n, err := newNode(number)
	if err != nil {
		return nil, err
	}
	text, err := expose.Page(nil, exporter, n)
	if err != nil {
		return nil, err
	}
	p, err := parsePage(string(text))
	if err == nil {
		p.rnd = rand.New(rand.NewPCG(number, 12))
	}
	return p, err
}

// newNode is a node with its devices and pods.
func newNode(number uint64) (*simulate.Node, error) {
	cfg, err := simulate.Parse("bench", fmt.Appendf(nil, `name: bench
seed: %d
groups:
  - {name: node, nodes: 1, devices: [{vendor: nvidia, model: H100, count: %d}]}
workload: {load: 1}
`, number+1, nodeGPUs))
	if err != nil {
		return nil, err
	}
	c, err := simulate.New(cfg, nil, time.Now())
	if err != nil {
		return nil, err
	}
	n := c.Nodes[0]
	n.Host.Pods = nil
	for i := range nodePods {
		job := &simulate.Job{ID: int(number)*nodePods + i, Name: fmt.Sprintf("service-%d-7d4b9c6f5-%05d", i%20, i), Namespace: fmt.Sprintf("team-%d", i%7), Container: "main"}
		n.Host.Pods = append(n.Host.Pods, simulate.Pod{Job: job, Name: job.Pod(n), Started: n.Boot, CPUSeconds: 1000.5 + float64(i), WorkingSet: 4e8, RxBytes: 1e9, TxBytes: 1e8})
	}
	return n, nil
}

// parsePage makes a page of an exposition, to be moved on from its values.
func parsePage(text string) (*page, error) {
	p := &page{}
	head := ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			head += line
			continue
		}
		if head != "" || len(p.families) == 0 {
			p.families = append(p.families, family{head: head, counter: strings.Contains(head, " counter\n")})
			head = ""
		}
		if err := p.families[len(p.families)-1].line(strings.TrimSuffix(line, "\n")); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// line adds a series to the family. The first one says how all are printed.
func (f *family) line(text string) error {
	end := strings.LastIndexByte(text, '}') + 1
	if end == 0 {
		end = strings.IndexByte(text, ' ')
	}
	fields := strings.Fields(text[max(end, 0):])
	if end < 0 || len(fields) == 0 || len(fields) > 2 {
		return fmt.Errorf("page: %.100q is no sample", text)
	}
	v, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return fmt.Errorf("page: %.100q: %w", text, err)
	}
	if len(f.prefix) == 0 {
		f.name, _, _ = strings.Cut(text[:end], "{")
		f.timed, f.decimals, f.step = len(fields) == 2, decimals(fields[0]), max(math.Abs(v)/1e4, 1)
	}
	f.prefix, f.value = append(f.prefix, text[:end]+" "), append(f.value, v)
	return nil
}

// decimals of a number as it is printed, -1 where it is not in plain form.
func decimals(number string) int {
	_, after, found := strings.Cut(number, ".")
	switch {
	case strings.ContainsAny(number, "eEnN"), len(after) > 6:
		return -1
	case !found:
		return 0
	}
	return len(after)
}
