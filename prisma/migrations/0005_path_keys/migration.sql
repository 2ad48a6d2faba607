-- Names that differ by compatibility only, such as H₂O.md and H2O.md, are different names.

-- The form in which paths are compared, as pathKey of the domain library makes it: canonically decomposed, full case
-- folding of each character, composed. These stay as they are, since they are no other case of what they are folded to:
-- the dotless i, and those that full case folding spells out by their compatibility form (ligatures, ŉ, ẚ, և).
-- Letters that are newer than the ICU of this server stay as they are too.
CREATE FUNCTION file.path_key(path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE
    WHEN octet_length(path) = length(path) THEN lower(path COLLATE "C")
    ELSE normalize((
      SELECT string_agg(
        CASE WHEN strpos('ıŉẚևﬀﬁﬂﬃﬄﬅﬆﬓﬔﬕﬖﬗ', c) > 0 THEN c ELSE lower(upper(lower(c COLLATE "und-x-icu"))) END, '' ORDER BY place)
      FROM string_to_table(normalize(path, NFD), NULL) WITH ORDINALITY AS t(c, place)
    ), NFC)
  END
$$;

-- Of files whose paths are one name by now and were two before, the first one has it. The others keep their records under
-- a key that no path has, until somebody renames them.
UPDATE file.record AS r
SET path_key = k.key
FROM (
  SELECT id, key || CASE WHEN row_number() OVER (PARTITION BY node_id, key ORDER BY id) = 1 THEN '' ELSE E'\x01' || id END AS key
  FROM (SELECT id, node_id, file.path_key(path) AS key FROM file.record) AS folded
) AS k
WHERE k.id = r.id AND r.path_key <> k.key;
