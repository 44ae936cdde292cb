package grafanakit

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// AskProm asks a query of now at Prometheus' API at addr, host:port, and returns how many
// series have a value.
func AskProm(ctx context.Context, addr, expr string) (int, error) {
	return askProm(ctx, addr, "query", url.Values{"query": {expr}})
}

// AskPromRange asks for the range of a view.
func AskPromRange(ctx context.Context, addr, expr string, v View) (int, error) {
	return askProm(ctx, addr, "query_range", url.Values{"query": {expr}, "start": {strconv.FormatInt(v.From.Unix(), 10)},
		"end": {strconv.FormatInt(v.To.Unix(), 10)}, "step": {v.Interval.String()}})
}

func askProm(ctx context.Context, addr, path string, form url.Values) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/api/v1/"+path+"?"+form.Encode(), nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var a struct {
		Status, Error string
		Data          struct{ Result json.RawMessage }
	}
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		return 0, fmt.Errorf("%s: %w", resp.Status, err)
	}
	if a.Status != "success" {
		return 0, fmt.Errorf("%s: %s", resp.Status, a.Error)
	}
	var series []json.RawMessage
	err = json.Unmarshal(a.Data.Result, &series)
	return len(series), err
}

// LoadAlerts reads the questions of Grafana's file of alert rules.
func LoadAlerts(path string) ([]Question, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f struct {
		Groups []struct {
			Rules []struct {
				Title string
				Data  []struct {
					Model struct {
						RawSQL string `yaml:"rawSql"`
						Expr   string
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	var out []Question
	for _, g := range f.Groups {
		for _, r := range g.Rules {
			out = append(out, Question{Name: r.Title, Kind: "alert", SQL: r.Data[0].Model.RawSQL, PromQL: r.Data[0].Model.Expr})
		}
	}
	return out, nil
}
