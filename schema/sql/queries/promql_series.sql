-- The series that may match: id, and name and labels as name 0xff value 0xff …, which is
-- one string a series to read. An id always stands for the same labels, so that any row
-- of it will do.
SELECT
    id,
    name,
    arrayStringConcat(arrayMap((k, v) -> concat(k, '\xff', v, '\xff'), mapKeys(labels), mapValues(labels)))
FROM {{.Names.Table "series"}}
WHERE first_seen <= fromUnixTimestamp64Milli(toInt64(?), 'UTC'){{.Where}}
ORDER BY id
LIMIT 1 BY id
LIMIT {{.Limit}}
