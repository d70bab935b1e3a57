-- Questions to the table `waits`, over the views of lake.sql, which comes before. A wait is in a step: a row has the waits of a function
-- that last as long as each other, to a sixteenth. A percentile is the mean of the waits in its step; the percentile of the waits
-- themselves is in the same step. Threads that wait for work are left out, as in reports (docs/waits.md).

CREATE OR REPLACE TEMP VIEW waits AS
FROM read_parquet(getvariable('lake') || '/waits/*/*.parquet', union_by_name = true, hive_partitioning = true,
                  hive_types = {'date': DATE})
WHERE NOT idle AND (capture, part) IN (SELECT (capture, part) FROM captures);

-- How long waits last in which each function was called: half of them are not longer than p50_ns, 99 of a hundred not longer than p99_ns.
CREATE OR REPLACE TEMP MACRO wait_quantiles(of_service, first_day, last_day, of_state := 'blocked') AS TABLE
WITH steps AS (
  SELECT service, name, image, at_least_ns, sum(waits)::BIGINT AS waits, sum(ns)::BIGINT AS ns FROM waits
  WHERE state = of_state AND date BETWEEN CAST(first_day AS DATE) AND CAST(last_day AS DATE)
    AND (of_service IS NULL OR service = of_service)
  GROUP BY service, name, image, at_least_ns),
counted AS (
  SELECT *, sum(waits) OVER steps AS up_to, sum(waits) OVER (PARTITION BY service, name, image) AS every
  FROM steps WINDOW steps AS (PARTITION BY service, name, image ORDER BY at_least_ns))
SELECT service, name, image, sum(waits)::BIGINT AS waits, sum(ns)::BIGINT AS ns,
  min(ns / waits) FILTER (WHERE up_to >= 0.5 * every) AS p50_ns, min(ns / waits) FILTER (WHERE up_to >= 0.99 * every) AS p99_ns
FROM counted GROUP BY service, name, image ORDER BY p99_ns DESC, service, name, image;

-- The same by name of the thread, whatever it called.
CREATE OR REPLACE TEMP MACRO thread_wait_quantiles(of_service, first_day, last_day, of_state := 'blocked') AS TABLE
WITH steps AS (
  SELECT service, process, thread, at_least_ns, sum(self_waits)::BIGINT AS waits, sum(self_ns)::BIGINT AS ns FROM waits
  WHERE state = of_state AND date BETWEEN CAST(first_day AS DATE) AND CAST(last_day AS DATE) AND self_waits > 0
    AND (of_service IS NULL OR service = of_service)
  GROUP BY service, process, thread, at_least_ns),
counted AS (
  SELECT *, sum(waits) OVER steps AS up_to, sum(waits) OVER (PARTITION BY service, process, thread) AS every
  FROM steps WINDOW steps AS (PARTITION BY service, process, thread ORDER BY at_least_ns))
SELECT service, process, thread, sum(waits)::BIGINT AS waits, sum(ns)::BIGINT AS ns,
  min(ns / waits) FILTER (WHERE up_to >= 0.5 * every) AS p50_ns, min(ns / waits) FILTER (WHERE up_to >= 0.99 * every) AS p99_ns
FROM counted GROUP BY service, process, thread ORDER BY p99_ns DESC, service, process, thread;
