package clickhouse

// All that differs between the native protocol and HTTP is in this file, so that the
// embedded engine (HTTP) and a production server (either) share every other line.

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"sextant/pipeline/backfill"
)

// options turns c into the client's options. The database is not among them: every
// statement names it, so that it may be created over the same connection.
func (c Config) options() (*ch.Options, error) {
	password, err := c.password()
	if err != nil {
		return nil, err
	}
	tlsConf, err := c.TLS.load()
	if err != nil {
		return nil, err
	}
	o := &ch.Options{
		Addr:             c.Addr,
		Auth:             ch.Auth{Username: c.Username, Password: password},
		TLS:              tlsConf,
		DialTimeout:      c.DialTimeout,
		ReadTimeout:      c.ReadTimeout,
		MaxOpenConns:     c.MaxConns,
		MaxIdleConns:     c.MaxConns,
		ConnMaxLifetime:  time.Hour,
		ConnOpenStrategy: ch.ConnOpenInOrder,
		Compression:      &ch.Compression{Method: compressions[c.compression()]},
		ClientInfo: ch.ClientInfo{Products: []struct{ Name, Version string }{
			{Name: "sextant", Version: "1"},
		}},
	}
	if c.Protocol == "http" {
		o.Protocol = ch.HTTP
	}
	if c.Cluster != "" {
		// Without it an insert returns when one server holds the rows in a queue.
		o.Settings = ch.Settings{"distributed_foreground_insert": 1}
	}
	return o, nil
}

var compressions = map[string]ch.CompressionMethod{
	"none": ch.CompressionNone, "lz4": ch.CompressionLZ4, "zstd": ch.CompressionZSTD,
}

// compression resolves auto: lz4, but none to this machine, where a network is not what
// limits.
func (c Config) compression() string {
	if c.Compression != "auto" {
		return c.Compression
	}
	if c.leavesHost() {
		return "lz4"
	}
	return "none"
}

// leavesHost says whether an address is not of this machine.
func (c Config) leavesHost() bool {
	for _, a := range c.Addr {
		host, _, err := net.SplitHostPort(a)
		if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return true
		}
	}
	return false
}

// insertContext carries what an insert needs beside its rows. Over HTTP the client would
// ask the server for the table's columns before every batch; the types that we name
// spare that. They may be simpler than the table's (String for LowCardinality(String)):
// the server converts. Over the native protocol the server sends its own types, and the
// columns take the same Go slices.
func (db *DB) insertContext(ctx context.Context, t *table, token string) context.Context {
	settings := ch.Settings{
		// A retry of the same rows after an unknown outcome must not leave them twice.
		"insert_deduplication_token": token,
		"insert_deduplicate":         1,
		// A backlog may span more days than the server's default of 100 partitions.
		"max_partitions_per_insert_block": 0,
		// Our inserts hold each row once already. The server would look for copies row by row,
		// which is half of what an insert costs; those of several inserts meet in merges and
		// under FINAL all the same.
		"optimize_on_insert": 0,
	}
	if db.cfg.Cluster != "" {
		settings["insert_quorum"] = "auto" // durable on most replicas, not on one
	}
	opts := []ch.QueryOption{ch.WithSettings(settings)}
	if db.cfg.Protocol == "http" {
		opts = append(opts, ch.WithColumnNamesAndTypes(t.columns))
	}
	return ch.Context(ctx, opts...)
}

// openBatch begins an insert into t. Over both protocols it holds a connection of the
// pool until the batch is sent or closed.
func (db *DB) openBatch(ctx context.Context, t *table, token string) (driver.Batch, error) {
	return db.conn.PrepareBatch(db.insertContext(ctx, t, token), t.insert(db.names))
}

// sendColumns inserts s as columns of the client. It works over both protocols.
func (db *DB) sendColumns(ctx context.Context, s *step) (err error) {
	batch, err := db.openBatch(ctx, s.table, s.token)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	w := &columnWriter{batch: batch}
	s.append(w)
	if w.err != nil {
		_ = batch.Close() // w.err says why; this only gives the connection back
		return fmt.Errorf("column %s: %w", s.table.columns[w.next-1].Name, w.err)
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// takesBlocks says whether samples, series, feature rows and the ledger go as ready blocks. The client can send those over
// HTTP only, and does not compress them; over a network that costs more than it saves.
// On one machine it saves a third of the CPU of an insert, most of it page faults of
// columns that grow.
func (c Config) takesBlocks() bool { return c.Protocol == "http" && c.compression() == "none" }

// sendBlock inserts s as one ready block.
func (db *DB) sendBlock(ctx context.Context, s *step) error {
	b := s.block()
	defer b.stop()
	if err := db.conn.InsertFormat(db.insertContext(ctx, s.table, s.token), "Native", s.table.insert(db.names), b); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// readSamples asks for the columns series, ts, value and flags of samples. Over HTTP they come as
// columns; over the native protocol the client shows them row by row only.
func (db *DB) readSamples(ctx context.Context, query string, args []any, f func(backfill.Samples)) (err error) {
	if db.cfg.Protocol != "http" {
		return db.scanSamples(ctx, query, args, f)
	}
	in, err := db.conn.QueryFormat(ctx, "Native", query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return samplesOfBlocks(in, f)
}

// unreachable says that err came from the way to the server, not from the server. HTTP
// reports a closed or refused connection as a net error, native as io.EOF or a timeout.
func unreachable(err error) bool {
	var netErr net.Error
	var opErr *net.OpError
	var httpErr *ch.HTTPError
	switch {
	case errors.As(err, &opErr), errors.As(err, &netErr):
		return true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe), errors.Is(err, net.ErrClosed):
		return true
	case errors.Is(err, ch.ErrAcquireConnTimeout), errors.Is(err, ch.ErrAcquireConnNoAddress), errors.Is(err, os.ErrDeadlineExceeded):
		return true
	case errors.As(err, &httpErr): // a proxy in between: busy, or its server is away
		return httpErr.StatusCode == 429 || httpErr.StatusCode == 502 || httpErr.StatusCode == 503 || httpErr.StatusCode == 504
	}
	return false
}

func (c Config) password() (string, error) {
	if c.PasswordFile == "" {
		return "", nil
	}
	b, err := readSmallFile(c.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("password_file: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

func (t TLSConfig) load() (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName, InsecureSkipVerify: t.InsecureSkipVerify}
	if t.CAFile != "" {
		pem, err := readSmallFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("tls.ca_file: %w", err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls.ca_file: %s holds no certificate", t.CAFile)
		}
	}
	if t.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("tls.cert_file: %w", err)
		}
		conf.Certificates = []tls.Certificate{cert}
	}
	return conf, nil
}

// readSmallFile reads a secret or certificate, at most 1 MiB of it.
func readSmallFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const limit = 1 << 20
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && len(b) > limit {
		err = fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return b, err
}

func checkAddr(a string) error {
	host, port, err := net.SplitHostPort(a)
	if err != nil {
		return fmt.Errorf("%q is not host:port", a)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || host == "" {
		return fmt.Errorf("%q is not host:port", a)
	}
	return nil
}
