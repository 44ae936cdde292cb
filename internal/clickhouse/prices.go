package clickhouse

import (
	"context"
	"fmt"
	"time"
)

// Price is what a unit of something costs from a time on.
type Price struct {
	Item      string // device_hour or kwh
	Vendor    string // empty: any
	Model     string // empty: any
	ValidFrom time.Time
	Price     float64
	Currency  string
	Note      string
}

// Prices are all that were set, in the order of the table.
func (db *DB) Prices(ctx context.Context) ([]Price, error) {
	rows, err := db.Query(ctx, "SELECT item, vendor, model, valid_from, price, currency, note FROM {db}.prices FINAL ORDER BY item, vendor, model, valid_from")
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	defer rows.Close()
	var out []Price
	for rows.Next() {
		var p Price
		if err := rows.Scan(&p.Item, &p.Vendor, &p.Model, &p.ValidFrom, &p.Price, &p.Currency, &p.Note); err != nil {
			return nil, fmt.Errorf("read prices: %w", err)
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

// SetPrice adds a price, or replaces the one of the same item and time.
func (db *DB) SetPrice(ctx context.Context, p Price) error {
	err := db.Exec(ctx, "INSERT INTO {db}.prices (item, vendor, model, valid_from, price, currency, note) VALUES (?, ?, ?, toDateTime(toInt64(?), 'UTC'), ?, ?, ?)",
		p.Item, p.Vendor, p.Model, p.ValidFrom.Unix(), p.Price, p.Currency, p.Note)
	if err != nil {
		return fmt.Errorf("set a price: %w", err)
	}
	return nil
}

// Target is the share of promises that is to be kept, from a time on.
type Target struct {
	Tenant    string // empty: any
	Queue     string // empty: any
	ValidFrom time.Time
	Target    float64 // above 0 and below 1
	Note      string
}

// Targets are all that were set, in the order of the table.
func (db *DB) Targets(ctx context.Context) ([]Target, error) {
	rows, err := db.Query(ctx, "SELECT tenant, queue, valid_from, target, note FROM {db}.slo_targets FINAL ORDER BY tenant, queue, valid_from")
	if err != nil {
		return nil, fmt.Errorf("read slo_targets: %w", err)
	}
	defer rows.Close()
	var out []Target
	for rows.Next() {
		var t Target
		if err := rows.Scan(&t.Tenant, &t.Queue, &t.ValidFrom, &t.Target, &t.Note); err != nil {
			return nil, fmt.Errorf("read slo_targets: %w", err)
		}
		out = append(out, t)
	}
	return out, rows.Err()
}

// SetTarget adds a target, or replaces the one of the same tenant, queue and time.
func (db *DB) SetTarget(ctx context.Context, t Target) error {
	err := db.Exec(ctx, "INSERT INTO {db}.slo_targets (tenant, queue, valid_from, target, note) VALUES (?, ?, toDateTime(toInt64(?), 'UTC'), ?, ?)",
		t.Tenant, t.Queue, t.ValidFrom.Unix(), t.Target, t.Note)
	if err != nil {
		return fmt.Errorf("set a target: %w", err)
	}
	return nil
}
