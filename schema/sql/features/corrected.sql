-- Late samples are few, and so are the rows that they changed: the set of them is small.
CREATE OR REPLACE VIEW {{.DB}}.{{ident .CorrectedView}}{{.OnCluster}} AS
SELECT {{.AllColumns}} FROM {{.DB}}.{{ident .SourceCorrected}} FINAL
UNION ALL
SELECT {{.AllColumns}} FROM {{.DB}}.{{ident .Source}} FINAL
WHERE ({{.KeyColumns}}, tick) GLOBAL NOT IN (SELECT {{.KeyColumns}}, tick FROM {{.DB}}.{{ident .SourceCorrected}})
COMMENT {{quote .CorrectedComment}}
