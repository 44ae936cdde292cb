package wire

// State says how complete a scrape was.
type State uint8

// The states of a scrape, as they stand in the sx-state header.
const (
	StateOK      State = iota // "ok": every line was read
	StatePartial              // "partial": some lines were bad, or the body was cut
	StateFailed               // "failed": the target did not answer; only up, scrape_* and stale markers
)

// EnvelopeVersion is the version that this package writes and reads.
const EnvelopeVersion = 1

// Envelope holds the facts of a record that travel as Kafka headers.
type Envelope struct {
	Version int    // sx-v
	Node    string // sx-node, also the record's key
	Agent   string // sx-agent: random id that lives as long as the agent's spool
	Target  string // sx-target: "job/instance"
	Seq     uint64 // sx-seq: dense per agent from 1; a record sent twice keeps its number
	Oldest  uint64 // sx-oldest: lowest sequence still unacknowledged when this record was sent
	Dropped uint64 // sx-dropped: records the agent dropped at its cap or side-lined so far
	Scrape  int64  // sx-scrape: unix ms, start of the scrape
	State   State  // sx-state
}

// The header keys. Readers ignore keys that they do not know, so an agent may be newer
// than the pipeline; a change of meaning needs a new version.
const (
	keyVersion = "sx-v"
	keyNode    = "sx-node"
	keyAgent   = "sx-agent"
	keyTarget  = "sx-target"
	keySeq     = "sx-seq"
	keyOldest  = "sx-oldest"
	keyDropped = "sx-dropped"
	keyScrape  = "sx-scrape"
	keyState   = "sx-state"
)

// The most bytes that a text fact may have.
const (
	MaxNode   = 253 // a DNS name
	MaxAgent  = 64
	MaxTarget = 1024
)
