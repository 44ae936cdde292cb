-- What was served beside what is stored, hour by hour: docs/feature-quality.md.
CREATE OR REPLACE VIEW {{.DB}}.feature_skew{{.OnCluster}} AS
SELECT view, feature, hour, compared, different, corrected, missing, (different + missing) / compared AS skew_ratio, (corrected + missing) / compared AS corrected_ratio, largest, made
FROM {{.DB}}.feature_skews FINAL
COMMENT 'Served values that differ from the stored ones, by feature and hour'
