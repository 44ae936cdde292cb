// Package clickhouse is the store: it keeps samples, series, feature rows and the ledger
// of records in ClickHouse, and reads them back. It is the only package that knows
// clickhouse-go and goose.
package clickhouse

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Config says which ClickHouse to use and how. Start from DefaultConfig.
type Config struct {
	Addr         []string      `yaml:"addr"`          // host:port, the first that answers is used
	Protocol     string        `yaml:"protocol"`      // native or http
	Database     string        `yaml:"database"`      // created when it does not exist
	Cluster      string        `yaml:"cluster"`       // tables are replicated and sharded over it; empty: one server
	Username     string        `yaml:"username"`      //
	PasswordFile string        `yaml:"password_file"` // read at start; white space around it is cut
	Compression  string        `yaml:"compression"`   // of the connection: none, lz4, zstd or auto
	TLS          TLSConfig     `yaml:"tls"`           //
	DialTimeout  time.Duration `yaml:"dial_timeout"`  //
	ReadTimeout  time.Duration `yaml:"read_timeout"`  // longest silence of the server within one answer
	MaxConns     int           `yaml:"max_conns"`     // an insert holds one from its first row to its answer

	Retention RetentionConfig `yaml:"retention"`
}

// TLSConfig secures the connection.
type TLSConfig struct {
	Enabled            bool   `yaml:"enabled"`
	CAFile             string `yaml:"ca_file"`   // trusted beside nothing else; empty: the system's
	CertFile           string `yaml:"cert_file"` // client certificate, with KeyFile
	KeyFile            string `yaml:"key_file"`
	ServerName         string `yaml:"server_name"`
	InsecureSkipVerify bool   `yaml:"insecure_skip_verify"`
}

// RetentionConfig says how many days of rows are kept, by event time. 0 keeps them for
// ever. Whole days are dropped, so a row may live a day longer.
type RetentionConfig struct {
	SamplesDays     int `yaml:"samples_days"`
	LedgerDays      int `yaml:"ledger_days"`
	FeaturesDays    int `yaml:"features_days"`
	DeadLettersDays int `yaml:"dead_letters_days"`
	TasksDays       int `yaml:"tasks_days"`     // of events: longer than any task lives
	InventoryDays   int `yaml:"inventory_days"` // after the last copy: what a node was made of, and nodes that are not heard of
}

// DefaultConfig is one server on this host over the native protocol.
func DefaultConfig() Config {
	return Config{
		Addr:        []string{"127.0.0.1:9000"},
		Protocol:    "native",
		Database:    "sextant",
		Username:    "default",
		Compression: "auto",
		DialTimeout: 5 * time.Second,
		ReadTimeout: 2 * time.Minute,
		MaxConns:    16,
		Retention:   RetentionConfig{SamplesDays: 30, LedgerDays: 30, FeaturesDays: 400, DeadLettersDays: 30, TasksDays: 400, InventoryDays: 400},
	}
}

// identifier is what may be the name of a database, cluster, view or feature. Names are
// quoted as well; this keeps them readable without quotes.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// Validate reports every fault at once, each with the path of its key.
func (c Config) Validate() error {
	var errs []error
	fail := func(key, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...)))
	}
	if len(c.Addr) == 0 {
		fail("addr", "at least one host:port is needed")
	}
	for i, a := range c.Addr {
		if err := checkAddr(a); err != nil {
			fail(fmt.Sprintf("addr[%d]", i), "%v", err)
		}
	}
	oneOf(fail, "protocol", c.Protocol, "native", "http")
	oneOf(fail, "compression", c.Compression, "none", "lz4", "zstd", "auto")
	if !identifier.MatchString(c.Database) {
		fail("database", "%q is not a name of letters, digits and _", c.Database)
	}
	if c.Cluster != "" && !identifier.MatchString(c.Cluster) {
		fail("cluster", "%q is not a name of letters, digits and _", c.Cluster)
	}
	if c.DialTimeout <= 0 {
		fail("dial_timeout", "%v is not above 0", c.DialTimeout)
	}
	if c.ReadTimeout <= 0 {
		fail("read_timeout", "%v is not above 0", c.ReadTimeout)
	}
	if c.MaxConns < 4 {
		fail("max_conns", "%d is below 4: two inserts, a read and a check at once", c.MaxConns)
	}
	c.TLS.validate(fail)
	if c.PasswordFile != "" && !c.TLS.Enabled && c.leavesHost() {
		fail("tls.enabled", "a password would leave this host readable")
	}
	c.Retention.validate(fail)
	return errors.Join(errs...)
}

func (t TLSConfig) validate(fail func(key, format string, args ...any)) {
	if (t.CertFile == "") != (t.KeyFile == "") {
		fail("tls.cert_file", "cert_file and key_file go together")
	}
	if !t.Enabled && t != (TLSConfig{}) {
		fail("tls.enabled", "other keys of tls are set, but tls is off")
	}
}

// auditDays is for how many days both the ledger and the samples that it speaks of are
// kept; 0: for ever.
func (r RetentionConfig) auditDays() int {
	if r.SamplesDays == 0 || r.LedgerDays == 0 {
		return max(r.SamplesDays, r.LedgerDays)
	}
	return min(r.SamplesDays, r.LedgerDays)
}

func (r RetentionConfig) validate(fail func(key, format string, args ...any)) {
	for _, f := range []struct {
		key  string
		days int
	}{
		{"samples_days", r.SamplesDays}, {"ledger_days", r.LedgerDays},
		{"features_days", r.FeaturesDays}, {"dead_letters_days", r.DeadLettersDays}, {"tasks_days", r.TasksDays}, {"inventory_days", r.InventoryDays},
	} {
		if f.days < 0 || f.days > 36500 {
			fail("retention."+f.key, "%d is not within 0 and 36500", f.days)
		}
	}
}

func oneOf(fail func(key, format string, args ...any), key, value string, allowed ...string) {
	for _, a := range allowed {
		if value == a {
			return
		}
	}
	fail(key, "%q is none of %v", value, allowed)
}
