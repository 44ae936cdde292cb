-- Compares what was served of the ticks of one hour with the rows of the view: as known then, and
-- as corrected. NULL_VALUE was served with the default beside it, which is no value.
INSERT INTO {{.DB}}.feature_skews (view, feature, hour, compared, different, corrected, missing, largest)
WITH
    served AS
    (
        SELECT entity, tick, f AS feature, if(status = 'PRESENT', v, nan) AS num, if(status = 'PRESENT', x, '') AS text
        FROM {{.DB}}.served_features
        ARRAY JOIN features AS f, values AS v, texts AS x, statuses AS status
        WHERE view = {{quote .Ref}} AND {{.InHour}} AND status IN ('PRESENT', 'NULL_VALUE')
    )
SELECT
    {{quote .Ref}}, s.feature, {hour:DateTime('UTC')}, count(),
    countIf(k.found AND (NOT (s.num = k.num OR isNaN(s.num) AND isNaN(k.num)) OR s.text != k.text)),
    countIf(c.found AND (NOT (s.num = c.num OR isNaN(s.num) AND isNaN(c.num)) OR s.text != c.text)
        OR NOT c.found AND k.found AND (NOT (s.num = k.num OR isNaN(s.num) AND isNaN(k.num)) OR s.text != k.text)),
    countIf(NOT k.found),
    max(if(k.found, ifNotFinite(abs(s.num - if(c.found, c.num, k.num)), 0), 0))
FROM served AS s
LEFT JOIN
(
    SELECT [{{.KeyTexts}}] AS entity, tick, f AS feature, n AS num, x AS text, 1 AS found
    FROM {{.DB}}.{{ident .Table}} FINAL
    ARRAY JOIN [{{.Names}}] AS f, [{{.Numbers}}] AS n, [{{.Strings}}] AS x
    WHERE {{.InHour}} AND ({{.KeyColumns}}) GLOBAL IN (SELECT {{.EntityKeys}} FROM served)
) AS k ON k.entity = s.entity AND k.tick = s.tick AND k.feature = s.feature
LEFT JOIN
(
    SELECT [{{.KeyTexts}}] AS entity, tick, f AS feature, n AS num, x AS text, 1 AS found
    FROM {{.DB}}.{{ident .CorrectedTable}} FINAL
    ARRAY JOIN [{{.Names}}] AS f, [{{.Numbers}}] AS n, [{{.Strings}}] AS x
    WHERE {{.InHour}} AND ({{.KeyColumns}}) GLOBAL IN (SELECT {{.EntityKeys}} FROM served)
) AS c ON c.entity = s.entity AND c.tick = s.tick AND c.feature = s.feature
GROUP BY s.feature
