package clickhouse

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sextant/internal/chdb"
)

//go:embed engine/config.xml
var engineConfig []byte

//go:embed engine/users.xml
var engineUsers []byte

// openEngine writes the engine's configuration beside its data and starts it.
func openEngine(cfg Config) (*chdb.Engine, error) {
	if err := chdb.Load(cfg.Library); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	configDir := filepath.Join(dir, "config")
	if err := os.MkdirAll(configDir, 0o700); err != nil {
		return nil, err
	}
	users := filepath.Join(configDir, "users.xml")
	if strings.ContainsAny(users, "<>&") {
		return nil, fmt.Errorf("directory %s: has a character that XML does not take", dir)
	}
	config := bytes.ReplaceAll(engineConfig, []byte(">users.xml<"), []byte(">"+users+"<"))
	if err := os.WriteFile(users, engineUsers, 0o600); err != nil {
		return nil, err
	}
	file := filepath.Join(configDir, "config.xml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return nil, err
	}
	return chdb.Open(dir, "--config-file="+file)
}

// identity asks the engine for its version and its time zone.
func identity(ctx context.Context, e *chdb.Engine) (version, zone string, err error) {
	conn, err := e.Connect()
	if err != nil {
		return "", "", err
	}
	defer conn.Close()
	r, err := conn.Query(ctx, "SELECT version(), timezone()", "TabSeparatedRaw")
	if err != nil {
		return "", "", err
	}
	defer r.Close()
	version, zone, _ = strings.Cut(strings.TrimSpace(string(r.Bytes())), "\t")
	return version, zone, nil
}
