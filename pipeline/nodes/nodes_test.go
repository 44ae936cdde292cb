package nodes

import (
	"strings"
	"testing"

	schema "sextant/schema/nodes"
	"sextant/schema/wire"
)

func TestDecode(t *testing.T) {
	n := &schema.Node{Cluster: "eu/prod", Node: "n1", Since: 1, Collected: 2}
	if err := n.Seal(); err != nil {
		t.Fatal(err)
	}
	value, err := n.Encode()
	if err != nil {
		t.Fatal(err)
	}
	r := &wire.Record{Partition: 3, Offset: 4, Ingest: 5, Key: schema.Key("eu/prod", "n1"), Value: value}
	row, err := Decode(r)
	if err != nil || row.Cluster != "eu/prod" || row.Node != "n1" || row.Document.Hash != n.Hash || row.Text != string(value) || row.Partition != 3 || row.Offset != 4 || row.Ingest != 5 {
		t.Errorf("%+v, %v", row, err)
	}
	r.Value = nil
	if row, err = Decode(r); err != nil || row.Document != nil || row.Node != "n1" {
		t.Errorf("a node that is gone: %+v, %v", row, err)
	}
	for want, r := range map[string]*wire.Record{
		"no cluster/node":    {Key: []byte("n1")},
		`"c/" is no cluster`: {Key: []byte("c/")},
		`"/n" is no cluster`: {Key: []byte("/n")},
		`tn" is no`:          {Key: []byte("c/\tn")},
		"under the key":      {Key: schema.Key("other", "n1"), Value: value},
		"node: ":             {Key: schema.Key("c", "n"), Value: []byte("{")},
	} {
		if _, err := Decode(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
