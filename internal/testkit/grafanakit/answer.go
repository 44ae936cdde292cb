package grafanakit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Column is a column of an answer, with its ClickHouse type.
type Column struct{ Name, Type string }

// Answer is what ClickHouse says to a query.
type Answer struct {
	Meta       []Column
	Data       [][]any
	Statistics struct {
		RowsRead int64 `json:"rows_read"`
	}
}

// Ask sends a query to ClickHouse's HTTP interface at addr, host:port.
func Ask(ctx context.Context, addr, database, sql string) (*Answer, error) {
	text, err := post(ctx, addr, database, sql+"\nFORMAT JSONCompact")
	if err != nil {
		return nil, err
	}
	var a Answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return nil, fmt.Errorf("%w in %.200s", err, text)
	}
	return &a, nil
}

func post(ctx context.Context, addr, database, sql string) (string, error) {
	to := "http://" + addr + "/?output_format_json_quote_64bit_integers=0&database=" + url.QueryEscape(database)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(sql))
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %.1000s", resp.Status, text)
	}
	return string(text), nil
}

// Column returns a column by its name.
func (a *Answer) Column(name string) (Column, bool) {
	for _, c := range a.Meta {
		if c.Name == name {
			return c, true
		}
	}
	return Column{}, false
}

// plain is the type without what does not change its meaning to Grafana.
func (c Column) plain() string {
	t := c.Type
	for _, wrap := range []string{"LowCardinality(", "Nullable("} {
		if rest, ok := strings.CutPrefix(t, wrap); ok {
			t = strings.TrimSuffix(rest, ")")
		}
	}
	return t
}

// IsTime says whether the column is a time.
func (c Column) IsTime() bool { return strings.HasPrefix(c.plain(), "DateTime") }

// IsNullable says whether a row may have nothing in the column.
func (c Column) IsNullable() bool { return strings.Contains(c.Type, "Nullable(") }

// IsNumber says whether Grafana may draw the column.
func (c Column) IsNumber() bool {
	t := c.plain()
	return strings.HasPrefix(t, "UInt") || strings.HasPrefix(t, "Int") || strings.HasPrefix(t, "Float")
}

// IsText says whether the column may name a series.
func (c Column) IsText() bool { return c.plain() == "String" }

// HasValue says whether some row has a value in the column.
func (a *Answer) HasValue(name string) bool {
	for i, c := range a.Meta {
		if c.Name != name {
			continue
		}
		for _, row := range a.Data {
			if row[i] != nil {
				return true
			}
		}
	}
	return false
}
