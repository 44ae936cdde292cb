-- The series that may match: id, and name and labels as name 0xff value 0xff ….
SELECT
    id,
    name,
    arrayStringConcat(arrayMap((k, v) -> concat(k, '\xff', v, '\xff'), mapKeys(labels), mapValues(labels)))
FROM {{.DB}}.series
WHERE id GLOBAL IN ({{.Series}})
ORDER BY id
LIMIT 1 BY id
