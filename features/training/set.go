package training

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"sextant/features"
)

// Spec says which training set is wanted.
type Spec struct {
	Service     string // "node_state@v1", for the record; empty when features were named one by one
	Columns     []features.ServiceColumn
	Timestamp   string // the labels' column of times; "event_timestamp"
	FullNames   bool   // name columns view__feature, as Feast does, and not feature
	Statuses    bool   // a column with the status of each value beside the features
	AsCorrected bool   // values as later corrections left them, and not as they were known then
}

// DefaultTimestamp is Feast's name of the column of times.
const DefaultTimestamp = "event_timestamp"

// Cutoff says in words which rows count. It goes with every answer.
func (s *Spec) Cutoff() string {
	if s.AsCorrected {
		return "none: as corrected later"
	}
	return "known at " + s.timestamp()
}

func (s *Spec) timestamp() string { return cmp.Or(s.Timestamp, DefaultTimestamp) }

// Set is a training set over labels of one shape.
type Set struct {
	spec   Spec
	schema *arrow.Schema
	names  []string // of the features
	keys   []int    // columns of the labels, in the order of keyNames
	time   int
	others []int // columns of the labels that are neither
	parts  []part
}

// part is the features of one view.
type part struct {
	view   *features.View // with the features that are wanted alone
	keys   []int          // View.Keys[k] is keys[k] of the set
	column []int          // View.Features[f] is this feature of the set
}

// New plans a training set over labels with this schema. Its columns are the join keys, the
// time, the other columns of the labels, the features, and their statuses.
func New(spec Spec, labels *arrow.Schema) (*Set, error) {
	s := &Set{spec: spec, time: -1}
	var err error
	if s.names, err = features.ColumnNames(spec.Columns, spec.FullNames); err != nil {
		return nil, err
	}
	keyNames := s.plan()
	for _, name := range keyNames {
		i, err := find(labels, name, isText, "text or integers")
		if err != nil {
			return nil, fmt.Errorf("%w; the join keys are %s", err, strings.Join(keyNames, ", "))
		}
		s.keys = append(s.keys, i)
	}
	if s.time, err = find(labels, spec.timestamp(), isTime, "times with a zone, or text"); err != nil {
		return nil, err
	}
	for i := range labels.NumFields() {
		if i != s.time && !slices.Contains(s.keys, i) {
			s.others = append(s.others, i)
		}
	}
	return s, s.layOut(labels)
}

// find is the column of this name.
func find(labels *arrow.Schema, name string, fits func(arrow.DataType) bool, want string) (int, error) {
	switch at := labels.FieldIndices(name); {
	case len(at) == 0:
		return -1, fmt.Errorf("labels have no column %q", name)
	case len(at) > 1:
		return -1, fmt.Errorf("labels have %d columns %q", len(at), name)
	case !fits(labels.Field(at[0]).Type):
		return -1, fmt.Errorf("column %q of the labels is %s: want %s", name, labels.Field(at[0]).Type, want)
	default:
		return at[0], nil
	}
}

// plan sorts the features by view, and gives the join keys of all views.
func (s *Set) plan() (keyNames []string) {
	at := map[*features.View]int{}
	for i, c := range s.spec.Columns {
		p, ok := at[c.View]
		if !ok {
			p = len(s.parts)
			at[c.View] = p
			view := *c.View
			view.Features = nil
			s.parts = append(s.parts, part{view: &view})
			for _, key := range view.Keys {
				if !slices.Contains(keyNames, key) {
					keyNames = append(keyNames, key)
				}
				s.parts[p].keys = append(s.parts[p].keys, slices.Index(keyNames, key))
			}
		}
		s.parts[p].view.Features = append(s.parts[p].view.Features, *c.Def())
		s.parts[p].column = append(s.parts[p].column, i)
	}
	return keyNames
}

// layOut makes the schema of the result.
func (s *Set) layOut(labels *arrow.Schema) error {
	var fields []arrow.Field
	for _, i := range slices.Concat(s.keys, []int{s.time}, s.others) {
		fields = append(fields, labels.Field(i))
	}
	for i, c := range s.spec.Columns {
		fields = append(fields, featureField(s.names[i], c))
	}
	if s.spec.Statuses {
		for _, name := range s.names {
			fields = append(fields, arrow.Field{Name: name + "__status", Type: arrow.BinaryTypes.String})
		}
	}
	seen := map[string]bool{}
	for _, f := range fields {
		if seen[f.Name] {
			return fmt.Errorf("two columns would be called %q: rename the one of the labels, or ask for full feature names", f.Name)
		}
		seen[f.Name] = true
	}
	meta := s.metadata()
	s.schema = arrow.NewSchema(fields, &meta)
	return nil
}

// metadata says in the file what it is.
func (s *Set) metadata() arrow.Metadata {
	refs := make([]string, len(s.spec.Columns))
	for i, c := range s.spec.Columns {
		refs[i] = c.Ref()
	}
	return arrow.NewMetadata(
		[]string{"sextant.cutoff", "sextant.service", "sextant.features", "sextant.hash"},
		[]string{s.spec.Cutoff(), s.spec.Service, strings.Join(refs, ","), (&features.Service{Columns: s.spec.Columns}).Hash()})
}

func featureField(name string, c features.ServiceColumn) arrow.Field {
	f := c.Def()
	keys, values := []string{"feature", "unit", "ttl"}, []string{c.Ref(), f.Unit, c.View.TTL.String()}
	if f.Description != "" {
		keys, values = append(keys, "description"), append(values, f.Description)
	}
	if f.Default != nil {
		keys, values = append(keys, "default"), append(values, fmt.Sprint(*f.Default))
	}
	return arrow.Field{Name: name, Type: typeOf(f.DType), Nullable: true, Metadata: arrow.NewMetadata(keys, values)}
}

func typeOf(d features.DType) arrow.DataType {
	switch d {
	case features.Float32:
		return arrow.PrimitiveTypes.Float32
	case features.Float64:
		return arrow.PrimitiveTypes.Float64
	case features.Int64:
		return arrow.PrimitiveTypes.Int64
	case features.Bool:
		return arrow.FixedWidthTypes.Boolean
	case features.String:
		return arrow.BinaryTypes.String
	}
	panic("BUG: feature type without a column type")
}

// Schema is that of the result.
func (s *Set) Schema() *arrow.Schema { return s.schema }
