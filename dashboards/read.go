package dashboards

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// Read reads a dashboard's JSON by the SDK's types: an unknown key, a wrong type and a missing
// field are errors.
func Read(text []byte) (dashboard.Dashboard, error) {
	Register()
	// The strict reading of v0.0.22 finds every fault, and drops the panels where there is none.
	var strict, d dashboard.Dashboard
	if err := faultsOf(strict.UnmarshalJSONStrict(text)); err != nil {
		return d, err
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return d, err
	}
	return d, faultsOf(d.Validate())
}

// faultsOf drops an empty list of faults, which the SDK returns as an error that is not nil.
func faultsOf(err error) error {
	if list := (cog.BuildErrors)(nil); errors.As(err, &list) && len(list) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	return nil
}
