package clickhouse

import (
	"strings"

	"github.com/ClickHouse/ch-go/proto"
)

// helloQuery is what clickhouse-go asks first on a connection. It reads the answer
// as client_protocol_version lays blocks out, and every later one as the revision
// in the answer does.
const helloQuery = "SELECT displayName(), version(), revision(), timezone()"

// hello reports whether this request is a client's hello.
func (q *request) hello(text string) bool {
	return q.revision > 0 && strings.EqualFold(q.format, "Native") && strings.TrimSpace(text) == helloQuery
}

// helloBlock answers the hello with revision 0, because the engine writes Native
// without a block's header and without a column's serialization flag.
func (s *Server) helloBlock(revision int) ([]byte, error) {
	var name, version, zone proto.ColStr
	var none proto.ColUInt32
	name.Append("sextant")
	version.Append(s.version)
	none.Append(0)
	zone.Append(s.zone)
	block := proto.Block{Info: proto.BlockInfo{BucketNum: -1}, Columns: 4, Rows: 1}
	var b proto.Buffer
	err := block.EncodeBlock(&b, revision, []proto.InputColumn{
		{Name: "displayName()", Data: name}, {Name: "version()", Data: version},
		{Name: "revision()", Data: none}, {Name: "timezone()", Data: zone},
	})
	return b.Buf, err
}
