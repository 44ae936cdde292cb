package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
)

// DB is an open store.
type DB struct {
	cfg     Config
	names   names
	options *ch.Options
	conn    driver.Conn
	log     *slog.Logger
	metrics *metrics
	changes *changes
}

// Open connects to the server. While it does not answer, Open tries again with growing
// pauses until ctx is done; a wrong password or an unreadable file fails at once.
// Metrics are registered on reg, which may be nil.
func Open(ctx context.Context, cfg Config, log *slog.Logger, reg prometheus.Registerer) (*DB, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	o, err := cfg.options()
	if err != nil {
		return nil, err
	}
	conn, err := ch.Open(o)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", strings.Join(cfg.Addr, ", "), err)
	}
	m, err := newMetrics(reg)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	db := &DB{cfg: cfg, names: names{cfg.Database, cfg.Cluster}, options: o, conn: conn, log: log, metrics: m}
	db.changes = newChanges(db)
	if err := db.await(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return db, nil
}

// await pings until the server answers.
func (db *DB) await(ctx context.Context) error {
	pause := newBackoff()
	for attempt := 1; ; attempt++ {
		err := db.Ping(ctx)
		if err == nil {
			return nil
		}
		if kindOf(err) == permanent {
			return err
		}
		if attempt == 1 && ctx.Err() == nil {
			db.log.Warn("clickhouse does not answer, trying again", "addr", db.cfg.Addr, "err", err)
		}
		if waitErr := pause.wait(ctx); waitErr != nil {
			return fmt.Errorf("gave up after %d attempts: %w", attempt, err)
		}
	}
}

// Ping asks the server for an answer.
func (db *DB) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, db.cfg.DialTimeout+5*time.Second)
	defer cancel()
	// Ping of the client opens a connection over HTTP but sends nothing over an open
	// one; a query does the same thing over both protocols.
	var one uint8
	if err := db.conn.QueryRow(ctx, "SELECT 1").Scan(&one); err != nil {
		return fmt.Errorf("ping %s: %w", strings.Join(db.cfg.Addr, ", "), err)
	}
	return nil
}

// Query runs a SELECT. In sql, {db} stands for the database. Arguments bind to ? and
// @name as in clickhouse-go. The caller closes the rows.
func (db *DB) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	return db.conn.Query(ctx, strings.ReplaceAll(sql, "{db}", db.names.DB()), args...)
}

// Exec runs a statement without a result. In sql, {db} stands for the database.
func (db *DB) Exec(ctx context.Context, sql string, args ...any) error {
	return db.conn.Exec(ctx, strings.ReplaceAll(sql, "{db}", db.names.DB()), args...)
}

// Close closes the connections. Sinks are closed before it.
func (db *DB) Close() error { return db.conn.Close() }
