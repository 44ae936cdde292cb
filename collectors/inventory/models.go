package inventory

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strings"
	"sync"
)

//go:embed models.csv
var modelsCSV string

// model is what a PCI id stands for.
type model struct{ kind, name, generation, evidence string }

// models is the table by vendor:device.
var models = sync.OnceValue(func() map[string]model {
	out, err := parseModels(modelsCSV)
	if err != nil {
		panic("BUG: models.csv: " + err.Error()) // the test reads the same bytes
	}
	return out
})

func parseModels(text string) (map[string]model, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment, r.FieldsPerRecord = '#', 6
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	out := map[string]model{}
	for _, row := range rows[1:] {
		id := row[0] + ":" + row[1]
		if _, ok := out[id]; ok {
			return nil, fmt.Errorf("%s stands twice", id)
		}
		out[id] = model{kind: row[2], name: row[3], generation: row[4], evidence: row[5]}
	}
	return out, nil
}
