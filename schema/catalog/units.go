package catalog

// units are the canonical units: SI base and derived units without prefix, and ratios
// from 0 to 1. "none" is for bare numbers, states and codes.
var units = map[string]bool{
	"none": true, "seconds": true, "bytes": true, "bytes_per_second": true, "hertz": true, "ratio": true,
	"celsius": true, "volts": true, "amperes": true, "watts": true, "joules": true, "rpm": true,
}

// conversion leads from a unit that sources use to a canonical one.
type conversion struct {
	unit  string
	scale float64
}

var conversions = map[string]conversion{
	"percent": {"ratio", 0.01},

	"ms": {"seconds", 1e-3}, "us": {"seconds", 1e-6}, "ns": {"seconds", 1e-9}, "minutes": {"seconds", 60}, "hours": {"seconds", 3600},

	"kB": {"bytes", 1e3}, "MB": {"bytes", 1e6}, "GB": {"bytes", 1e9},
	"KiB": {"bytes", 1 << 10}, "MiB": {"bytes", 1 << 20}, "GiB": {"bytes", 1 << 30},
	"sectors": {"bytes", 512}, "words": {"bytes", 4}, // a word is four octets, as InfiniBand counts data

	"kB/s": {"bytes_per_second", 1e3}, "MB/s": {"bytes_per_second", 1e6}, "GB/s": {"bytes_per_second", 1e9},
	"KiB/s": {"bytes_per_second", 1 << 10}, "MiB/s": {"bytes_per_second", 1 << 20}, "MB/ms": {"bytes_per_second", 1e9},
	"Mb/s": {"bytes_per_second", 125e3}, "Gb/s": {"bytes_per_second", 125e6},

	"kHz": {"hertz", 1e3}, "MHz": {"hertz", 1e6}, "GHz": {"hertz", 1e9},
	"mV": {"volts", 1e-3}, "mA": {"amperes", 1e-3}, "mC": {"celsius", 1e-3},
	"mW": {"watts", 1e-3}, "uW": {"watts", 1e-6}, "kW": {"watts", 1e3},
	"mJ": {"joules", 1e-3}, "uJ": {"joules", 1e-6}, "Wh": {"joules", 3600},
}
