package crosscheck

import "math"

// Role is what a reading tells of its device.
type Role uint8

// The roles.
const (
	NoRole  Role = iota
	Busy         // how busy the device says that it is, 0 to 1
	AnyBusy      // the busiest of its slices
	Engine       // the engines that do all of its work
	Cube         // the half of them that multiplies matrices, where they are told apart …
	Vector       // … and the other half
	Work         // some engine, which idles while others work
	Energy       // energy used so far, in joules
	Roles        // how many there are
)

// RoleOf is the role of a canonical metric of a device. pipe is its label of that name.
func RoleOf(metric, pipe string) Role {
	switch metric {
	case "accel_busy_ratio":
		return Busy
	case "accel_engine_active_ratio":
		return Engine
	case "accel_energy_joules_total":
		return Energy
	case "accel_engine_busy_ratio", "accel_each_engine_busy_ratio":
		return Work
	case "accel_compute_ratio":
		switch pipe {
		case "sm", "eu", "xcc":
			return Engine
		case "cube":
			return Cube
		case "vector":
			return Vector
		}
		return Work
	}
	return NoRole
}

// busy is from where on a device counts as busy: its energy cannot stand still, nor can
// all that its page says. Fully busy is what contradicts idle engines.
const busy, fullyBusy = 0.1, 0.99

// Reading is what one scrape says of a device or slice, by role; NaN for nothing. Of
// several readings in one role the largest counts.
type Reading [Roles]float64

// Reset makes the reading empty.
func (r *Reading) Reset() {
	for i := range r {
		r[i] = math.NaN()
	}
}

// Put adds a value.
func (r *Reading) Put(role Role, v float64) {
	if !(r[role] >= v) && v == v {
		r[role] = v
	}
}

func (r *Reading) has(role Role) bool { return r[role] == r[role] }

// Busy says whether the device works, as far as it tells.
func (r *Reading) Busy() bool { return r[Busy] >= busy || r[AnyBusy] >= busy }

// contradicts says that the device is fully busy, by its own account, while all of its
// engines rest.
func (r *Reading) contradicts() bool {
	if !(r[Busy] >= fullyBusy) || !r.has(Engine) && !(r.has(Cube) && r.has(Vector)) {
		return false
	}
	for _, role := range [...]Role{Engine, Cube, Vector, Work} {
		if r[role] > 0 {
			return false
		}
	}
	return true
}

// Device is what is remembered of one device or slice, as one target tells of it.
type Device struct {
	at     int64   // of the last reading, unix ms
	energy float64 // joules, at that time; NaN for none
	idle   span    // busy, with engines that rest
	still  span    // busy, with an energy counter that stands still
}

// Observe takes the reading of a scrape at t, unix ms, later than the one before. It
// reports whether the device contradicts itself, and whether its energy counter is frozen.
func (d *Device) Observe(t int64, r *Reading) (contradiction, frozen bool) {
	still := r.Busy() && d.at != 0 && t-d.at <= maxGap && r[Energy] == d.energy
	d.at, d.energy = t, r[Energy]
	contradiction = d.idle.observe(t, r.contradicts())
	return contradiction, d.still.observe(t, still)
}

// Seen is the time of the last reading, unix ms.
func (d *Device) Seen() int64 { return d.at }
