CREATE OR REPLACE VIEW {{.DB}}.{{ident .View}}{{.OnCluster}} AS
SELECT * FROM {{.DB}}.{{ident .Source}} FINAL
COMMENT {{quote .Comment}}
