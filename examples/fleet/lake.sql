-- Questions to the tables of a fleet (docs/fleet.md), for DuckDB 1.1 and later:
--
--     SET VARIABLE lake = 'lake';
--     .read examples/fleet/lake.sql
--     FROM top_functions('cart', 'cpu-clock', '2026-11-16', '2026-11-22') LIMIT 20;
--
-- Days are inclusive; a service of NULL is all of them. Idle threads are left out. Shares are sums by sums.

CREATE OR REPLACE TEMP VIEW captures AS
FROM read_parquet(getvariable('lake') || '/captures/*/*.parquet', union_by_name = true, hive_partitioning = true,
                  hive_types = {'date': DATE})
QUALIFY row_number() OVER (PARTITION BY capture ORDER BY generation DESC, part DESC) = 1;

-- Rows of captures that are whole, each from the part that counts: right also while captures are written, compacted and deleted.
CREATE OR REPLACE TEMP VIEW shares AS
FROM read_parquet(getvariable('lake') || '/shares/*/*.parquet', union_by_name = true, hive_partitioning = true,
                  hive_types = {'date': DATE})
WHERE NOT idle AND (capture, part) IN (SELECT (capture, part) FROM captures);

-- What `stackpack top` shows of all captures of a service in some days.
CREATE OR REPLACE TEMP MACRO top_functions(of_service, of_event, first_day, last_day) AS TABLE
WITH chosen AS (
  FROM shares WHERE event = of_event AND date BETWEEN CAST(first_day AS DATE) AND CAST(last_day AS DATE)
    AND (of_service IS NULL OR service = of_service)),
whole AS (SELECT sum(value) AS value FROM (SELECT DISTINCT capture, value FROM chosen))
SELECT name, image, sum("self") AS "self", sum(total) AS total, sum("self") / any_value(whole.value) AS self_share,
  sum(total) / any_value(whole.value) AS total_share, count(DISTINCT capture) AS captures
FROM chosen, whole GROUP BY name, image ORDER BY "self" DESC, total DESC, name;

-- What the code of a library costs each service: `image` is a pattern of LIKE, as in 'libssl.so%'.
CREATE OR REPLACE TEMP MACRO library_cost(of_image, of_event, first_day, last_day) AS TABLE
WITH chosen AS (
  FROM shares WHERE event = of_event AND date BETWEEN CAST(first_day AS DATE) AND CAST(last_day AS DATE)),
whole AS (SELECT service, sum(value) AS value FROM (SELECT DISTINCT capture, service, value FROM chosen) GROUP BY service)
SELECT whole.service, coalesce(sum(chosen."self") FILTER (WHERE chosen.image LIKE of_image), 0) AS "self", any_value(whole.value) AS value,
  coalesce(sum(chosen."self") FILTER (WHERE chosen.image LIKE of_image), 0) / any_value(whole.value) AS share
FROM chosen JOIN whole ON chosen.service IS NOT DISTINCT FROM whole.service GROUP BY whole.service ORDER BY share DESC, whole.service;

-- A function's share by build of its image, oldest first: which one brought the change.
CREATE OR REPLACE TEMP MACRO share_by_build(of_service, of_event, of_function) AS TABLE
WITH chosen AS (FROM shares WHERE event = of_event AND (of_service IS NULL OR service = of_service)),
builds AS (
  SELECT capture, image, any_value(build_id) AS build_id, any_value(date) AS date, any_value(value) AS value,
    coalesce(sum("self") FILTER (WHERE name = of_function), 0) AS "self",
    coalesce(sum(total) FILTER (WHERE name = of_function), 0) AS total
  FROM chosen WHERE image IN (SELECT image FROM chosen WHERE name = of_function) GROUP BY capture, image)
SELECT image, build_id, min(date) AS first_day, count(*) AS captures, sum("self") / sum(value) AS self_share,
  sum(total) / sum(value) AS total_share
FROM builds GROUP BY image, build_id ORDER BY image, first_day, build_id;

-- The build that brought the growth of a function, of a service of NULL in all: builds in the order of their first days, each beside
-- the one before it, the largest step first.
CREATE OR REPLACE TEMP MACRO brought_by(of_service, of_event, of_function) AS TABLE
WITH steps AS (
  SELECT *, lag(total_share) OVER builds AS share_before, lag(build_id) OVER builds AS build_before
  FROM share_by_build(of_service, of_event, of_function) WINDOW builds AS (PARTITION BY image ORDER BY first_day, build_id))
SELECT image, build_id, build_before, first_day, captures, share_before, total_share, total_share - share_before AS change
FROM steps WHERE share_before IS NOT NULL ORDER BY change DESC, image, first_day;

-- Functions whose share of their service grew by more than `least` from the old days to the new ones, with an interval by how
-- much captures scatter (the variance of a ratio of sums; `z` standard deviations). Five captures a side and more. It looks at
-- many functions of many services at once: what it finds is for `stackpack diff` to judge.
CREATE OR REPLACE TEMP MACRO grew(of_event, old_first, old_last, new_first, new_last, least := 0.01, z := 4) AS TABLE
WITH chosen AS (
  SELECT *, date BETWEEN CAST(new_first AS DATE) AND CAST(new_last AS DATE) AS is_new FROM shares
  WHERE event = of_event AND (date BETWEEN CAST(new_first AS DATE) AND CAST(new_last AS DATE)
                              OR date BETWEEN CAST(old_first AS DATE) AND CAST(old_last AS DATE))),
wholes AS (
  SELECT service, is_new, count(*) AS n, sum(value) AS value, sum(CAST(value AS DOUBLE) ** 2) AS squares
  FROM (SELECT DISTINCT capture, service, is_new, value FROM chosen) GROUP BY service, is_new),
by_capture AS (
  SELECT service, name, image, is_new, capture, sum(total) AS total, any_value(value) AS value
  FROM chosen GROUP BY service, name, image, is_new, capture),
functions AS (SELECT DISTINCT service, name, image FROM by_capture),
sides AS (
  SELECT f.service, f.name, f.image, w.is_new, w.n, coalesce(sum(c.total), 0) / any_value(w.value) AS share,
    w.n / (w.n - 1) * greatest(0, coalesce(sum(CAST(c.total AS DOUBLE) ** 2), 0)
      - 2 * coalesce(sum(c.total), 0) / any_value(w.value) * coalesce(sum(CAST(c.total AS DOUBLE) * c.value), 0)
      + (coalesce(sum(c.total), 0) / any_value(w.value)) ** 2 * any_value(w.squares)) / CAST(any_value(w.value) AS DOUBLE) ** 2 AS variance
  FROM functions f JOIN wholes w ON w.service IS NOT DISTINCT FROM f.service AND w.n >= 5
  LEFT JOIN by_capture c ON c.service IS NOT DISTINCT FROM f.service AND c.name = f.name
    AND c.image IS NOT DISTINCT FROM f.image AND c.is_new = w.is_new
  GROUP BY f.service, f.name, f.image, w.is_new, w.n)
SELECT o.service, o.name, o.image, o.share AS old_share, n.share AS new_share, n.share - o.share AS change,
  n.share - o.share - z * sqrt(o.variance + n.variance) AS low, n.share - o.share + z * sqrt(o.variance + n.variance) AS high
FROM sides o JOIN sides n ON NOT o.is_new AND n.is_new AND n.service IS NOT DISTINCT FROM o.service AND n.name = o.name
  AND n.image IS NOT DISTINCT FROM o.image
WHERE n.share - o.share > least AND n.share - o.share - z * sqrt(o.variance + n.variance) > 0
ORDER BY change DESC, o.service, o.name;

-- Shares of functions in captures whose first samples lie outside of a service's hours (UTC, working days) beside those of the others,
-- of the same days: what is done more outside comes first. A look; off_hours of verdicts.sql says what of it is sure.
CREATE OR REPLACE TEMP MACRO by_hours(of_service, of_event, first_day, last_day, opens := 8, closes := 18) AS TABLE
WITH timed AS (
  SELECT capture, isodow(date) > 5 OR epoch(CAST(start AS TIMESTAMPTZ)) / 3600 % 24 < opens
    OR epoch(CAST(start AS TIMESTAMPTZ)) / 3600 % 24 >= closes AS outside
  FROM captures WHERE start IS NOT NULL AND date BETWEEN CAST(first_day AS DATE) AND CAST(last_day AS DATE)),
chosen AS (
  SELECT shares.*, outside FROM shares JOIN timed USING (capture) WHERE event = of_event AND (of_service IS NULL OR service = of_service)),
wholes AS (
  SELECT service, sum(value) FILTER (WHERE outside) AS value_outside, sum(value) FILTER (WHERE NOT outside) AS value_within
  FROM (SELECT DISTINCT capture, service, value, outside FROM chosen) GROUP BY service),
sums AS (
  SELECT chosen.service, name, image, coalesce(sum(total) FILTER (WHERE NOT outside), 0) / any_value(value_within) AS share_within,
    coalesce(sum(total) FILTER (WHERE outside), 0) / any_value(value_outside) AS share_outside
  FROM chosen JOIN wholes ON chosen.service IS NOT DISTINCT FROM wholes.service AND value_within > 0 AND value_outside > 0
  GROUP BY chosen.service, name, image)
SELECT service, name, image, share_within, share_outside, share_outside - share_within AS change FROM sums
ORDER BY change DESC, service, name;
