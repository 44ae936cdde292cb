// Package store runs the embedded engine of a measurement as a process of its own.
package store

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"

	"sextant/internal/bench/child"
)

// Store is an engine with the tables of the program.
type Store struct {
	*child.Process
	Addr string
	Env  []string // for programs that use it
}

// Open starts an engine in dir and brings its tables up to date. Env is for the definitions.
func Open(ctx context.Context, dir string, env ...string) (*Store, error) {
	var addr [2]string
	for i := range addr {
		var err error
		if addr[i], err = child.FreeAddr(); err != nil {
			return nil, err
		}
	}
	s := &Store{Addr: addr[1], Env: append([]string{"SEXTANT_CLICKHOUSE_ADDR=" + addr[1], "SEXTANT_CLICKHOUSE_PROTOCOL=http"}, env...)}
	var err error
	if s.Process, err = child.Start(ctx, dir, "embedded", "ready", s.Env, "embedded", "--dir", filepath.Join(dir, "data"), "--kafka", addr[0], "--clickhouse", addr[1]); err != nil {
		return nil, err
	}
	p, err := child.Start(ctx, dir, "migrate", "", s.Env, "migrate")
	if err == nil {
		err = p.Wait()
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Do sends a query as curl would, and copies the answer to to, if there is one.
func (s *Store) Do(ctx context.Context, query string, to io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.Addr+"/?output_format_parquet_string_as_string=1&query="+url.QueryEscape(query), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 500))
		return fmt.Errorf("%.60s: %s: %s", query, resp.Status, text)
	}
	if to == nil {
		to = io.Discard
	}
	_, err = io.Copy(to, resp.Body)
	return err
}
