-- Questions to the tables of a fleet for Spark SQL (3.4 and later), the same as those of lake.sql, samples.sql, waits.sql and cgroups.sql. Statements end
-- with a semicolon, and `-- name:` stands before each. The first two are views, in which LAKE stands for the path or URL of the
-- tables. The others have parameters:
--
--     spark.sql(text, args={"service": "cart", "event": "cpu-clock", "first": "2026-11-16", "last": "2026-11-22"})
--
-- Times have ns, which Spark reads as numbers with spark.sql.legacy.parquet.nanosAsLong=true, and not at all without.

-- name: captures
CREATE OR REPLACE TEMPORARY VIEW captures AS
SELECT * EXCEPT (place) FROM (
  SELECT *, row_number() OVER (PARTITION BY capture ORDER BY generation DESC, part DESC) AS place FROM parquet.`LAKE/captures`)
WHERE place = 1;

-- name: shares
CREATE OR REPLACE TEMPORARY VIEW shares AS
SELECT s.* FROM parquet.`LAKE/shares` s LEFT SEMI JOIN captures c ON s.capture = c.capture AND s.part = c.part WHERE NOT s.idle;

-- name: top_functions
WITH chosen AS (
  SELECT * FROM shares WHERE event = :event AND date BETWEEN CAST(:first AS DATE) AND CAST(:last AS DATE)
    AND (:service IS NULL OR service = :service)),
whole AS (SELECT sum(value) AS value FROM (SELECT DISTINCT capture, value FROM chosen))
SELECT name, image, sum(self) AS self, sum(total) AS total, sum(self) / any_value(whole.value) AS self_share,
  sum(total) / any_value(whole.value) AS total_share, count(DISTINCT capture) AS captures
FROM chosen CROSS JOIN whole GROUP BY name, image ORDER BY self DESC, total DESC, name;

-- name: library_cost
WITH chosen AS (
  SELECT * FROM shares WHERE event = :event AND date BETWEEN CAST(:first AS DATE) AND CAST(:last AS DATE)),
whole AS (SELECT service, sum(value) AS value FROM (SELECT DISTINCT capture, service, value FROM chosen) GROUP BY service)
SELECT whole.service, coalesce(sum(chosen.self) FILTER (WHERE chosen.image LIKE :image), 0) AS self, any_value(whole.value) AS value,
  coalesce(sum(chosen.self) FILTER (WHERE chosen.image LIKE :image), 0) / any_value(whole.value) AS share
FROM chosen JOIN whole ON chosen.service <=> whole.service GROUP BY whole.service ORDER BY share DESC, whole.service;

-- name: share_by_build
WITH chosen AS (SELECT * FROM shares WHERE event = :event AND (:service IS NULL OR service = :service)),
builds AS (
  SELECT capture, image, any_value(build_id) AS build_id, any_value(date) AS date, any_value(value) AS value,
    coalesce(sum(self) FILTER (WHERE name = :function), 0) AS self, coalesce(sum(total) FILTER (WHERE name = :function), 0) AS total
  FROM chosen WHERE image IN (SELECT image FROM chosen WHERE name = :function) GROUP BY capture, image)
SELECT image, build_id, min(date) AS first_day, count(*) AS captures, sum(self) / sum(value) AS self_share,
  sum(total) / sum(value) AS total_share
FROM builds GROUP BY image, build_id ORDER BY image, first_day, build_id;

-- name: brought_by
WITH chosen AS (SELECT * FROM shares WHERE event = :event AND (:service IS NULL OR service = :service)),
builds AS (
  SELECT capture, image, any_value(build_id) AS build_id, any_value(date) AS date, any_value(value) AS value,
    coalesce(sum(self) FILTER (WHERE name = :function), 0) AS self, coalesce(sum(total) FILTER (WHERE name = :function), 0) AS total
  FROM chosen WHERE image IN (SELECT image FROM chosen WHERE name = :function) GROUP BY capture, image),
shares_of AS (
  SELECT image, build_id, min(date) AS first_day, count(*) AS captures, sum(self) / sum(value) AS self_share,
    sum(total) / sum(value) AS total_share
  FROM builds GROUP BY image, build_id),
steps AS (
  SELECT *, lag(total_share) OVER builds AS share_before, lag(build_id) OVER builds AS build_before
  FROM shares_of WINDOW builds AS (PARTITION BY image ORDER BY first_day, build_id))
SELECT image, build_id, build_before, first_day, captures, share_before, total_share, total_share - share_before AS change
FROM steps WHERE share_before IS NOT NULL ORDER BY change DESC, image, first_day;

-- name: cgroup_cost
WITH chosen AS (
  SELECT * FROM shares WHERE event = :event AND date BETWEEN CAST(:first AS DATE) AND CAST(:last AS DATE)
    AND (:service IS NULL OR service = :service)),
whole AS (SELECT service, sum(value) AS value FROM (SELECT DISTINCT capture, service, value FROM chosen) GROUP BY service)
SELECT chosen.service, cgroup, any_value(container) AS container, sum(self) AS self, sum(self) / any_value(whole.value) AS share,
  count(DISTINCT capture) AS captures
FROM chosen JOIN whole ON chosen.service <=> whole.service GROUP BY chosen.service, cgroup ORDER BY self DESC, chosen.service, cgroup;

-- name: by_hours
WITH timed AS (
  SELECT capture, weekday(date) > 4 OR start / 3.6e12 % 24 < :opens OR start / 3.6e12 % 24 >= :closes AS outside
  FROM captures WHERE start IS NOT NULL AND date BETWEEN CAST(:first AS DATE) AND CAST(:last AS DATE)),
chosen AS (
  SELECT s.*, outside FROM shares s JOIN timed t ON s.capture = t.capture WHERE event = :event AND (:service IS NULL OR service = :service)),
wholes AS (
  SELECT service, sum(value) FILTER (WHERE outside) AS value_outside, sum(value) FILTER (WHERE NOT outside) AS value_within
  FROM (SELECT DISTINCT capture, service, value, outside FROM chosen) GROUP BY service),
sums AS (
  SELECT chosen.service, name, image, coalesce(sum(total) FILTER (WHERE NOT outside), 0) / any_value(value_within) AS share_within,
    coalesce(sum(total) FILTER (WHERE outside), 0) / any_value(value_outside) AS share_outside
  FROM chosen JOIN wholes ON chosen.service <=> wholes.service AND value_within > 0 AND value_outside > 0
  GROUP BY chosen.service, name, image)
SELECT service, name, image, share_within, share_outside, share_outside - share_within AS change FROM sums
ORDER BY change DESC, service, name;

-- name: grew
WITH chosen AS (
  SELECT *, date BETWEEN CAST(:new_first AS DATE) AND CAST(:new_last AS DATE) AS is_new FROM shares
  WHERE event = :event AND (date BETWEEN CAST(:new_first AS DATE) AND CAST(:new_last AS DATE)
                            OR date BETWEEN CAST(:old_first AS DATE) AND CAST(:old_last AS DATE))),
wholes AS (
  SELECT service, is_new, count(*) AS n, sum(value) AS value, sum(CAST(value AS DOUBLE) * value) AS squares
  FROM (SELECT DISTINCT capture, service, is_new, value FROM chosen) GROUP BY service, is_new),
by_capture AS (
  SELECT service, name, image, is_new, capture, sum(total) AS total, any_value(value) AS value
  FROM chosen GROUP BY service, name, image, is_new, capture),
functions AS (SELECT DISTINCT service, name, image FROM by_capture),
sums AS (
  SELECT f.service, f.name, f.image, w.is_new, any_value(w.n) AS n, any_value(w.value) AS value, any_value(w.squares) AS squares,
    coalesce(sum(c.total), 0) / any_value(w.value) AS share, coalesce(sum(CAST(c.total AS DOUBLE) * c.total), 0) AS own,
    coalesce(sum(CAST(c.total AS DOUBLE) * c.value), 0) AS mixed
  FROM functions f JOIN wholes w ON w.service <=> f.service AND w.n >= 5
  LEFT JOIN by_capture c ON c.service <=> f.service AND c.name = f.name AND c.image <=> f.image AND c.is_new = w.is_new
  GROUP BY f.service, f.name, f.image, w.is_new),
sides AS (
  SELECT *, n / (n - 1) * greatest(0, own - 2 * share * mixed + share * share * squares) / (CAST(value AS DOUBLE) * value) AS variance
  FROM sums)
SELECT o.service, o.name, o.image, o.share AS old_share, n.share AS new_share, n.share - o.share AS change,
  n.share - o.share - 4 * sqrt(o.variance + n.variance) AS low, n.share - o.share + 4 * sqrt(o.variance + n.variance) AS high
FROM sides o JOIN sides n ON NOT o.is_new AND n.is_new AND n.service <=> o.service AND n.name = o.name AND n.image <=> o.image
WHERE n.share - o.share > :least AND n.share - o.share - 4 * sqrt(o.variance + n.variance) > 0
ORDER BY change DESC, o.service, o.name;

-- name: weight_quantiles
SELECT c.service, count(*) AS samples, sum(s.weight) AS weight, percentile_disc(0.5) WITHIN GROUP (ORDER BY s.weight) AS p50,
  percentile_disc(0.99) WITHIN GROUP (ORDER BY s.weight) AS p99, max(s.weight) AS longest
FROM parquet.`LAKE/samples` s JOIN captures c ON s.capture = c.capture AND s.part = c.part
WHERE s.event = :event AND c.date BETWEEN CAST(:first AS DATE) AND CAST(:last AS DATE) AND (:service IS NULL OR c.service = :service)
GROUP BY c.service ORDER BY p99 DESC, c.service;

-- name: wait_quantiles
WITH steps AS (
  SELECT w.service, w.name, w.image, w.at_least_ns, sum(w.waits) AS waits, sum(w.ns) AS ns
  FROM parquet.`LAKE/waits` w JOIN captures c ON w.capture = c.capture AND w.part = c.part
  WHERE NOT w.idle AND w.state = :state AND w.date BETWEEN CAST(:first AS DATE) AND CAST(:last AS DATE)
    AND (:service IS NULL OR w.service = :service)
  GROUP BY w.service, w.name, w.image, w.at_least_ns),
counted AS (
  SELECT *, sum(waits) OVER (PARTITION BY service, name, image ORDER BY at_least_ns) AS up_to,
    sum(waits) OVER (PARTITION BY service, name, image) AS every
  FROM steps)
SELECT service, name, image, sum(waits) AS waits, sum(ns) AS ns, min(ns / waits) FILTER (WHERE up_to >= 0.5 * every) AS p50_ns,
  min(ns / waits) FILTER (WHERE up_to >= 0.99 * every) AS p99_ns
FROM counted GROUP BY service, name, image ORDER BY p99_ns DESC, service, name, image;
