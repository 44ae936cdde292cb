package podresources

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// tally is what the two answers come to.
type tally struct {
	resources map[string]*amount  // by resource
	places    map[Place]*amount   // of devices that could be identified
	owners    map[Place]ownerSet  // likewise: containers, each once
	held      map[heldDevice]bool // each device of each container
	claims    map[heldClaim]bool
	whole     bool // what can be given away is known
}

// amount is ids that can be given away, and those that are. A device that is shared has as
// many ids as it is offered.
type amount struct{ offered, held map[string]bool }

func newAmount() *amount { return &amount{map[string]bool{}, map[string]bool{}} }

// ratio is the share that is given away. What is held and not offered, such as a device
// that became unhealthy, counts as offered.
func (a *amount) ratio() float64 {
	all := maps.Clone(a.offered)
	maps.Copy(all, a.held)
	return float64(len(a.held)) / float64(len(all))
}

type owner struct{ namespace, pod, container string }

type ownerSet map[owner]bool

type heldDevice struct {
	resource, id, numa string
	owner
}

type heldClaim struct {
	claimed
	owner
}

// count adds up who holds what of what there is. allocatable is nil where the kubelet does
// not tell.
func count(holders []holder, allocatable []deviceSet, known bool, slicesOf SliceOf) *tally {
	t := &tally{resources: map[string]*amount{}, places: map[Place]*amount{}, owners: map[Place]ownerSet{}, held: map[heldDevice]bool{},
		claims: map[heldClaim]bool{}, whole: known}
	for _, d := range allocatable {
		for _, id := range d.ids {
			t.of(d.resource, id, slicesOf, func(a *amount) { a.offered[d.resource+"\xff"+id] = true })
		}
	}
	for _, h := range holders {
		who := owner{h.namespace, h.pod, h.container}
		for _, d := range h.devices {
			for _, id := range d.ids {
				place, ok := t.of(d.resource, id, slicesOf, func(a *amount) { a.held[d.resource+"\xff"+id] = true })
				t.held[heldDevice{d.resource, id, numaText(d.numa), who}] = true
				if ok {
					if t.owners[place] == nil {
						t.owners[place] = ownerSet{}
					}
					t.owners[place][who] = true
				}
			}
		}
		for _, c := range h.claims {
			t.claims[heldClaim{c, who}] = true
		}
	}
	return t
}

// of changes the amounts that an id belongs to: of its resource, and of its device.
func (t *tally) of(resource, id string, slicesOf SliceOf, change func(*amount)) (Place, bool) {
	if t.resources[resource] == nil {
		t.resources[resource] = newAmount()
	}
	change(t.resources[resource])
	place, _, ok := identify(resource, id, slicesOf)
	if ok {
		if t.places[place] == nil {
			t.places[place] = newAmount()
		}
		change(t.places[place])
	}
	return place, ok
}

// rated reports whether the share of a device that is given away is known: where the
// kubelet does not tell what there is, a device that is shared has replicas that nobody
// holds and nobody names.
func (t *tally) rated(a *amount) bool {
	if t.whole {
		return true
	}
	for id := range a.held {
		if strings.Contains(id, "::") {
			return false
		}
	}
	return true
}

// numaText is the NUMA nodes of a device, which mostly is one.
func numaText(nodes []int64) string {
	nodes = slices.Clone(nodes)
	slices.Sort(nodes)
	var out []string
	for _, n := range slices.Compact(nodes) {
		out = append(out, strconv.FormatInt(n, 10))
	}
	return strings.Join(out, ",")
}
