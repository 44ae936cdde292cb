package pipeline

// UnknownName is a metric of a known vendor that the catalogue does not list. Its series
// are stored as they are exposed: what they mean is not guessed.
type UnknownName struct{ Vendor, Name string }

// unknownNames is those that a machine met. The zero value is empty.
type unknownNames struct {
	known map[UnknownName]struct{}
	fresh []UnknownName // not yet told of
}

// maxUnknown bounds how many names are remembered: an exporter may make up any number.
const maxUnknown = 10_000

func (u *unknownNames) note(name UnknownName) {
	if _, ok := u.known[name]; ok || len(u.known) >= maxUnknown {
		return
	}
	if u.known == nil {
		u.known = map[UnknownName]struct{}{}
	}
	u.known[name] = struct{}{}
	u.fresh = append(u.fresh, name)
}

// Unknown returns the names that came since it was last called, each once.
func (m *Machine) Unknown() []UnknownName {
	fresh := m.unknown.fresh
	m.unknown.fresh = nil
	return fresh
}
