-- Questions to the table `samples`, over the views of lake.sql, which comes before.

CREATE OR REPLACE TEMP VIEW samples AS
FROM read_parquet(getvariable('lake') || '/samples/*/*.parquet', union_by_name = true, hive_partitioning = true,
                  hive_types = {'date': DATE})
WHERE (capture, part) IN (SELECT (capture, part) FROM captures);

-- How long what each sample weighs lasts, for events whose weights are times, such as blocked time: 99 of a hundred samples are not
-- longer than p99. In the unit of the event.
CREATE OR REPLACE TEMP MACRO weight_quantiles(of_service, of_event, first_day, last_day) AS TABLE
SELECT c.service, count(*) AS samples, sum(s.weight)::BIGINT AS weight, quantile_disc(s.weight, 0.5) AS p50,
  quantile_disc(s.weight, 0.99) AS p99, max(s.weight) AS longest
FROM samples s JOIN captures c USING (capture)
WHERE s.event = of_event AND c.date BETWEEN CAST(first_day AS DATE) AND CAST(last_day AS DATE)
  AND (of_service IS NULL OR c.service = of_service)
GROUP BY c.service ORDER BY p99 DESC, c.service;
