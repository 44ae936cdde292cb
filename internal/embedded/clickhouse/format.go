package clickhouse

import "strings"

// format is how an answer is encoded.
type format struct {
	contentType string
	streams     bool // blocks that are encoded one by one can simply be joined
}

const (
	octets = "application/octet-stream"
	text   = "text/plain; charset=UTF-8"
	tsv    = "text/tab-separated-values; charset=UTF-8"
	csv    = "text/csv; charset=UTF-8"
	json   = "application/json; charset=UTF-8"
	ndjson = "application/x-ndjson; charset=UTF-8"
)

// formats that are not listed are text and do not stream; that is always right,
// only slower.
var formats = map[string]format{
	"native":                     {octets, true},
	"rowbinary":                  {octets, true},
	"rowbinarywithnamesandtypes": {octets, false},
	"parquet":                    {octets, false},
	"arrow":                      {octets, false},
	"arrowstream":                {octets, false},
	"orc":                        {octets, false},
	"avro":                       {octets, false},
	"tabseparated":               {tsv, true},
	"tsv":                        {tsv, true},
	"tabseparatedraw":            {tsv, true},
	"tsvraw":                     {tsv, true},
	"raw":                        {tsv, true},
	"tabseparatedwithnames":      {tsv, false},
	"tsvwithnames":               {tsv, false},
	"csv":                        {csv, true},
	"csvwithnames":               {csv + "; header=present", false},
	"jsoneachrow":                {ndjson, true},
	"jsonlines":                  {ndjson, true},
	"ndjson":                     {ndjson, true},
	"jsoncompacteachrow":         {ndjson, true},
	"jsonstringseachrow":         {ndjson, true},
	"jsoncompactstringseachrow":  {ndjson, true},
	"json":                       {json, false},
	"jsoncompact":                {json, false},
	"jsonstrings":                {json, false},
	"jsoncolumns":                {json, false},
	"lineasstring":               {text, true},
	"rawblob":                    {text, true},
	"xml":                        {"application/xml; charset=UTF-8", false},
	"null":                       {text, true},
}

func formatOf(name string) format {
	f, ok := formats[strings.ToLower(name)]
	if !ok {
		return format{contentType: text}
	}
	return f
}

// streams reports whether an answer can be sent block by block. A setting can
// turn a format that joins into one that does not.
func (r *request) streams(name string) bool {
	if v := r.setting("output_format_json_array_of_rows"); v != "" && v != "0" && v != "false" {
		return false
	}
	return formatOf(name).streams
}
