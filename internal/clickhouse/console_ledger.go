package clickhouse

import (
	"context"
	"strconv"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"sextant/dashboards/console"
)

// claimed is what the ledger says of a node's samples.
type claimed struct {
	then uint64 // by the time at which the samples were counted
	now  uint64 // by now, later
}

// ConsoleLedger implements console.Reader. While records are written, a count of samples and a
// count of what the ledger claims never meet: samples are there a moment before their ledger
// row. So samples are counted first, and then the ledger twice over: what it had before must be
// among the samples, and beyond what it has soon after there must be none. What moves between
// two hours stays with its node.
func (db *DB) ConsoleLedger(ctx context.Context) (*console.Ledger, error) {
	l := &console.Ledger{At: time.Now().UTC()}
	err := db.consoleEach(ctx, "agents", func(rows driver.Rows) error {
		return rows.Scan(&l.Agents, &l.Received, &l.Lost, &l.Dropped, &l.Pending, &l.Resent)
	})
	if err != nil {
		return nil, err
	}
	visible, at := map[string]uint64{}, int64(0)
	err = db.consoleEach(ctx, "visible", func(rows driver.Rows) error {
		var node string
		var n uint64
		if err := rows.Scan(&node, &n, &at); err != nil {
			return err
		}
		visible[node] = n
		return nil
	})
	if err != nil {
		return nil, err
	}
	for range settleRounds {
		claims, err := db.claims(ctx, at)
		if err != nil {
			return nil, err
		}
		if balance(l, visible, claims); l.Duplicate == 0 {
			break
		}
		select { // the rows of the ledger may be on their way
		case <-time.After(settlePause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return l, nil
}

// How long a ledger row may be behind its samples before they count as double.
const (
	settleRounds = 5
	settlePause  = time.Second
)

// balance compares what is found with what is claimed, node by node.
func balance(l *console.Ledger, visible map[string]uint64, claims map[string]claimed) {
	l.Expected, l.Visible, l.Missing, l.Duplicate = 0, 0, 0, 0
	for node, c := range claims {
		l.Expected += c.then
		l.Missing += c.then - min(c.then, visible[node])
	}
	for node, n := range visible {
		l.Visible += n
		l.Duplicate += n - min(n, claims[node].now)
	}
}

func (db *DB) claims(ctx context.Context, at int64) (map[string]claimed, error) {
	out := map[string]claimed{}
	ctx = ch.Context(ctx, ch.WithParameters(ch.Parameters{"at": strconv.FormatInt(at, 10)}))
	err := db.consoleEach(ctx, "expected", func(rows driver.Rows) error {
		var node string
		var c claimed
		if err := rows.Scan(&node, &c.then, &c.now); err != nil {
			return err
		}
		out[node] = c
		return nil
	})
	return out, err
}
