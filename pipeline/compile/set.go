// Package compile evaluates PromQL over a window store without interpreting it. An
// expression is compiled once into a graph of columnar operators. What depends on labels
// (which series a sum adds up, which sides of a join meet) is worked out when the series
// of a group of nodes change; a tick is then arithmetic over slices of floats.
//
// The upstream engine defines what an expression means: the operators here repeat its
// float operations in its order, so that the numbers are equal to the last bit. What is
// not compiled, or what fails, is for the engine to answer. The arithmetic is derived from
// github.com/prometheus/prometheus/promql v0.316.0, Copyright The Prometheus Authors,
// Apache License 2.0.
package compile

import (
	"errors"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"sextant/pipeline/window"
)

// Set is the compiled expressions of one store. Expressions share what they have in
// common: a part that several of them contain is evaluated once per group and tick. A set
// is not safe for concurrent use.
type Set struct {
	store    *window.Store
	lookback int64 // ms

	nodes map[string]*node // by what they compute
	order []*node

	group int
	at    int64  // the instant of the evaluation, unix ms
	stamp uint64 // counts evaluations: says whose output a node holds
	memo  map[*node][]labels.Labels
	axes  axes
}

// NewSet returns a set without expressions. lookback is how long a sample stands for its
// series in an instant selector.
func NewSet(st *window.Store, lookback time.Duration) *Set {
	return &Set{store: st, lookback: lookback.Milliseconds(), nodes: map[string]*node{}, memo: map[*node][]labels.Labels{}, axes: axes{known: map[axis]int{}}}
}

// Begin starts the evaluation of a group at an instant, unix ms. The results of the
// evaluation before it are gone.
func (s *Set) Begin(group int, at int64) {
	s.group, s.at = group, at
	s.stamp++
	s.axes.reset()
	if len(s.memo) > 0 {
		clear(s.memo)
	}
}

// Program is a compiled expression.
type Program struct {
	set  *Set
	root *node
}

// Scalar says whether the expression gives a scalar and not a vector.
func (p *Program) Scalar() bool { return p.root.scalar }

// Eval evaluates the expression for the group and the instant of Begin. The result is
// valid until the next Begin. An error says that the engine would fail as well, or that
// it must decide.
func (p *Program) Eval() (Vector, error) {
	p.set.ready(p.root)
	return p.set.eval(p.root)
}

// Version changes when the slots of the results for the present group do.
func (p *Program) Version() uint64 { return p.set.ready(p.root).version }

// Labels returns the labels of every slot that a result for the present group may have.
func (p *Program) Labels() []labels.Labels {
	p.set.ready(p.root)
	return p.set.labels(p.root)
}

// Vector is an instant vector: elements in the engine's order, each with the slot that
// says what its labels are. A scalar is a Vector of one value without a slot.
type Vector struct {
	Slot  []int32
	Value []float64
}

func (v *Vector) reset() { v.Slot, v.Value = v.Slot[:0], v.Value[:0] }

func (v *Vector) add(slot int32, f float64) {
	v.Slot, v.Value = append(v.Slot, slot), append(v.Value, f)
}

// Faults of an evaluation for which the engine has an error, too.
var (
	errSameLabels = errors.New("two results have the same labels")
	errManyToMany = errors.New("two series of the one side match")
	errManyToOne  = errors.New("two series of a one-to-one match")
	errParameter  = errors.New("a parameter is out of bounds")
)
