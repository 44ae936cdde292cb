package snapshot

import (
	"slices"

	"sextant/features"
)

// The services whose matrices describe the vertices and edges of the graph, and the views of
// devices.
const (
	nodeService = "node_state"
	edgeService = "edge_state"
	taskService = "task_state"
)

var deviceViews = []string{"device_static", "device_monitoring"}

// graphPlan is the matrices that a graph is made of.
type graphPlan struct {
	nodes, devices, edges, tasks *plan
}

func (g *graphPlan) all() []*plan { return []*plan{g.nodes, g.devices, g.edges, g.tasks} }

// graphPlanOf lays the graph out, or says what is missing.
func graphPlanOf(ps *plans) (*graphPlan, error) {
	g := &graphPlan{}
	for _, part := range []struct {
		service string
		keys    []string
		to      **plan
	}{{nodeService, []string{"node"}, &g.nodes}, {edgeService, []string{"node", "src", "dst"}, &g.edges}, {taskService, []string{"task"}, &g.tasks}} {
		p, err := ps.find(part.service)
		if err != nil {
			return nil, notFound("graph: %v", err)
		}
		if !slices.Equal(p.keys, part.keys) {
			return nil, notFound("graph: %s is keyed by %v, not by %v", p.ref, p.keys, part.keys)
		}
		*part.to = p
	}
	var err error
	g.devices, err = devicePlan(ps.set)
	return g, err
}

// devicePlan is the matrix of all numbers that the views of devices have.
func devicePlan(set *features.Set) (*plan, error) {
	s := &features.Service{Name: "devices", Version: 1, Keys: []string{"node", "uid"}}
	for _, name := range deviceViews {
		v, ok := set.View(name)
		if !ok || !slices.Equal(v.Keys, s.Keys) {
			return nil, notFound("graph: there is no view %s of (node, uid)", name)
		}
		for f := range v.Features {
			if v.Features[f].DType != features.String {
				s.Columns = append(s.Columns, features.ServiceColumn{View: v, Feature: f, As: v.Name})
			}
		}
	}
	p, err := planOf(s)
	if err != nil {
		return nil, notFound("graph: %v", err)
	}
	return p, nil
}
