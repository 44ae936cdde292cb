package catalog

// Scope says whose reading a metric is. It decides which labels name the series.
type Scope uint8

// The scopes. Those from Device to Process need a device; the others keep the labels of
// their source.
const (
	AsExposed Scope = iota // whatever the labels say
	Host                   // the machine
	Device                 // the whole device, however many slices repeat it
	Slice                  // the slice where there is one, else the device
	Port                   // a port of a device
	Link                   // a link of a device
	Owner                  // what one owner uses of a device
	Process                // what one process uses of a device
	Switch                 // a switch between devices
	Pod
	Container
	Object // an object of Kubernetes
)

var scopeTexts = [...]string{"", "host", "device", "slice", "port", "link", "owner", "process", "switch", "pod", "container", "object"}

// String returns the text of the YAML files.
func (s Scope) String() string {
	if int(s) < len(scopeTexts) {
		return scopeTexts[s]
	}
	return scopeTexts[AsExposed]
}

func (s Scope) needsDevice() bool { return s >= Device && s <= Process }

// Fold says what becomes of several exposed series of equal rank that mean one canonical
// series.
type Fold uint8

// The folds.
const (
	FoldFirst Fold = iota // they repeat one reading: the first that is a value stands
	FoldMax               // they are parts of one reading: the largest stands
)
