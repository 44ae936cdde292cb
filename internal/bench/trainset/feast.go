package trainset

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sextant/internal/fetch"
)

var (
	//go:embed feast.py
	script []byte
	//go:embed requirements.txt
	requirements []byte
)

// feast joins the same labels to the same rows with Feast's offline store on DuckDB, from a
// Parquet file. What hinders it stands in the row.
func (b *bench) feast(ctx context.Context, n int, progress io.Writer) Row {
	row := Row{Program: "feast (duckdb)", Labels: n}
	if err := b.runFeast(ctx, &row, progress); err != nil {
		row.Fault = "not run: " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	return row
}

func (b *bench) runFeast(ctx context.Context, row *Row, progress io.Writer) error {
	python, err := environment(ctx, progress)
	if err != nil {
		return err
	}
	if err := b.export(ctx); err != nil {
		return err
	}
	var names []string
	for _, f := range b.view.Features {
		names = append(names, f.Name)
	}
	if err := os.WriteFile(b.path("feast.py"), script, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, python, b.path("feast.py"), b.dir, strings.Join(names, ","), fmt.Sprint(int(b.view.TTL.Seconds())))
	var faults bytes.Buffer
	cmd.Stderr = &faults
	out, err := cmd.Output()
	if err != nil {
		text := strings.TrimSpace(faults.String())
		return fmt.Errorf("%w: %s", err, text[max(0, len(text)-300):])
	}
	var said struct {
		Seconds float64
		Rows    int
		PeakKiB int64 `json:"peak_kib"`
	}
	if err := json.Unmarshal(out[bytes.LastIndexByte(bytes.TrimSpace(out), '\n')+1:], &said); err != nil {
		return fmt.Errorf("answer %.100q: %w", out, err)
	}
	if said.Rows != row.Labels {
		return fmt.Errorf("%d rows for %d labels", said.Rows, row.Labels)
	}
	row.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	row.Took, row.Peak, row.PeakBoth = time.Duration(said.Seconds*1e9), said.PeakKiB<<10, said.PeakKiB<<10
	return nil
}

// export writes the stored rows to a file once.
func (b *bench) export(ctx context.Context) error {
	if _, err := os.Stat(b.path("rows.parquet")); err == nil {
		return nil
	}
	f, err := os.Create(b.path("rows.parquet"))
	if err != nil {
		return err
	}
	err = b.store.Do(ctx, "SELECT * EXCEPT (flags, origin) REPLACE (toString(node) AS node) FROM sextant."+b.view.Table()+" FINAL FORMAT Parquet", f)
	return errors.Join(err, f.Close())
}

// environment makes the virtual environment with the pinned packages, once. It gives its
// Python.
func environment(ctx context.Context, progress io.Writer) (string, error) {
	cache, err := fetch.CacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "feast-duckdb-0.67.0")
	python, pins := filepath.Join(dir, "bin", "python3"), filepath.Join(dir, "requirements.txt")
	if have, err := os.ReadFile(pins); err == nil && bytes.Equal(have, requirements) {
		return python, nil
	}
	fmt.Fprintln(progress, "training-set: installing Feast, which takes minutes")
	wanted := filepath.Join(dir, "wanted.txt")
	for _, step := range [][]string{
		{"python3", "-m", "venv", "--clear", dir},
		{python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", wanted},
	} {
		if step[0] == python {
			if err := os.WriteFile(wanted, requirements, 0o600); err != nil {
				return "", err
			}
		}
		if out, err := exec.CommandContext(ctx, step[0], step[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("install feast: %w: %s", err, out[max(0, len(out)-300):])
		}
	}
	return python, os.Rename(wanted, pins)
}
