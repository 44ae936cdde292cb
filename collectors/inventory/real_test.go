package inventory

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	schema "sextant/schema/inventory"
)

// The document of the host that runs the test agrees with what its kernel says elsewhere.
func TestThisHost(t *testing.T) {
	d, err := Read(t.Context(), Config{Node: "here"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes: %s", len(b), b)
	if len(d.Faults) > 0 {
		t.Errorf("faults: %q", d.Faults)
	}
	cpuinfo, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.CPU.Threads, bytes.Count(cpuinfo, []byte("processor\t:")); got != want {
		t.Errorf("%d threads, /proc/cpuinfo has %d", got, want)
	}
	if d.CPU.Model != "" && !bytes.Contains(cpuinfo, []byte(d.CPU.Model)) {
		t.Errorf("model %q is not in /proc/cpuinfo", d.CPU.Model)
	}
	if d.CPU.Sockets < 1 || d.CPU.Cores < d.CPU.Sockets || d.CPU.Threads < d.CPU.Cores {
		t.Errorf("%d sockets, %d cores, %d threads", d.CPU.Sockets, d.CPU.Cores, d.CPU.Threads)
	}
	if got, want := d.Memory.Total>>10, field(t, "/proc/meminfo", "MemTotal:"); strconv.FormatUint(got, 10) != want {
		t.Errorf("memory %d kB, /proc/meminfo has %s", got, want)
	}
	for path, got := range map[string]string{"/proc/sys/kernel/osrelease": d.Host.Kernel, "/proc/sys/kernel/random/boot_id": d.Host.BootID, "/proc/sys/kernel/hostname": d.Host.Hostname} {
		if want, err := os.ReadFile(path); err != nil || got != strings.TrimSpace(string(want)) {
			t.Errorf("%s: %q, want %q (%v)", path, got, want, err)
		}
	}
	again, err := Read(t.Context(), Config{Node: "here"})
	if err != nil || again.Hash != d.Hash {
		t.Errorf("the host has not changed, its hash has: %s, %s (%v)", d.Hash, again.Hash, err)
	}
	if back, err := schema.Decode(b); err != nil || back.Hash != d.Hash {
		t.Errorf("decoded: %v", err)
	}
}

// field is the second word of the line that begins with key.
func field(t *testing.T, path, key string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == key {
			return f[1]
		}
	}
	t.Fatalf("%s: no %s", path, key)
	return ""
}
