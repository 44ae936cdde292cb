package submit

import (
	"math"
	"slices"

	"sextant/internal/simulate"
	"sextant/schema/tasks"
)

// makers are the vendors as the inventory names them.
var makers = map[simulate.Vendor]string{simulate.NVIDIA: "nvidia", simulate.AMD: "amd", simulate.Intel: "intel", simulate.Ascend: "huawei", simulate.Gaudi: "habana"}

// makerOf is who made the accelerators of a group; empty where it has none.
func makerOf(g *simulate.Group) string {
	for _, d := range g.Devices {
		if m := makers[d.Vendor]; m != "" {
			return m
		}
	}
	return ""
}

// hostShare is what a task with so many units asks of its host: its share, by the number of
// devices.
func hostShare(g *simulate.Group, units float64) map[string]float64 {
	devices := 0
	for _, d := range g.Devices {
		if makers[d.Vendor] != "" {
			devices += d.Count
		}
	}
	if devices == 0 {
		devices = max(g.Host.CPUs/8, 1)
	}
	share := min(units/float64(devices), 1) * 0.8
	return map[string]float64{tasks.CPU: math.Round(10*share*float64(g.Host.CPUs)) / 10, tasks.Memory: math.Round(share * float64(g.Host.Memory))}
}

// bind says where a task is placed, and what it holds there: whole devices as accelerators, a
// slice by its profile, as the device plugins name them.
func bind(e *tasks.Event, p simulate.Part) {
	e.State, e.Node = tasks.Scheduled, p.Node.Name
	e.Requests = hostShare(p.Node.Group, devicesOf(p.Units))
	for _, u := range p.Units {
		switch {
		case u.UID == "":
			continue
		case u.Slice == nil:
			e.Requests[tasks.Accelerators+makers[u.Vendor]]++
		default:
			e.Requests[sliceResource(u)]++
		}
		if !slices.Contains(e.Devices, u.UID) {
			e.Devices = append(e.Devices, u.UID)
		}
	}
}

// devicesOf is how many devices the units are, a slice counting as its part.
func devicesOf(units []simulate.Place) float64 {
	sum := 0.0
	for _, u := range units {
		if u.Slice != nil {
			sum += u.Slice.Share
		} else {
			sum++
		}
	}
	return sum
}

func sliceResource(u simulate.Place) string {
	switch u.Vendor {
	case simulate.NVIDIA:
		return "nvidia.com/mig-" + u.Slice.Profile
	case simulate.Ascend:
		return "huawei.com/" + u.Model + "-" + u.Slice.Profile
	}
	return "amd.com/gpu-" + u.Slice.Profile
}
