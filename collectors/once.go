package collectors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"sextant/collectors/dcgm"
	"sextant/collectors/host"
	"sextant/collectors/inventory"
	"sextant/collectors/nvml"
	"sextant/collectors/podresources"
)

// OnceNames are the collectors that Once knows.
var OnceNames = []string{HostJob, DCGMJob, NVMLJob, TelegrafJob, PodResourcesJob, InventoryJob, inventorySeries}

// inventorySeries is the inventory as it is scraped; under the name of its job Once gives the
// document.
const inventorySeries = "inventory-series"

// Once runs one of the agent's own collectors a single time, whether it is enabled or
// not, and writes what it gives in the text format; the inventory as JSON. What fails in a
// collector is in its series and in the log; an error means that there is nothing to show.
func Once(cfg *Config, name string, log *slog.Logger, w io.Writer) error {
	if name == InventoryJob {
		return onceInventory(cfg, w)
	}
	from, stop, err := openLocal(cfg, name, log)
	if err != nil {
		return err
	}
	families, err := from.Gather()
	if err != nil {
		log.Error("a part was not collected", "err", err)
	}
	enc := expfmt.NewEncoder(w, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, f := range families {
		if err := enc.Encode(f); err != nil {
			return fmt.Errorf("write %s: %w", f.GetName(), err)
		}
	}
	return stop()
}

// onceInventory writes the node's document.
func onceInventory(cfg *Config, w io.Writer) error {
	d, err := inventory.Read(context.Background(), cfg.inventory())
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}

// openLocal makes a collector by its name. The function ends what it holds.
func openLocal(cfg *Config, name string, log *slog.Logger) (prometheus.Gatherer, func() error, error) {
	if name == DCGMJob || name == NVMLJob {
		if err := cfg.plugins.Devices(name); err != nil {
			return nil, nil, err
		}
	}
	switch name {
	case HostJob:
		g, err := host.New(cfg.Host, log)
		return g, func() error { return nil }, err
	case DCGMJob:
		c := dcgm.New(cfg.DCGM, cfg.dcgmInterval(), log)
		return c.Gatherer(), c.Close, nil
	case NVMLJob:
		c := nvml.New(log)
		return c.Gatherer(), c.Close, nil
	case PodResourcesJob:
		c := podresources.New(cfg.PodResources, nil, log)
		return c.Gatherer(), func() error { c.Close(); return nil }, nil
	case inventorySeries:
		d, err := inventory.Read(context.Background(), cfg.inventory())
		if err != nil {
			return nil, nil, err
		}
		page := inventory.NewPage(cfg.Inventory.Series.MaxLinks)
		page.Set(d)
		return page, func() error { return nil }, nil
	case TelegrafJob:
		if !cfg.Telegraf.Enabled() {
			return nil, nil, errors.New("telegraf.config: missing, there is no file to take plugins from")
		}
		s, err := cfg.plugins.Open(cfg.Telegraf, cfg.telegraf(log, prometheus.NewRegistry()))
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	}
	return nil, nil, fmt.Errorf("collector %q is unknown, want one of %v", name, OnceNames)
}
