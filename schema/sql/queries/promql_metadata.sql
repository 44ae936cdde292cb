SELECT name, any(kind), any(unit) FROM {{.Names.Table "series"}} GROUP BY name ORDER BY name
