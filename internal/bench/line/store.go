package line

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// store speaks to the embedded ClickHouse as curl would.
type store struct{ addr string }

func (s store) do(ctx context.Context, query string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.addr+"/?query="+url.QueryEscape(query), body)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%.100s: %s: %.500s", query, resp.Status, b)
	}
	return b, nil
}

func (s store) exec(ctx context.Context, query string) error {
	_, err := s.do(ctx, query, nil)
	return err
}

// number is the single number that a query yields.
func (s store) number(ctx context.Context, query string) (float64, error) {
	b, err := s.do(ctx, query, nil)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(string(b)), 64)
	if err != nil {
		return 0, fmt.Errorf("%.100s: %w", query, err)
	}
	return v, nil
}

func (s store) insert(ctx context.Context, table string, native []byte) error {
	_, err := s.do(ctx, "INSERT INTO "+table+" FORMAT Native", bytes.NewReader(native))
	return err
}
