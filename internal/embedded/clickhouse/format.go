package clickhouse

import "strings"

// format is how an answer is encoded.
type format struct {
	contentType string
	streams     bool // blocks that are encoded one by one can simply be joined
}

const (
	mediaBinary = "application/octet-stream"
	mediaText   = "text/plain; charset=UTF-8"
	mediaTSV    = "text/tab-separated-values; charset=UTF-8"
	mediaCSV    = "text/csv; charset=UTF-8"
	mediaJSON   = "application/json; charset=UTF-8"
	mediaNDJSON = "application/x-ndjson; charset=UTF-8"
)

// formats that are not listed are text and do not stream; that is always right,
// only slower.
var formats = map[string]format{
	"native":                     {mediaBinary, true},
	"rowbinary":                  {mediaBinary, true},
	"rowbinarywithnamesandtypes": {mediaBinary, false},
	"parquet":                    {mediaBinary, false},
	"arrow":                      {mediaBinary, false},
	"arrowstream":                {mediaBinary, false},
	"orc":                        {mediaBinary, false},
	"avro":                       {mediaBinary, false},
	"tabseparated":               {mediaTSV, true},
	"tsv":                        {mediaTSV, true},
	"tabseparatedraw":            {mediaTSV, true},
	"tsvraw":                     {mediaTSV, true},
	"raw":                        {mediaTSV, true},
	"tabseparatedwithnames":      {mediaTSV, false},
	"tsvwithnames":               {mediaTSV, false},
	"csv":                        {mediaCSV, true},
	"csvwithnames":               {mediaCSV + "; header=present", false},
	"jsoneachrow":                {mediaNDJSON, true},
	"jsonlines":                  {mediaNDJSON, true},
	"ndjson":                     {mediaNDJSON, true},
	"jsoncompacteachrow":         {mediaNDJSON, true},
	"jsonstringseachrow":         {mediaNDJSON, true},
	"jsoncompactstringseachrow":  {mediaNDJSON, true},
	"json":                       {mediaJSON, false},
	"jsoncompact":                {mediaJSON, false},
	"jsonstrings":                {mediaJSON, false},
	"jsoncolumns":                {mediaJSON, false},
	"lineasstring":               {mediaText, true},
	"rawblob":                    {mediaText, true},
	"xml":                        {"application/xml; charset=UTF-8", false},
	"null":                       {mediaText, true},
}

func formatOf(name string) format {
	f, ok := formats[strings.ToLower(name)]
	if !ok {
		return format{contentType: mediaText}
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
