//go:build cgo && linux

package nvml

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// library is the driver's library, initialised by the first reading and after each loss.
type library struct {
	lib    nvml.Interface
	ready  bool
	has    []reading // what this release of the library has functions for
	driver string    // version
}

func newDriver() driver { return &library{lib: nvml.New()} }

// always are functions that are called of every release. A call of one that is not there
// would end the process.
var always = []string{"nvmlSystemGetDriverVersion", "nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetUUID",
	"nvmlDeviceGetName", "nvmlDeviceGetPciInfo_v3"}

// errNoDevices: a driver without any device is a fault of its host, not health.
var errNoDevices = errors.New("the driver has no GPU")

func (l *library) read() ([]sample, error) {
	if err := l.open(); err != nil {
		return nil, err
	}
	n, ret := l.lib.DeviceGetCount()
	if ret != nvml.SUCCESS {
		l.close()
		return nil, fmt.Errorf("count GPUs: %s", l.lib.ErrorString(ret))
	}
	if n == 0 {
		l.close() // a driver that is loaded anew is seen only by a new initialisation
		return nil, errNoDevices
	}
	var out []sample
	for i := range n {
		out = l.device(out, i)
	}
	if len(out) == 0 {
		l.close()
		return nil, fmt.Errorf("none of %d GPUs gives a value", n)
	}
	return out, nil
}

func (l *library) open() error {
	if l.ready {
		return nil
	}
	if ret := l.lib.Init(); ret != nvml.SUCCESS {
		if ret == nvml.ERROR_LIBRARY_NOT_FOUND {
			return errors.New("libnvidia-ml.so.1 cannot be loaded (is NVIDIA's driver installed?)")
		}
		return fmt.Errorf("initialise NVML: %s", l.lib.ErrorString(ret))
	}
	l.ready = true
	for _, f := range always {
		if l.lib.Extensions().LookupSymbol(f) != nil {
			l.close()
			return fmt.Errorf("libnvidia-ml.so.1 is too old, it has no %s", f)
		}
	}
	l.has = nil
	for _, r := range readings {
		if l.lib.Extensions().LookupSymbol(r.function) == nil {
			l.has = append(l.has, r)
		}
	}
	l.driver, _ = l.lib.SystemGetDriverVersion()
	return nil
}

func (l *library) close() {
	if l.ready {
		_ = l.lib.Shutdown() // there is nothing to do about one that fails
	}
	l.ready = false
}

// device adds what a GPU gives. What it does not support, or what fails, is left out.
func (l *library) device(out []sample, i int) []sample {
	d, ret := l.lib.DeviceGetHandleByIndex(i)
	if ret != nvml.SUCCESS {
		return out
	}
	labels := l.labels(d, strconv.Itoa(i))
	for _, r := range l.has {
		values, ret := r.read(d)
		if ret != nvml.SUCCESS {
			continue
		}
		for j, m := range r.metrics {
			out = append(out, sample{m.name, m.help, m.kind, labels, values[j]})
		}
	}
	return out
}

// labels are empty where the driver does not tell.
func (l *library) labels(d nvml.Device, n string) []string {
	uuid, _ := d.GetUUID()
	name, _ := d.GetName()
	bus := ""
	if pci, ret := d.GetPciInfo(); ret == nvml.SUCCESS {
		for _, c := range pci.BusId {
			if c == 0 {
				break
			}
			bus += string(rune(byte(c)))
		}
	}
	out := []string{n, uuid, bus, "nvidia" + n, name, l.driver}
	for i := range out {
		out[i] = strings.ToValidUTF8(out[i], "\uFFFD")
	}
	return out
}
